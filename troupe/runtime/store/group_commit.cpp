#include <troupe/runtime/store/group_commit.hpp>

namespace troupe {

void GroupCommit::accepted(std::size_t records, TimePoint now) {
  if (records == 0)
    return;
  if (waiting_ == 0)
    first_ = now;
  waiting_ += records;
}

bool GroupCommit::due(TimePoint now) const {
  if (waiting_ == 0)
    return false;
  return hurry_ || waiting_ >= policy_.records || now >= first_ + policy_.delay;
}

std::optional<TimePoint> GroupCommit::deadline() const {
  if (waiting_ == 0)
    return std::nullopt;
  if (hurry_ || waiting_ >= policy_.records)
    return first_;
  return first_ + policy_.delay;
}

void GroupCommit::sync_started() {
  waiting_ = 0;
  hurry_ = false;
}

void GroupCommit::hurry() {
  hurry_ = waiting_ > 0;
}

}  // namespace troupe
