#pragma once

#include <troupe/actors/protocol.hpp>

#include <functional>
#include <memory>

namespace troupe::detail {

/// Runs the computations of a loop, one after the other, on a thread of its own.
///
/// A computation can not be cut off. Whoever is destroyed while one runs does not wait for it: it
/// goes on alone with what it owns, and nobody hears of its result.
///
/// Thread rules: any thread.
class Computer {
public:
  using Done = std::function<void(std::shared_ptr<Computation>)>;

  Computer();
  ~Computer();
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;

  /// `done` is called on the computer's thread, never after the destructor; it must neither throw
  /// nor use the computer.
  void post(std::shared_ptr<Computation> computation, Done done);

private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace troupe::detail
