#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

/// Time as the rest of Troupe sees it: through a `Clock` that tests can replace. State machines
/// take no clock at all; time comes in with the event.
namespace troupe {

using Duration = std::chrono::nanoseconds;

namespace detail {
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}
}  // namespace detail

/// A moment of monotonic time in nanoseconds since an unspecified moment. Moments of different
/// processes or hosts can not be compared. Adding saturates, so `now + Duration::max()` is "never".
struct TimePoint {
  std::int64_t ns = 0;

  friend constexpr bool operator==(TimePoint, TimePoint) = default;
  friend constexpr auto operator<=>(TimePoint, TimePoint) = default;
  friend constexpr TimePoint operator+(TimePoint t, Duration d) noexcept {
    return {detail::saturating_add(t.ns, d.count())};
  }
  friend constexpr TimePoint operator-(TimePoint t, Duration d) noexcept {
    return {detail::saturating_add(t.ns, d.count() == std::numeric_limits<std::int64_t>::min()
                                             ? std::numeric_limits<std::int64_t>::max()
                                             : -d.count())};
  }
  friend constexpr Duration operator-(TimePoint a, TimePoint b) noexcept {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a.ns, b.ns, &difference))
      return Duration(difference);
    return a.ns > b.ns ? Duration::max() : Duration::min();
  }
  TimePoint& operator+=(Duration d) noexcept { return *this = *this + d; }

  /// Later than every moment a clock returns.
  static constexpr TimePoint never() noexcept { return {std::numeric_limits<std::int64_t>::max()}; }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive(ns);
  }
};

/// Where time comes from. Implementations are safe to call from any thread.
class Clock {
public:
  virtual ~Clock() = default;
  /// Monotonic: never goes back, not even when somebody sets the wall clock.
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Milliseconds since 1970-01-01 UTC. For records and people; may jump.
  [[nodiscard]] virtual std::int64_t wall_ms() const = 0;
};

/// The clocks of the operating system.
class RealClock final : public Clock {
public:
  [[nodiscard]] TimePoint now() const override {
    return {
        std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())
            .count()};
  }
  [[nodiscard]] std::int64_t wall_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

/// The one real clock of the process; lives until it ends.
inline const RealClock& real_clock() {
  static const RealClock clock;
  return clock;
}

/// A clock that stands still until told otherwise; for tests and simulation.
class VirtualClock final : public Clock {
public:
  explicit VirtualClock(TimePoint start = {}, std::int64_t wall_start_ms = 0) noexcept
      : start_(start), wall_start_ms_(wall_start_ms) {}

  [[nodiscard]] TimePoint now() const override { return start_ + elapsed(); }
  [[nodiscard]] std::int64_t wall_ms() const override {
    return wall_start_ms_ +
           std::chrono::duration_cast<std::chrono::milliseconds>(elapsed()).count();
  }

  /// Moves both times on. `by` is not negative.
  void advance(Duration by) noexcept { elapsed_ns_.fetch_add(by.count()); }
  /// Moves on to `moment`; does nothing when that has passed.
  void advance_to(TimePoint moment) noexcept {
    const Duration by = moment - now();
    if (by > Duration::zero())
      advance(by);
  }

private:
  [[nodiscard]] Duration elapsed() const noexcept { return Duration(elapsed_ns_.load()); }

  TimePoint start_;
  std::int64_t wall_start_ms_;
  std::atomic<std::int64_t> elapsed_ns_{0};
};

}  // namespace troupe
