#include <troupe/base/limits.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/process/detail/output_capture.hpp>
#include <troupe/runtime/process/detail/output_text.hpp>

#include <algorithm>
#include <array>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::detail {

namespace {

constexpr size_t read_bytes = 64 * limits::kib;  // the size of a pipe
// What may still be read when the pipe is closed: a grandchild that keeps writing ends there.
constexpr size_t last_drain_bytes = 4 * limits::mib;

}  // namespace

bool OutputCapture::drain(size_t max_bytes) {
  const std::lock_guard lock(mutex_);
  return drain_locked(max_bytes);
}

bool OutputCapture::drain_locked(size_t max_bytes) {
  if (!pipe_)
    return false;
  std::array<char, read_bytes> buffer;
  for (size_t total = 0; total < max_bytes;) {
    const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
    if (got > 0) {
      const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
      total += bytes.size();
      keep_tail(bytes);
      write_log(bytes);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      pipe_.reset();
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
  return true;
}

void OutputCapture::finish() {
  const std::lock_guard lock(mutex_);
  drain_locked(last_drain_bytes);
  pipe_.reset();
  log_.reset();
}

void OutputCapture::keep_tail(std::string_view bytes) {
  constexpr size_t most = limits::max_output_tail_bytes;
  if (bytes.size() >= most) {
    tail_cut_ = tail_cut_ || !tail_.empty() || bytes.size() > most;
    tail_.assign(bytes.substr(bytes.size() - most));
    return;
  }
  tail_ += bytes;
  if (tail_.size() > 2 * most) {
    tail_.erase(0, tail_.size() - most);
    tail_cut_ = true;
  }
}

void OutputCapture::write_log(std::string_view bytes) {
  if (!log_ || (log_limit_ != 0 && log_size_ >= log_limit_))
    return;
  std::string_view part = bytes;
  if (log_limit_ != 0)
    part = part.substr(0, std::min<uint64_t>(part.size(), log_limit_ - log_size_));
  Status status = write_all(log_.get(), part, log_path_.string());
  log_size_ += part.size();
  if (status && log_limit_ != 0 && log_size_ >= log_limit_) {
    status = write_all(log_.get(),
                       "\n[output cut here: this file has reached its limit of " +
                           std::to_string(log_limit_) + " bytes]\n",
                       log_path_.string());
  }
  if (!status) {
    // The child must not notice, and the tail is kept all the same.
    log::warning("output of a worker is not logged any more",
                 {{"path", log_path_.string()}, {"error", status.error()}});
    log_.reset();
  }
}

Status OutputCapture::set_log_file(const std::filesystem::path& path, uint64_t limit_bytes) {
  FileDescriptor file;
  uint64_t size = 0;
  if (!path.empty()) {
    // O_NONBLOCK: a pipe that lies there would make us wait for a reader.
    TROUPE_TRY(opened, open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (::fstat(opened.get(), &info) != 0)
      return errno_error(errno, "cannot look at the log file " + path.string());
    if (!S_ISREG(info.st_mode)) {
      return Error(ErrorCode::invalid_argument,
                   "the log file " + path.string() + " is not a regular file");
    }
    size = static_cast<uint64_t>(info.st_size);
    file = std::move(opened);
  }
  const std::lock_guard lock(mutex_);
  drain_locked(last_drain_bytes);
  log_ = std::move(file);
  log_path_ = path;
  log_limit_ = limit_bytes;
  log_size_ = size;
  tail_.clear();
  tail_cut_ = false;
  return ok();
}

std::string OutputCapture::tail() const {
  std::string bytes;
  bool cut = false;
  {
    const std::lock_guard lock(mutex_);
    bytes = tail_;
    cut = tail_cut_;
  }
  if (bytes.size() > limits::max_output_tail_bytes) {
    bytes.erase(0, bytes.size() - limits::max_output_tail_bytes);
    cut = true;
  }
  if (cut) {
    const size_t line = bytes.find('\n');
    if (line != std::string::npos && line + 1 < bytes.size())
      bytes.erase(0, line + 1);
  }
  return clean_output(bytes);
}

}  // namespace troupe::detail
