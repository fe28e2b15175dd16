// Tunes a small neural network on Fashion-MNIST: random search with ASHA, two worker processes that
// read the images once and then train one network after the other.

#include <troupe/tune.hpp>

#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "classifier.hpp"

namespace {

namespace tune = troupe::tune;

struct Options {
  std::int64_t trials = 24;
  std::int64_t epochs = 9;
  std::int64_t images = 50'000;
  unsigned workers = 2;
  std::int64_t seed = 1;
  std::filesystem::path data = fashion::default_folder;
  std::string name;
  std::filesystem::path storage;
  std::filesystem::path restore;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--trials", options.trials, "Configurations to try")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "The most epochs that a configuration is trained for")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--images", options.images, "Images to train on, at most 50000")
      ->check(CLI::Range(1, 50'000))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "Worker processes, a CPU each")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of configurations, weights and orders")
      ->capture_default_str();
  app.add_option("--data", options.data, "Folder with the files of Fashion-MNIST")
      ->capture_default_str();
  app.add_option("--name", options.name, "Of the experiment (default: with date and time)");
  app.add_option("--storage", options.storage,
                 "Where experiments lie (default: $TROUPE_STORAGE_PATH, ~/troupe_results)");
  app.add_option("--restore", options.restore, "Go on with the experiment in this folder")
      ->excludes("--trials", "--epochs", "--images", "--seed", "--data", "--name", "--storage");
}

// [tuner]
tune::Tuner make_tuner(troupe::Runtime& runtime, const Options& options) {
  fashion::check_files(options.data);
  return tune::Tuner(
      runtime, "fashion_mnist",
      {.param_space = {{"learning_rate", tune::loguniform(1e-4, 3e-2)},
                       {"width", tune::choice({32, 64, 128, 256})},
                       {"layers", tune::choice({1, 2})},
                       {"batch_size", tune::choice({32, 64, 128, 256})},
                       {"dropout", tune::uniform(0.0, 0.5)},
                       {"weight_decay", tune::loguniform(1e-5, 1e-1)},
                       {"train_images", options.images},
                       {"seed", options.seed},
                       {"data", options.data.string()}},
       .tune_config = {.metric = "accuracy",
                       .mode = troupe::Mode::max,
                       .num_samples = options.trials,
                       .reuse_actors = true,
                       .scheduler = tune::asha({.max_t = static_cast<double>(options.epochs),
                                                .grace_period = 1,
                                                .reduction_factor = 3}),
                       .search_alg = tune::random_search(),
                       .seed = static_cast<std::uint64_t>(options.seed),
                       .deterministic = true},
       .run_config = {.name = options.name,
                      .storage_path = options.storage,
                      .checkpoint_config = {.num_to_keep = 1, .checkpoint_frequency = 1}}});
}
// [/tuner]

// [test]
/// Trains nothing: reads the winner's weights and classifies images that no choice was made by.
double test_accuracy(const tune::ResultGrid::Trial& best) {
  fashion::Network network = fashion::make_network(best.config);
  fashion::load_network(network, best.checkpoint.value().directory());
  const fashion::Images test = fashion::read_images(best.config.at("data").as_string(), "t10k");
  return network.evaluate({&test, 0, test.count()}).accuracy;
}
// [/test]

// [run]
void tune_network(troupe::Runtime& runtime, const Options& options) {
  tune::Tuner tuner = options.restore.empty() ? make_tuner(runtime, options)
                                              : tune::Tuner::restore(runtime, options.restore);
  const tune::ResultGrid results = tuner.fit();
  if (results.interrupted()) {
    std::cout << "go on with: --restore " << results.experiment_path().string() << '\n';
    return;
  }
  const auto best = results.best_result();
  std::cout << std::fixed << std::setprecision(4);
  std::cout << results.size() << " configurations, " << results.num_results() << " epochs, "
            << results.actor_starts() << " worker processes started\n"
            << "best configuration: " << best.config << '\n'
            << "validation accuracy " << best.score << '\n'
            << "test accuracy " << test_accuracy(best) << '\n';
}
// [/run]

}  // namespace

int main(int argc, char** argv) {
  troupe::run_worker_if_asked(argc, argv);  // a worker process does not get beyond this line
  CLI::App app{"Tunes a small neural network on Fashion-MNIST"};
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return troupe::run(argc, argv, {.cpus = static_cast<double>(options.workers)},
                     [&](troupe::Runtime& runtime) { tune_network(runtime, options); });
}
