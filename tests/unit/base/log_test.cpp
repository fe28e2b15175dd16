#include <troupe/base/log.hpp>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace troupe;

namespace {

std::string line(log::Format format, std::string_view message,
                 std::initializer_list<log::Field> fields) {
  return log::format_line(
      {log::Level::warning, 1'700'000'000'123, message, {fields.begin(), fields.size()}}, format);
}

// What is written to file descriptor 2 while it lives.
class CaptureStderr {
public:
  CaptureStderr() : saved_(::dup(2)) {
    REQUIRE(::pipe(pipe_.data()) == 0);
    ::dup2(pipe_[1], 2);
    ::close(pipe_[1]);
  }
  ~CaptureStderr() { ::close(saved_); }

  std::string text() {
    ::dup2(saved_, 2);
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t n = 0; (n = ::read(pipe_[0], part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(n));
    ::close(pipe_[0]);
    return all;
  }

private:
  std::array<int, 2> pipe_{};
  int saved_;
};

}  // namespace

TEST_CASE("a text line has time, level, message and fields; values are quoted when needed") {
  CHECK(line(log::Format::text, "store opened",
             {{"path", "/var/x"}, {"records", 7}, {"note", "two words"}, {"empty", ""}}) ==
        "2023-11-14T22:13:20.123Z warning store opened path=/var/x records=7 note=\"two words\" "
        "empty=\"\"");
}

TEST_CASE("a json line is one valid object, whatever the values are") {
  CHECK(line(log::Format::json, "quote \" and\nline",
             {{"ok", true},
              {"n", -3},
              {"big", std::uint64_t{18446744073709551615u}},
              {"x", 1.0},
              {"nan", std::nan("")},
              {"bytes", "\xff"}}) ==
        R"({"time":"2023-11-14T22:13:20.123Z","level":"warning","message":"quote \" and\nline",)"
        "\"ok\":true,\"n\":-3,\"big\":18446744073709551615,\"x\":1.0,\"nan\":\"nan\","
        "\"bytes\":\"\xef\xbf\xbd\"}");
}

TEST_CASE("a text line stays one line") {
  const std::string text = line(log::Format::text, "first\nsecond", {{"k", "a\nb"}});
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("errors, durations and ids are fields") {
  CHECK(line(log::Format::text, "m",
             {{"error", Error(ErrorCode::io, "gone")},
              {"took_s", std::chrono::milliseconds(1500)},
              {"trial", TrialId(4)},
              {"key", TrialKey{TrialId(4), 1}}})
            .ends_with(R"(m error="io: gone" took_s=1.5 trial=4 key=4.1)"));
}

TEST_CASE("a sink receives records of its level and above, and is gone with its guard") {
  std::vector<std::string> seen;
  const log::Level before = log::level();
  {
    const log::ScopedSink sink(
        [&](const log::Record& record) {
          seen.push_back(std::string(log::to_string(record.level)) + ':' +
                         std::string(record.message) + ':' + std::to_string(record.fields.size()));
        },
        log::Level::warning);
    CHECK_FALSE(log::enabled(log::Level::info));
    log::info("not this");
    log::warning("this", {{"a", 1}});
    log::error("and this");
  }
  CHECK(seen == std::vector<std::string>{"warning:this:1", "error:and this:0"});
  CHECK(log::level() == before);
}

TEST_CASE("off is above every level") {
  int calls = 0;
  const log::ScopedSink sink([&](const log::Record&) { ++calls; }, log::Level::off);
  log::error("nobody");
  log::write(log::Level::off, "nobody");
  CHECK(calls == 0);
}

TEST_CASE("a sink that throws leaves the log usable") {
  {
    const log::ScopedSink sink([](const log::Record&) { throw std::runtime_error("sink"); });
    CHECK_THROWS_AS(log::info("x"), std::runtime_error);
  }
  int calls = 0;
  const log::ScopedSink sink([&](const log::Record&) { ++calls; });
  log::info("y");
  CHECK(calls == 1);
}

TEST_CASE("lines go to stderr whole") {
  CaptureStderr capture;
  log::set_level(log::Level::info);
  log::info("to the terminal", {{"n", 1}});
  log::debug("not this");
  log::set_format(log::Format::json);
  log::error("as json");
  log::set_format(log::Format::text);
  const std::string text = capture.text();
  CHECK(text.find(" info to the terminal n=1\n") != std::string::npos);
  CHECK(text.find("not this") == std::string::npos);
  CHECK(text.find("\"message\":\"as json\"}\n") != std::string::npos);
}

TEST_CASE("many threads log without mixing lines") {
  std::vector<std::string> seen;
  const log::ScopedSink sink(
      [&](const log::Record& record) { seen.push_back(log::format_line(record, log::format())); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 100; ++i)
        log::info("work", {{"thread", t}, {"i", i}});
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(seen.size() == 400);
}
