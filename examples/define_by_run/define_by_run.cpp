// Define-by-run, as in Optuna: the space is what the objective asks for.

// [program]
#include <troupe/algorithms.hpp>

#include <cmath>
#include <iostream>
#include <vector>

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

/// Two objectives under a constraint, with a result that is known from elsewhere.
std::size_t trade_off() {
  tune::Study study(
      {.modes = {Mode::min, Mode::min}, .constraints = {"mib_over_limit"}, .seed = 1});
  study.add_trial({.params = {{"width", 8}},
                   .domains = {{"width", tune::lograndint(1, 513)}},
                   .values = {0.125, 8.0},
                   .constraints = {{"mib_over_limit", -248.0}}});
  study.optimize(
      [](tune::StudyTrial& trial) {
        const auto width = static_cast<double>(trial.suggest_int("width", 1, 512, {.log = true}));
        trial.set_constraint("mib_over_limit", width - 256);
        return std::vector<double>{1 / width, width};  // error, time
      },
      40);
  for (const auto& best : study.best_trials())
    std::cout << best.values[0] << ' ' << best.values[1] << ' ' << best.params << '\n';
  return study.best_trials().size();
}

int main() {
  tune::Study study({.scheduler = tune::asha({.max_t = 100}), .mode = Mode::min, .seed = 1});
  study.enqueue_trial({{"model", "forest"}, {"depth", 16}});
  study.optimize(objective, 100);
  const auto best = study.best_trial().value();
  std::cout << *best.value << ' ' << best.params << '\n';
  return best.params.at("model") == Value("svm") && trade_off() > 1 ? 0 : 1;
}
// [/program]
