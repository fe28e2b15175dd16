// A search space in which parameters depend on each other, and a searcher that learns.

#include <troupe/tune.hpp>

#include <cmath>
#include <iostream>

using namespace troupe;

/// A made-up cost of a matrix product in tiles: the kernel is either plain or tiled, tiles must fit
/// into shared memory, and some combinations are known to be broken.
class Tiling : public tune::Trainable {
public:
  void setup(const Config& config) override { config_ = config; }
  Metrics step() override {
    double ms = 40;
    double kilobytes = 0;
    if (config_.at("kernel") == Value("tiled")) {
      const double rows = config_.at("tile/rows").as_double();
      const double columns = config_.at("tile/columns").as_double();
      kilobytes = rows * columns * 4 / 1024;
      ms = 8 + std::pow(std::log2(rows) - 6, 2) + std::pow(std::log2(columns) - 5, 2);
    }
    ms += 3 * config_.at("prefetch").as_double() * (1 - config_.at("prefetch").as_double());
    return {{"ms", ms}, {"over_48_kib", kilobytes - 48}, {"done", true}};
  }
  bool reset_config(const Config& config) override {
    config_ = config;
    return true;
  }

private:
  Config config_;
};
TROUPE_TRAINABLE(Tiling);

// [space]
tune::ParamSpace tiling_space() {
  tune::ParamSpace space{{"kernel", tune::choice({"plain", "tiled"})},
                         // These two exist only where the kernel is tiled.
                         {"tile", tune::when("kernel", {"tiled"},
                                             {{"rows", tune::lograndint(8, 257)},
                                              {"columns", tune::lograndint(8, 257)}})},
                         {"prefetch", tune::quniform(0, 1, 0.125)},
                         {"unroll", tune::choice({1, 2, 4, 8})}};
  space.require(tune::product_at_most({"tile/rows", "tile/columns"}, 16384));
  space.forbid({{"kernel", "plain"}, {"unroll", 8}});
  return space;
}
// [/space]

int main(int argc, char** argv) {
  return troupe::run(argc, argv, [](Runtime& runtime) {
    // [search]
    auto results = tune::Tuner(runtime, "Tiling",
                               {.param_space = tiling_space(),
                                .tune_config = {.metric = "ms",
                                                .mode = Mode::min,
                                                .constraints = {"over_48_kib"},
                                                .points_to_evaluate = {{{"kernel", "plain"}}},
                                                .num_samples = 80,
                                                .reuse_actors = true,
                                                .search_alg = tune::tpe()},
                                .run_config = {.name = "tiling", .verbose = 0}})
                       .fit();
    std::cout << results.best_result() << '\n';
    // [/search]
    const Config best = results.best_result().config;
    if (best.at("kernel") != Value("tiled"))
      throw Exception(ErrorCode::internal, "the search did not find the better kernel");
  });
}
