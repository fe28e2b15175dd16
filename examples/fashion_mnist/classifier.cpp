#include "classifier.hpp"

#include <troupe/actors/registry.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

namespace fashion {
namespace {

constexpr const char* weights_file = "network.bin";
constexpr const char* epoch_file = "epoch.txt";

}  // namespace

Network make_network(const troupe::Config& config) {
  const auto layers = static_cast<std::size_t>(config.at("layers").as_int());
  return Network({.hidden = std::vector<Eigen::Index>(layers, config.at("width").as_int()),
                  .seed = static_cast<std::uint64_t>(config.at("seed").as_int())});
}

void load_network(Network& network, const std::filesystem::path& checkpoint) {
  std::ifstream stream(checkpoint / weights_file, std::ios::binary);
  network.load(stream);
}

// [lifecycle]
void Classifier::setup(const troupe::Config& config) {
  images_ = &training_images(config.at("data").as_string());  // slow, once per worker process
  reset_config(config);
}

bool Classifier::reset_config(const troupe::Config& config) {
  const Eigen::Index count = config.at("train_images").as_int();
  if (count < 1 || count > images_->count() - validation_count) {
    throw std::invalid_argument("train_images is " + std::to_string(count) + ", expected 1 to " +
                                std::to_string(images_->count() - validation_count));
  }
  training_ = {images_, 0, count};
  validation_ = {images_, images_->count() - validation_count, validation_count};
  options_ = {.learning_rate = config.at("learning_rate").as_double(),
              .weight_decay = config.at("weight_decay").as_double(),
              .dropout = config.at("dropout").as_double(),
              .batch_size = config.at("batch_size").as_int(),
              .seed = static_cast<std::uint64_t>(config.at("seed").as_int())};
  network_ = std::make_unique<Network>(make_network(config));
  epoch_ = 0;
  return true;
}

troupe::Metrics Classifier::step() {
  const double train_loss = network_->train_epoch(training_, options_, ++epoch_);
  const Network::Evaluation validation = network_->evaluate(validation_);
  return {{"accuracy", validation.accuracy}, {"loss", validation.loss}, {"train_loss", train_loss}};
}
// [/lifecycle]

// [checkpoint]
void Classifier::save_checkpoint(const std::filesystem::path& directory) {
  std::ofstream weights(directory / weights_file, std::ios::binary);
  network_->save(weights);
  std::ofstream epoch(directory / epoch_file);
  epoch << epoch_ << '\n';
  if (!weights.flush() || !epoch.flush()) {
    throw std::runtime_error("the checkpoint cannot be written to " + directory.string());
  }
}

void Classifier::load_checkpoint(const std::filesystem::path& directory) {
  load_network(*network_, directory);
  if (!(std::ifstream(directory / epoch_file) >> epoch_)) {
    throw std::runtime_error((directory / epoch_file).string() + " holds no number");
  }
}
// [/checkpoint]

}  // namespace fashion

TROUPE_TRAINABLE_AS(fashion::Classifier, "fashion_mnist");
