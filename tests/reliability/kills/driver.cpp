// The program that the kill tests end at random moments: starts an experiment, or goes on with it.
//   kill_driver <storage path> <fifo|asha|learning|stuck> <thread|process> <seed>
// "learning": ASHA, and the searcher that is the default. "stuck": the second step of each trial
// does not end.
#include <troupe/tune.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace {

using namespace troupe;
namespace fs = std::filesystem;

/// A value that depends on every step before it: a wrong checkpoint, a lost or a repeated step
/// gives other results. Takes some milliseconds, so that kills find something running.
class Walk : public tune::Trainable {
public:
  void setup(const Config& config) override { reset_config(config); }
  Metrics step() override {
    for (int i = 0; i < 2'000'000; ++i) {
      state_ ^= state_ << 13;
      state_ ^= state_ >> 7;
      state_ ^= state_ << 17;
    }
    if (stuck_ && steps_ == 1)
      for (;;)
        ::pause();
    ++steps_;
    const double noise = static_cast<double>(state_ >> 11) * 0x1p-53;
    sum_ += noise;
    return {{"loss", std::abs(x_) / static_cast<double>(steps_) + 0.1 * noise},
            {"sum", sum_},
            {"done", steps_ == 6}};
  }
  void save_checkpoint(const fs::path& folder) override {
    std::ofstream out(folder / "state");
    out.precision(17);
    out << state_ << ' ' << sum_ << ' ' << steps_;
    if (!out.flush())
      throw std::runtime_error("the state cannot be written");
  }
  void load_checkpoint(const fs::path& folder) override {
    if (!(std::ifstream(folder / "state") >> state_ >> sum_ >> steps_))
      throw std::runtime_error("the state cannot be read");
  }
  bool reset_config(const Config& config) override {
    x_ = config.at("x").as_double();
    stuck_ = config.contains("stuck");
    state_ = 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(config.at("k").as_int());
    sum_ = 0;
    steps_ = 0;
    return true;
  }

private:
  double x_ = 0;
  bool stuck_ = false;
  std::uint64_t state_ = 1;
  double sum_ = 0;
  std::int64_t steps_ = 0;
};
TROUPE_TRAINABLE(Walk);

tune::TunerOptions options(const std::string& storage, const std::string& kind, Isolation isolation,
                           std::uint64_t seed) {
  const bool learning = kind == "learning";
  const bool asha = kind == "asha" || learning;
  tune::TunerOptions options;
  options.param_space = {{"x", tune::uniform(-10, 10)}, {"k", tune::grid_search({1, 2, 3, 4, 5})}};
  if (kind == "stuck")
    options.param_space = {{"x", 1}, {"k", 1}, {"stuck", true}};
  if (learning)
    options.param_space = {{"x", tune::uniform(-10, 10)}, {"k", tune::randint(1, 1000)}};
  options.tune_config = {.metric = "loss",
                         .mode = Mode::min,
                         .num_samples = learning ? 60 : 40,
                         .reuse_actors = true,
                         .search_alg = learning ? nullptr : tune::basic_variant(),
                         .seed = seed,
                         .deterministic = asha};
  if (asha)
    options.tune_config.scheduler =
        tune::asha({.max_t = 6, .grace_period = 1, .reduction_factor = 2});
  options.run_config.name = "walk";
  options.run_config.storage_path = storage;
  options.run_config.isolation = isolation;
  options.run_config.checkpoint_config = {.num_to_keep = 2, .checkpoint_frequency = 2};
  options.run_config.failure_config.max_infrastructure_failures = -1;
  options.run_config.verbose = 0;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  RuntimeOptions runtime_options;
  runtime_options.cpus = 4;
  return troupe::run(argc, argv, runtime_options, [&](Runtime& runtime) {
    if (argc != 5)
      throw Exception(ErrorCode::invalid_argument, "kill_driver: four arguments are needed");
    const fs::path dir = fs::path(argv[1]) / "walk";
    const Isolation isolation =
        std::string(argv[3]) == "thread" ? Isolation::thread : Isolation::process;
    auto tuner = tune::Tuner::can_restore(dir)
                     ? tune::Tuner::restore(runtime, dir, {.trainable = "Walk"})
                     : tune::Tuner(runtime, "Walk",
                                   options(argv[1], argv[2], isolation, std::stoull(argv[4])));
    const auto results = tuner.fit();
    std::cout << (results.interrupted() ? "interrupted" : "finished") << std::endl;
  });
}
