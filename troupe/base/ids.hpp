#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

/// Numbers that name things, each its own type, so that a trial can not be passed for a worker.
namespace troupe {

/// An integer that converts from and to nothing by itself. `value` is public for codecs.
template <class Tag, class Rep>
struct StrongId {
  using rep = Rep;

  Rep value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep v) noexcept : value(v) {}

  friend constexpr bool operator==(StrongId, StrongId) = default;
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  friend std::string to_string(StrongId id) { return std::to_string(id.value); }
  friend std::ostream& operator<<(std::ostream& out, StrongId id) { return out << id.value; }

  /// The number after this one.
  [[nodiscard]] constexpr StrongId next() const noexcept {
    return StrongId(static_cast<Rep>(value + 1));
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(value);
  }
};

/// A trial of one experiment, counted from 0 in the order of creation; never used twice.
using TrialId = StrongId<struct TrialIdTag, std::uint32_t>;
/// A worker process or worker actor of one run, unique within the run.
using WorkerId = StrongId<struct WorkerIdTag, std::uint64_t>;
/// How often a trial was started, from 0: the fencing epoch. Messages of an older one are dropped.
using Attempt = StrongId<struct AttemptTag, std::uint32_t>;
/// A position in the journal of one experiment, from 1; 0 means "nothing yet".
using Sequence = StrongId<struct SequenceTag, std::uint64_t>;

/// One attempt of one trial: what a message about a running trial is addressed with.
struct TrialKey {
  TrialId trial;
  std::uint32_t attempt = 0;

  friend constexpr bool operator==(const TrialKey&, const TrialKey&) = default;
  friend constexpr auto operator<=>(const TrialKey&, const TrialKey&) = default;
  /// "trial.attempt", for example "17.2".
  friend std::string to_string(const TrialKey& key) {
    return to_string(key.trial) + '.' + std::to_string(key.attempt);
  }
  friend std::ostream& operator<<(std::ostream& out, const TrialKey& key) {
    return out << to_string(key);
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(trial, attempt);
  }
};

}  // namespace troupe

template <class Tag, class Rep>
struct std::hash<troupe::StrongId<Tag, Rep>> {
  std::size_t operator()(troupe::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>()(id.value);
  }
};

template <>
struct std::hash<troupe::TrialKey> {
  std::size_t operator()(const troupe::TrialKey& key) const noexcept {
    return std::hash<std::uint64_t>()((std::uint64_t{key.trial.value} << 32) | key.attempt);
  }
};
