#pragma once

#include <troupe/base/clock.hpp>

#include <functional>
#include <memory>
#include <string>

namespace troupe::detail {

/// Runs tasks one after the other on a thread that nobody waits for: a disk that hangs and an
/// algorithm that ponders hold up neither decisions nor the end of their owner.
///
/// A task can not be cut off. When the owner goes, what waits is dropped; what runs goes on alone,
/// with what it owns, and nobody hears of it.
///
/// Thread rules: any thread.
class SideThread {
public:
  /// `name` is that of the thread, for people: at most 15 bytes.
  explicit SideThread(std::string name);
  ~SideThread();
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  /// `task` owns or shares all that it works on. `then` comes after it on the same thread, never
  /// after the destructor; it must neither throw nor use this object.
  void post(std::function<void()> task, std::function<void()> then);

  /// Waits until nothing is left to do. False: the time was not enough.
  bool drain(Duration timeout);

private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace troupe::detail
