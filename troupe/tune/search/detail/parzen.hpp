#pragma once

#include <troupe/base/random.hpp>
#include <troupe/tune/search/detail/design.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Parzen estimators over points of the unit cube: mixtures of one product kernel an observation.
namespace troupe::tune::detail {

/// The coordinates of all observations on one axis, kept sorted, because sorting is what would take
/// the time of an estimator. Only ever grows.
class ParzenColumn {
public:
  /// Of the next observation; NaN when it has none.
  void add(double coordinate, bool categorical);
  /// This one lies elsewhere: all is as if it had been added there.
  void move(std::size_t observation, double coordinate, bool categorical);

  /// Observations.
  [[nodiscard]] std::size_t size() const { return at_.size(); }
  [[nodiscard]] double at(std::size_t observation) const { return at_[observation]; }
  /// Observations that have a coordinate, in its ascending order. Not for categories.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

  /// What is known of the kernel of an observation.
  struct Kernel {
    double sigma = 0;
    /// log of what it is to be divided by: the integral of exp(-z^2 / 2) over [0, 1].
    double log_norm = 0;
  };
  /// The kernel of `observation` when its width is `sigma`. Remembered, since few widths change
  /// from one suggestion to the next.
  [[nodiscard]] const Kernel& kernel(std::size_t observation, double sigma);

private:
  void sort_in(std::uint32_t observation);

  std::vector<double> at_;
  std::vector<std::uint32_t> order_;
  std::vector<Kernel> kernels_;
};

struct ParzenOptions {
  double prior_weight = 1;  ///< of the flat kernel over the whole space, in observations
  bool magic_clip = true;   ///< no kernel narrower than 1 / min(100, 2 + observations) ...
  double sharpness = 1;     ///< ... / sharpness; but on a grid no narrower than half a cell
  bool endpoints = false;   ///< are the ends of the box neighbours of the outermost kernels?
  /// Members, ascending, that count for nothing but where they are: their kernels are as narrow as
  /// any, and narrower where there are many axes; nobody is their neighbour.
  /// The list outlives the estimator.
  std::span<const std::uint32_t> lone{};
};

/// A mixture over some axes of a space: for every member a product of kernels, truncated normal
/// ones on numeric axes (their mass in a cell where the axis is discrete) and smoothed indicators
/// on categories, and a prior kernel over the whole box. The width of a numeric kernel is the
/// distance to the farther one of its two neighbours.
///
/// Sources: Bergstra et al., "Algorithms for hyper-parameter optimization" (NIPS 2011), section 4;
/// Watanabe, "Tree-structured Parzen estimator: understanding its algorithm components and their
/// roles for better empirical performance" (arXiv 2304.11127), section 3.3; Optuna 5.
class Parzen {
public:
  /// `axes`: those of the block, indices into `space` and `columns`. `members`: observations that
  /// have a coordinate on all of them, ascending, with their `weights`. The columns outlive it.
  Parzen(std::span<const Axis> space, std::span<const std::size_t> axes,
         std::span<ParzenColumn> columns, std::span<const std::uint32_t> members,
         std::span<const double> weights, const ParzenOptions& options);

  /// Coordinates on the axes of the block, in its order.
  using Row = std::vector<double>;

  /// Draws points; snapped.
  [[nodiscard]] std::vector<Row> sample(Random& random, std::size_t count) const;

  /// The log density of each point. Discrete axes contribute probabilities.
  [[nodiscard]] std::vector<double> log_density(const std::vector<Row>& points) const;

private:
  enum class Kind : std::uint8_t { continuous, discrete, categorical };

  /// The kernels of one axis.
  struct Kernels {
    const Axis* axis = nullptr;
    Kind kind = Kind::continuous;
    std::vector<double> mean{};     ///< of each kernel; categories: the observed one
    std::vector<double> inverse{};  ///< 1 / width
    double miss = 0;                ///< categories: log of the probability of another category
    double loss = 0;                ///< and how much less that is than of the observed one
  };
  /// Where a point lies on an axis: on a discrete one the cell of its value, else of width 0.
  struct Cell {
    double middle = 0;
    double width = 0;
  };

  /// The least width that a kernel may have at `x`.
  [[nodiscard]] double narrowest(const Kernels& kernels, double x) const;
  /// `slot`: the kernel of each observation, UINT32_MAX for those that have none or are lone.
  void add_numeric(ParzenColumn& column, std::span<const std::uint32_t> members,
                   std::span<const std::uint32_t> slot, Kernels& kernels);
  /// On a numeric axis: in the middle, as wide as the box.
  void add_prior(Kernels& kernels);
  void add_categorical(const ParzenColumn& column, std::span<const std::uint32_t> members,
                       Kernels& kernels);
  double draw(const Kernels& kernels, std::size_t kernel, Random& random) const;
  /// What the kernels of the block that begins with `start` have at a point at most, as logarithms,
  /// exact without discrete axes. False, and the terms unfinished, when none exceeds `floor`.
  [[nodiscard]] bool bound(std::size_t start, std::span<const Cell> at, double floor,
                           double* terms) const;
  /// What one kernel has at a point.
  [[nodiscard]] double log_kernel(std::size_t kernel, std::span<const Cell> at) const;

  ParzenOptions options_;
  std::size_t kernels_ = 0;         ///< members and the prior, which is the last
  std::vector<double> cumulative_;  ///< weights, summed
  std::vector<double> base_;        ///< log of the weight and of what does not depend on the point
  std::vector<Kernels> axes_;
};

}  // namespace troupe::tune::detail
