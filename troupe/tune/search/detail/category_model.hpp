#pragma once

#include <troupe/base/random.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe::tune::detail {

/// Independent distributions of categories that follow the good configurations: for searchers whose
/// own model is for numbers only.
///
/// A category is drawn with a probability that grows with its share among the best fifth and with
/// the ratio of that share to the share among the others; none ever vanishes. Deterministic.
class CategoryModel {
public:
  /// How many categories each axis has. All begin equally likely.
  explicit CategoryModel(std::vector<std::uint64_t> counts);

  /// Learns from rows, best first. Axis i of this model is number `places[i]` of a row: the number
  /// of a category; NaN does not exist.
  void learn(std::span<const std::vector<double>* const> best_first,
             std::span<const std::size_t> places);
  /// A category for each axis.
  [[nodiscard]] std::vector<double> sample(Random& random) const;
  [[nodiscard]] const std::vector<double>& probabilities(std::size_t axis) const {
    return probabilities_[axis];
  }

  [[nodiscard]] Value save() const;
  /// corrupt when the data has not these axes; then nothing has changed.
  [[nodiscard]] Status restore(const Value& state);

private:
  std::vector<std::vector<double>> probabilities_;  ///< of each category of each axis
};

}  // namespace troupe::tune::detail
