#include <troupe/base/file.hpp>
#include <troupe/tune/report/progress_printer.hpp>
#include <troupe/tune/report/text.hpp>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace troupe::tune {

namespace {

constexpr std::size_t max_waiting_lines = 1000;
constexpr Duration line_latency = std::chrono::milliseconds(100);

std::atomic<bool> live_table_shown{false};

bool set_in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

PrinterOptions printer_options_for(int fd) {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  PrinterOptions options;
  options.fd = fd;
  options.live = ::isatty(fd) == 1 && !dumb;
  options.color = options.live && !set_in_environment("NO_COLOR");
  options.interval = options.live ? std::chrono::seconds(1) : std::chrono::seconds(10);
  return options;
}

std::size_t terminal_columns(int fd) {
  struct winsize size {};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

ProgressPrinter::ProgressPrinter(PrinterOptions options, std::function<ProgressSnapshot()> source)
    : options_(options), source_(std::move(source)) {
  if (options_.live && live_table_shown.exchange(true))
    options_.live = options_.color = false;
  if (options_.live) {
    logs_.emplace([this](const log::Record& record) { line(format_line(record, log::format())); },
                  log::level());
  }
  thread_ = std::thread([this] { run(); });
}

ProgressPrinter::~ProgressPrinter() {
  stop();
}

void ProgressPrinter::line(std::string text) {
  const std::lock_guard lock(mutex_);
  if (lines_.size() < max_waiting_lines) {
    lines_.push_back(terminal_safe(text));
  } else {
    ++dropped_;
  }
}

std::string ProgressPrinter::take_lines() {
  std::string text;
  for (const std::string& each : lines_)
    text += each + '\n';
  if (dropped_ > 0)
    text += "... " + plural(dropped_, "more line") + '\n';
  lines_.clear();
  dropped_ = 0;
  return text;
}

ProgressStyle ProgressPrinter::style() const {
  ProgressStyle style{.width = 100, .height = 24, .color = options_.color};
  struct winsize size {};
  if (::ioctl(options_.fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
    // The line below the table holds the cursor.
    style.height = size.ws_row > 2 ? size.ws_row - 1U : 1U;
  }
  return style;
}

void ProgressPrinter::write(const std::string& bytes) const {
  if (bytes.empty())
    return;
  const Status written = write_all(options_.fd, bytes, "progress output");
  if (!written)
    log::debug("progress could not be shown", {{"error", written.error()}});
}

void ProgressPrinter::run() {
  TimePoint next = real_clock().now() + options_.interval;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, std::min(line_latency, options_.interval), [this] { return stopping_; });
    if (stopping_)
      break;
    const std::string above = take_lines();
    lock.unlock();
    if (!above.empty())
      write(options_.live ? region_.print_above(above) : above);
    if (real_clock().now() >= next) {
      next = real_clock().now() + options_.interval;
      const ProgressSnapshot snapshot = source_();
      write(options_.live ? region_.draw(render_progress(snapshot, style()))
                          : progress_line(snapshot) + '\n');
    }
    lock.lock();
  }
}

void ProgressPrinter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable())
    return;
  thread_.join();
  logs_.reset();
  std::string rest;
  {
    const std::lock_guard lock(mutex_);
    rest = take_lines();
  }
  write((options_.live ? region_.draw("") : "") + rest);
  if (options_.live)
    live_table_shown = false;
}

}  // namespace troupe::tune
