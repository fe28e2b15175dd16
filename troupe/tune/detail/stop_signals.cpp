#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>
#include <troupe/tune/detail/stop_signals.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace troupe::tune::detail {

/// Calling and cutting off exclude each other, so that nothing is called that is gone.
struct StopSignals::Listener {
  std::mutex mutex;
  std::function<void(const char*)> call;
};

namespace {

using Listener = std::shared_ptr<StopSignals::Listener>;

constexpr std::array<int, 2> stop_signals{SIGINT, SIGTERM};

/// What the handler may touch: a descriptor to wake the thread, and the signal that came.
std::atomic<int> wake_fd{-1};
std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free);

void wake(int fd) noexcept {
  const uint64_t one = 1;
  // A full counter is as good as a written one: the reader wakes either way.
  [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one);
}

extern "C" void on_stop_signal(int number) {
  const int saved = errno;
  caught.store(number);
  // Whoever asks a second time means it.
  for (const int each : stop_signals)
    std::signal(each, SIG_DFL);
  wake(wake_fd.load());
  errno = saved;
}

/// The handlers and the thread, there as long as somebody listens.
class Watcher {
public:
  void add(const Listener& listener) {
    const std::lock_guard life(life_mutex_);
    {
      const std::lock_guard lock(mutex_);
      listeners_.push_back(listener);
      if (listeners_.size() > 1)
        return;
    }
    try {
      install();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      listeners_.clear();
      throw;
    }
  }

  void remove(const Listener& listener) {
    const std::lock_guard life(life_mutex_);
    {
      const std::lock_guard lock(mutex_);
      std::erase(listeners_, listener);
      if (!listeners_.empty())
        return;
    }
    restore();
    stopping_ = true;
    wake(fd_.get());
    thread_.join();
  }

private:
  struct Saved {
    int number = 0;
    struct sigaction action {};
    bool ours = false;
  };

  Status open() {
    TROUPE_FAULT_POINT("tune.stop_signals.open");
    fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return fd_ ? ok() : Status(errno_error(errno, "cannot watch for signals"));
  }

  void install() {
    open().value_or_throw();
    wake_fd = fd_.get();
    caught = 0;
    stopping_ = false;
    thread_ = std::thread([this] { watch(); });
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    for (const int each : stop_signals)
      sigaddset(&action.sa_mask, each);
    action.sa_flags = SA_RESTART;
    action.sa_handler = on_stop_signal;
    saved_.clear();
    for (const int number : stop_signals)
      take(number, action);
    action.sa_handler = SIG_IGN;
    take(SIGPIPE, action);
  }

  void take(int number, const struct sigaction& action) {
    Saved saved{.number = number, .ours = false};
    ::sigaction(number, nullptr, &saved.action);
    const bool ignored = saved.action.sa_handler == SIG_IGN;
    saved.ours = !ignored && ::sigaction(number, &action, nullptr) == 0;
    saved_.push_back(saved);
  }

  void restore() {
    for (const Saved& saved : saved_)
      if (saved.ours)
        ::sigaction(saved.number, &saved.action, nullptr);
    wake_fd = -1;
  }

  void watch() {
    struct pollfd event {
      fd_.get(), POLLIN, 0
    };
    while (!stopping_) {
      if (::poll(&event, 1, -1) < 0 && errno != EINTR)
        return;
      uint64_t count = 0;
      if (::read(fd_.get(), &count, sizeof count) < 0)
        continue;
      const int number = caught.exchange(0);
      if (number == 0)
        continue;
      std::vector<Listener> listeners;
      {
        const std::lock_guard lock(mutex_);
        listeners = listeners_;
      }
      for (const Listener& each : listeners) {
        const std::lock_guard lock(each->mutex);
        if (each->call)
          each->call(number == SIGINT ? "SIGINT" : "SIGTERM");
      }
    }
  }

  std::mutex life_mutex_;  ///< of handlers and thread
  std::mutex mutex_;       ///< of the list
  std::vector<Listener> listeners_;
  std::vector<Saved> saved_;
  FileDescriptor fd_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

Watcher& watcher() {
  static Watcher watcher;
  return watcher;
}

}  // namespace

StopSignals::StopSignals(std::function<void(const char* name)> on_signal)
    : listener_(std::make_shared<Listener>()) {
  listener_->call = std::move(on_signal);
  watcher().add(listener_);
}

StopSignals::~StopSignals() {
  {
    const std::lock_guard lock(listener_->mutex);
    listener_->call = nullptr;
  }
  watcher().remove(listener_);
}

}  // namespace troupe::tune::detail
