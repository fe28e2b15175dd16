#include <troupe/base/detail/json_text.hpp>
#include <troupe/base/log.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace troupe::log {
namespace {

using Sink = std::function<void(const Record&)>;

struct State {
  std::atomic<Level> level{Level::info};
  std::atomic<Format> format{Format::text};
  std::mutex mutex;
  std::shared_ptr<Sink> sink;  // null: stderr
  spdlog::logger out{"troupe", std::make_shared<spdlog::sinks::stderr_sink_mt>()};

  State() {
    out.set_level(spdlog::level::trace);
    out.set_pattern("%v");
    out.flush_on(spdlog::level::trace);
    read_environment();
  }

  void read_environment();
};

void State::read_environment() {
  if (const char* wanted = std::getenv("TROUPE_LOG"); wanted != nullptr && *wanted != '\0') {
    bool known = false;
    for (const Level l : {Level::debug, Level::info, Level::warning, Level::error, Level::off})
      if (to_string(l) == wanted) {
        level = l;
        known = true;
      }
    if (!known)
      std::fprintf(stderr,
                   "troupe: TROUPE_LOG=%s is none of debug, info, warning, error, off; "
                   "using info\n",
                   wanted);
  }
  if (const char* wanted = std::getenv("TROUPE_LOG_FORMAT"); wanted != nullptr && *wanted != '\0') {
    if (std::string_view(wanted) == "json") {
      format = Format::json;
    } else if (std::string_view(wanted) != "text") {
      std::fprintf(stderr, "troupe: TROUPE_LOG_FORMAT=%s is neither text nor json; using text\n",
                   wanted);
    }
  }
}

// Never destroyed: static destructors of others may still log.
State& state() {
  static auto* const instance = new State;
  return *instance;
}

std::string utc_time(std::int64_t wall_ms) {
  const std::time_t seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(wall_ms % 1000));
  return std::string(text.data(), n) + fraction.data();
}

// Text values are quoted when a reader could not see where they end.
void append_text(std::string& out, std::string_view value) {
  bool plain = !value.empty();
  for (const char c : value)
    plain = plain && c > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7f;
  if (plain) {
    out += value;
  } else {
    detail::append_json_string(out, value);
  }
}

void append_value(std::string& out, const Field::Value& value, Format format) {
  const auto append_string = [&](std::string_view text) {
    if (format == Format::json) {
      detail::append_json_string(out, text);
    } else {
      append_text(out, text);
    }
  };
  if (const auto* flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    out += std::to_string(*number);
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
    out += std::to_string(*natural);
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (std::isfinite(*real)) {
      detail::append_json_double(out, *real);
    } else {
      append_string(std::isnan(*real) ? "nan" : *real > 0 ? "inf" : "-inf");
    }
  } else if (const auto* view = std::get_if<std::string_view>(&value)) {
    append_string(*view);
  } else {
    append_string(std::get<std::string>(value));
  }
}

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

}  // namespace

std::string_view to_string(Level level) noexcept {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
    case Level::off:
      return "off";
  }
  return "unknown";
}

std::string format_line(const Record& record, Format format) {
  std::string line;
  if (format == Format::json) {
    line = R"({"time":")" + utc_time(record.wall_ms) + R"(","level":")";
    line += to_string(record.level);
    line += R"(","message":)";
    detail::append_json_string(line, record.message);
    for (const Field& field : record.fields) {
      line += ',';
      detail::append_json_string(line, field.key);
      line += ':';
      append_value(line, field.value, format);
    }
    return line + '}';
  }
  line = utc_time(record.wall_ms) + ' ';
  line += to_string(record.level);
  line += ' ';
  // One record is one line, whatever the message holds.
  for (const char c : record.message)
    line += (c == '\n' || c == '\r') ? ' ' : c;
  for (const Field& field : record.fields) {
    line += ' ';
    line += field.key;
    line += '=';
    append_value(line, field.value, format);
  }
  return line;
}

bool enabled(Level level) noexcept {
  return level != Level::off && level >= state().level.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level))
    return;
  State& all = state();
  const Record record{level, real_clock().wall_ms(), message, {fields.begin(), fields.size()}};
  {
    const std::lock_guard lock(all.mutex);
    if (all.sink) {
      (*all.sink)(record);
      return;
    }
  }
  all.out.log(spdlog_level(level), format_line(record, format()));
}

void set_level(Level level) noexcept {
  state().level = level;
}
Level level() noexcept {
  return state().level;
}
void set_format(Format format) noexcept {
  state().format = format;
}
Format format() noexcept {
  return state().format;
}

ScopedSink::ScopedSink(std::function<void(const Record&)> sink, Level least)
    : previous_level_(level()) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  previous_ = std::exchange(all.sink, std::make_shared<Sink>(std::move(sink)));
  all.level = least;
}

ScopedSink::~ScopedSink() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.sink = std::move(previous_);
  all.level = previous_level_;
}

}  // namespace troupe::log
