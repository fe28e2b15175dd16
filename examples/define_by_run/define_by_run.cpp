// Define-by-run, as in Optuna: the space is what the objective asks for.

// [program]
#include <troupe/algorithms.hpp>

#include <cmath>
#include <iostream>

using namespace troupe;

/// A made-up validation error of one of two models.
double objective(tune::StudyTrial& trial) {
  if (trial.suggest_categorical("model", {"svm", "forest"}) == Value("svm")) {
    const double c = trial.suggest_float("svm_c", 1e-5, 1e5, {.log = true});
    return 0.1 + 0.01 * std::pow(std::log10(c) - 1, 2);
  }
  const auto depth = trial.suggest_int("depth", 2, 32);
  const double off = std::abs(static_cast<double>(depth) - 14);
  for (int trees = 1; trees <= 5; ++trees) {
    trial.report(0.2 + off / 100 / trees, static_cast<std::uint64_t>(trees));
    if (trial.should_prune())
      throw tune::TrialPruned();
  }
  return 0.2 + off / 500;
}

int main() {
  tune::Study study({.scheduler = tune::asha({.max_t = 100}), .mode = Mode::min, .seed = 1});
  study.optimize(objective, 100);
  const auto best = study.best_trial().value();
  std::cout << *best.value << ' ' << best.params << '\n';
  return best.params.at("model") == Value("svm") ? 0 : 1;
}
// [/program]
