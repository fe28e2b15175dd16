// A function instead of a class: it reports, saves checkpoints, and goes on after a failure.

#include <troupe/tune.hpp>

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <optional>
#include <stdexcept>

namespace tune = troupe::tune;
using troupe::Config;
using troupe::Metrics;

// [state]
/// Where gradient descent on Rosenbrock's valley stands. Its minimum is at (1, 1).
struct Descent {
  double x = -1;
  double y = 1;
  int steps = 0;

  double loss() const { return (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x); }

  void step(double rate) {
    const double slope_x = -2 * (1 - x) - 400 * x * (y - x * x);
    const double slope_y = 200 * (y - x * x);
    x -= rate * slope_x;
    y -= rate * slope_y;
    ++steps;
  }
};
// [/state]

// [function]
Metrics descend(const Config& config) {
  const double rate = config.at("rate").as_double();
  Descent descent;
  if (const auto checkpoint = troupe::get_checkpoint()) {
    std::ifstream(checkpoint->directory() / "state") >> descent.x >> descent.y >> descent.steps;
  }
  const auto scratch = troupe::get_context().trial_dir / "scratch";
  std::filesystem::create_directories(scratch);

  while (descent.steps < 1000) {
    descent.step(rate);
    if (descent.steps % 100 == 0) {
      std::ofstream(scratch / "state")
          << std::setprecision(17) << descent.x << ' ' << descent.y << ' ' << descent.steps;
      // Throws when the trial ends here: let it pass.
      troupe::report({{"loss", descent.loss()}, {"steps", descent.steps}},
                     troupe::Checkpoint::from_directory(scratch));
    }
    if (descent.steps == 550 && troupe::get_context().attempt == 0) {
      throw std::runtime_error("the licence server did not answer");  // as things happen
    }
  }
  return {{"loss", descent.loss()}, {"x", descent.x}, {"y", descent.y}};
}
TROUPE_TRAINABLE_FUNCTION(descend);
// [/function]

// [main]
int main(int argc, char** argv) {
  return troupe::run(argc, argv, [](troupe::Runtime& runtime) {
    const auto results =
        tune::Tuner(runtime, "descend",
                    {.param_space = {{"rate", tune::grid_search({2e-4, 5e-4, 1e-3})}},
                     .tune_config = {.metric = "loss", .mode = troupe::Mode::min},
                     .run_config = {.name = "function_api", .failure_config = {.max_failures = 1}}})
            .fit();
    for (const auto& trial : results) {
      std::cout << trial.name << ": rate " << trial.config.at("rate") << ", loss "
                << trial.metrics.at("loss") << " after " << trial.iteration << " reports\n";
    }
  });
}
// [/main]
