#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace troupe::tune {

/// The scores that trials had when they reached one point in time, and where the line between the
/// best part and the rest runs. More is better; NaN is worse than everything.
///
/// Two heaps meet at the line, so adding costs O(log n) as long as the line moves by at most one
/// place each time.
class Rung {
public:
  Rung() = default;
  explicit Rung(double time) : time_(time) {}

  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::size_t size() const { return best_.size() + rest_.size(); }

  /// Adds a score, then moves the line so that `keep` scores are above it.
  void add(double score, std::size_t keep);

  /// The worst score above the line, and the best one below it.
  [[nodiscard]] std::optional<double> worst_kept() const;
  [[nodiscard]] std::optional<double> best_dropped() const;

  [[nodiscard]] Value save() const;
  [[nodiscard]] Status restore(const Value& state);

private:
  void move_line(std::size_t keep);

  double time_ = 0;
  std::vector<double> best_;  ///< heap, the worst of them on top
  std::vector<double> rest_;  ///< heap, the best of them on top
};

}  // namespace troupe::tune
