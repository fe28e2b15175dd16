#pragma once

#include <troupe/tune/search/detail/cmaes_generations.hpp>
#include <troupe/tune/search/detail/quadratic_model.hpp>

#include <optional>
#include <span>
#include <vector>

namespace troupe::tune::detail {

/// A regression on the results near the distribution, which ranks points that were not tried: after
/// N. Hansen, "A global surrogate assisted CMA-ES", GECCO 2019, but judged by predictions of what
/// was left out, since a regression always knows what it was fitted to.
///
/// A pure function of history and generations. The calls below need those that it was fitted to.
class CmaEsSurrogate {
public:
  /// Nothing when there are too few results, or they do not differ.
  static std::optional<CmaEsSurrogate> fit(const CmaEsProblem& problem,
                                           const CmaEsGenerations& generations);

  /// Does it order the last results well enough to do without others?
  [[nodiscard]] bool trusted() const { return trusted_; }
  /// The losses foretold.
  [[nodiscard]] std::vector<double> predict(const CmaEsProblem& problem,
                                            const CmaEsGenerations& generations,
                                            std::span<const Point* const> points) const;
  /// Where it is least, as far as that is within reach of the generation that `next` is in, with
  /// the likeliest categories. Nothing when it falls for ever, or a rule forbids the place.
  [[nodiscard]] std::optional<Point> minimum(const CmaEsProblem& problem,
                                             const CmaEsGenerations& generations,
                                             const CmaEsGenerations& next) const;

private:
  std::optional<QuadraticModel> model_;
  double offset_ = 0;  ///< of losses, as the model knows them
  double range_ = 1;
  bool trusted_ = false;
};

}  // namespace troupe::tune::detail
