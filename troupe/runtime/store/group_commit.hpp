#pragma once

#include <troupe/base/clock.hpp>

#include <cstddef>
#include <optional>

namespace troupe {

/// When a group of accepted records is made durable: an fsync costs the same for one record as
/// for hundreds, so it waits for company, but not for long.
struct GroupCommitPolicy {
  std::size_t records = 64;                       ///< sync when so many wait ...
  Duration delay = std::chrono::milliseconds(5);  ///< ... or when the first has waited so long
};

/// The rule as a value: no clock, no thread. One group gathers while the former one is synced.
class GroupCommit {
public:
  explicit GroupCommit(GroupCommitPolicy policy = {}) : policy_(policy) {}

  /// `records` more were accepted.
  void accepted(std::size_t records, TimePoint now);

  /// Is it time to sync? Never while nothing waits.
  [[nodiscard]] bool due(TimePoint now) const;

  /// When it will be time if nothing else comes; nothing while nothing waits.
  [[nodiscard]] std::optional<TimePoint> deadline() const;

  /// A sync begins and covers all that waits: the next group is empty.
  void sync_started();

  /// Somebody waits for what is here: due at once.
  void hurry();

  [[nodiscard]] std::size_t waiting() const { return waiting_; }

private:
  GroupCommitPolicy policy_;
  std::size_t waiting_ = 0;
  TimePoint first_;
  bool hurry_ = false;
};

}  // namespace troupe
