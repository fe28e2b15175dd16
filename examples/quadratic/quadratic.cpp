// A trainable with an expensive setup, and the search for the x that makes its loss small.

// [program]
#include <troupe/tune.hpp>

#include <chrono>
#include <iostream>
#include <thread>

using namespace troupe;

class Quadratic : public tune::Trainable {
public:
  void setup(const Config& config) override {
    config_ = config;
    load_simulator(); /* slow, once */
  }
  Metrics step() override {
    const double x = config_.at("x").as_double();
    return {{"loss", (x - 3) * (x - 3)}, {"done", ++steps_ == 5}};
  }
  bool reset_config(const Config& config) override {
    config_ = config;
    steps_ = 0;
    return true;
  }

private:
  void load_simulator() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }
  Config config_;
  int steps_ = 0;
};
TROUPE_TRAINABLE(Quadratic);

int main(int argc, char** argv) {
  return troupe::run(argc, argv, [](Runtime& runtime) {
    auto results = tune::Tuner(runtime, "Quadratic",
                               {.param_space = {{"x", tune::uniform(-10, 10)}},
                                .tune_config = {.metric = "loss",
                                                .mode = Mode::min,
                                                .num_samples = 100,
                                                .reuse_actors = true},
                                .run_config = {.name = "quadratic"}})
                       .fit();
    std::cout << results.best_result().config << '\n';
  });
}
// [/program]
