#pragma once

#include <troupe/base/random.hpp>
#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

/// CMA-ES: a normal distribution that moves to where the good points are.
namespace troupe::tune::detail {

struct CmaSettings {
  std::size_t dimensions = 1;
  /// Points a generation, at least 2.
  std::size_t population = 6;
  /// Only the diagonal of the covariance: linear cost, and learnt in a third of d times fewer
  /// points.
  bool separable = false;
  /// Smaller steps where the ranking of points looks like noise (Nomura et al. 2023).
  bool adapt_learning_rate = false;
  /// Coordinates of discrete numbers: their margin keeps neighbouring values within reach (Hamano
  /// et al. 2022).
  std::vector<std::size_t> stepped{};

  /// 4 + floor(3 ln d).
  static std::size_t default_population(std::size_t dimensions);
};

/// One run from a starting distribution to convergence, on points of the unit cube.
///
/// Deterministic: equal calls give equal states, and `restore(save())` an equal object. Copies are
/// independent. Constants are those of Hansen's tutorial (2016) with negative weights.
class Cma {
public:
  /// The ends of the cell of the unit interval that the discrete number at `x` of a stepped
  /// coordinate owns; the first begins at 0, the last ends at 1.
  using Cells = std::function<std::pair<double, double>(std::size_t coordinate, double x)>;

  /// `sigma` > 0: standard deviation of each coordinate.
  Cma(CmaSettings settings, Eigen::VectorXd mean, double sigma);
  /// Begins with a covariance of any scale, which is symmetric and positive definite.
  Cma(CmaSettings settings, Eigen::VectorXd mean, const Eigen::MatrixXd& covariance);

  struct Sample {
    Eigen::VectorXd x;      ///< to be told; may lie outside
    Eigen::VectorXd point;  ///< to be tried: inside of the unit cube
  };
  /// Draws a point.
  [[nodiscard]] Sample sample(Random& random) const;

  struct Told {
    Eigen::VectorXd x;
    /// Not sampled from the present distribution: drawn back to a likely distance from the mean
    /// (Hansen 2011, "Injecting external solutions into CMA-ES").
    bool foreign = false;
  };
  /// Ends a generation with exactly `population` points, best first, whose losses range from `best`
  /// to `worst` (not finite: not known).
  void tell(std::span<const Told> best_first, double best, double worst, const Cells& cells);

  /// Has it converged, or can it make no progress any more?
  [[nodiscard]] bool done() const;

  /// Points, one a column, along the axes of the distribution in units of its deviations; and back.
  [[nodiscard]] Eigen::MatrixXd local(Eigen::MatrixXd x) const;
  [[nodiscard]] Eigen::VectorXd global(const Eigen::VectorXd& z) const;
  /// Up to which distance from the mean, in these units, a point is likely.
  [[nodiscard]] double likely_distance() const;

  [[nodiscard]] const CmaSettings& settings() const { return settings_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] const Eigen::VectorXd& mean() const { return mean_; }
  [[nodiscard]] double sigma() const { return sigma_; }
  /// sigma^2 times this is the covariance of the distribution.
  [[nodiscard]] Eigen::MatrixXd shape() const;
  /// The diagonal of `shape`.
  [[nodiscard]] Eigen::VectorXd variances() const;
  /// How much wider stepped coordinates are sampled, at least as wide as reaches the neighbours.
  [[nodiscard]] const Eigen::VectorXd& margin_scale() const { return scale_; }

  [[nodiscard]] Value save() const;
  /// corrupt when the data is not the state of a run with these settings.
  static Result<Cma> restore(CmaSettings settings, const Value& state);

private:
  /// Constants that follow from the settings.
  struct Constants {
    Eigen::VectorXd weights;
    std::size_t parents = 0;
    double mu_eff = 0, c1 = 0, cmu = 0, c_sigma = 0, d_sigma = 0, c_c = 0, chi = 0;
  };
  /// Where the learning rates stand: moving averages of the steps in local coordinates.
  struct Rates {
    Eigen::VectorXd mean_step;
    Eigen::MatrixXd shape_step;
    double mean_square = 0, shape_square = 0, mean_rate = 1, shape_rate = 1;
  };

  static Constants constants(const CmaSettings& settings);
  [[nodiscard]] Eigen::VectorXd coloured(Eigen::VectorXd z) const;         ///< B D z
  [[nodiscard]] Eigen::VectorXd whitened(const Eigen::VectorXd& y) const;  ///< C^(-1/2) y
  [[nodiscard]] bool stepped(std::size_t coordinate) const;
  [[nodiscard]] Eigen::MatrixXd steps(std::span<const Told> best_first) const;
  void update_shape(const Eigen::MatrixXd& y, bool stalled_path);
  void decompose();
  void adapt_rates(const Eigen::VectorXd& old_mean, double old_sigma, const Eigen::MatrixXd& old);
  void apply_margin(const Cells& cells);
  void apply_margin(std::size_t coordinate, std::pair<double, double> cell, double deviation);
  /// How many losses are kept: best and worst of as many generations as they must differ over.
  [[nodiscard]] std::size_t ring() const;
  [[nodiscard]] bool sound() const;
  [[nodiscard]] std::vector<double> numbers() const;

  CmaSettings settings_;
  Constants c_;
  std::uint64_t generation_ = 0;
  double sigma_ = 1;
  Eigen::VectorXd mean_;
  Eigen::VectorXd scale_;   ///< margin's A
  Eigen::VectorXd path_s_;  ///< of the step size
  Eigen::VectorXd path_c_;  ///< of the covariance
  Eigen::MatrixXd shape_;   ///< C; separable: its diagonal as one column
  Eigen::MatrixXd axes_;    ///< B; separable: empty
  Eigen::VectorXd roots_;   ///< D, square roots of the eigenvalues
  Rates rates_;
  std::vector<double> recent_;  ///< best and worst losses of the last generations, a ring
};

}  // namespace troupe::tune::detail
