#include <troupe/tune.hpp>

#include <iostream>

using namespace troupe;

class Quadratic : public tune::Trainable {
public:
  void setup(const Config& config) override { x_ = config.at("x").as_double(); }
  Metrics step() override { return {{"loss", (x_ - 3) * (x_ - 3)}, {"done", ++steps_ == 2}}; }

private:
  double x_ = 0;
  int steps_ = 0;
};
TROUPE_TRAINABLE(Quadratic);

int main(int argc, char** argv) {
  return troupe::run(argc, argv, [](Runtime& runtime) {
    auto results =
        tune::Tuner(runtime, "Quadratic",
                    {.param_space = {{"x", tune::uniform(-10, 10)}},
                     .tune_config = {.metric = "loss", .mode = Mode::min, .num_samples = 2},
                     .run_config = {.name = "consumer"}})
            .fit();
    std::cout << results.best_result().config << '\n';
  });
}
