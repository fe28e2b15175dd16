#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/log.hpp>
#include <troupe/tune/report/live_region.hpp>
#include <troupe/tune/report/progress.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace troupe::tune {

/// Where and how often progress is shown.
struct PrinterOptions {
  int fd = 2;         ///< stderr, so that what the program prints itself can be piped
  bool live = false;  ///< redraw a table in place; else one line now and then
  bool color = false;
  Duration interval = std::chrono::seconds(1);
};

/// The options that suit `fd`: a live table on a terminal (not with TERM=dumb), colour unless
/// NO_COLOR is set, a line each ten seconds otherwise.
[[nodiscard]] PrinterOptions printer_options_for(int fd);

/// Columns of the terminal behind `fd`; 100 when it is none.
[[nodiscard]] std::size_t terminal_columns(int fd);

/// Shows snapshots on a thread of its own until it is stopped. What it cannot write (a closed pipe)
/// is dropped: nobody's run ends because nobody looks. While a live table is shown, log lines go
/// past above it. There is one live table per process: a second printer shows lines.
///
/// Thread rules: `line` and `stop` from any thread. `source` is called on the printer's thread.
class ProgressPrinter {
public:
  ProgressPrinter(PrinterOptions options, std::function<ProgressSnapshot()> source);
  ~ProgressPrinter();
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  /// Shows one line (without its end) soon. More than a thousand waiting ones are dropped and
  /// counted.
  void line(std::string text);

  /// Ends the thread, clears the live table, and prints what is waiting. Can be called again.
  void stop();

private:
  void run();
  void write(const std::string& bytes) const;
  [[nodiscard]] ProgressStyle style() const;
  [[nodiscard]] std::string take_lines();

  PrinterOptions options_;
  const std::function<ProgressSnapshot()> source_;
  LiveRegion region_;
  std::optional<log::ScopedSink> logs_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::string> lines_;
  std::size_t dropped_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe::tune
