#pragma once

#include <troupe/base/log.hpp>

#include <mutex>
#include <string>

namespace troupe::testing {

/// What is logged from a level on while it lives, by any thread of this process.
class CapturedLog {
public:
  explicit CapturedLog(log::Level least = log::Level::warning)
      : sink_([this](const log::Record& record) { add(record); }, least) {}

  /// A line a record.
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

private:
  void add(const log::Record& record) {
    const std::lock_guard lock(mutex_);
    text_ += log::format_line(record, log::Format::text) + '\n';
  }

  mutable std::mutex mutex_;
  std::string text_;
  log::ScopedSink sink_;  ///< last: it stops before what it writes to is gone
};

}  // namespace troupe::testing
