#pragma once

#include <troupe/base/file.hpp>
#include <troupe/base/result.hpp>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::detail {

/// Reads the output pipe of one child: keeps the tail, writes the log file. Safe from any thread;
/// a reader and a switch of the log file exclude each other, which is what makes the switch exact.
class OutputCapture {
public:
  /// `pipe` is the non-blocking reading end.
  explicit OutputCapture(FileDescriptor pipe) : pipe_(std::move(pipe)) {}

  /// The pipe, for epoll. Before the first `drain`.
  int fd() const { return pipe_.get(); }

  /// Reads what is there, at most about `max_bytes`. False: the end was reached and the pipe is
  /// closed.
  bool drain(size_t max_bytes);
  /// Takes what is left and closes the pipe; a process that still holds the other end can write
  /// no more.
  void finish();

  /// See `Process::set_log_file`.
  Status set_log_file(const std::filesystem::path& path, uint64_t limit_bytes);
  /// See `Process::output_tail`.
  std::string tail() const;

private:
  bool drain_locked(size_t max_bytes);
  void keep_tail(std::string_view bytes);
  void write_log(std::string_view bytes);

  mutable std::mutex mutex_;
  FileDescriptor pipe_;
  std::string tail_;       ///< at most twice the limit: cut in large steps, seldom
  bool tail_cut_ = false;  ///< output before it was dropped
  FileDescriptor log_;
  std::filesystem::path log_path_;
  uint64_t log_limit_ = 0;
  uint64_t log_size_ = 0;
};

}  // namespace troupe::detail
