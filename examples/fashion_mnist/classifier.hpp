#pragma once

#include <troupe/actors/trainable.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "images.hpp"
#include "network.hpp"

namespace fashion {

/// Images at the end of the training set that no network is trained on: they choose between
/// configurations. The test set is looked at once, by the winner.
inline constexpr Eigen::Index validation_count = 10'000;

/// The network that a configuration describes: keys `width`, `layers`, `seed`.
Network make_network(const troupe::Config& config);

/// Reads the weights that `Classifier::save_checkpoint` wrote.
void load_network(Network& network, const std::filesystem::path& checkpoint);

/// One trial: a network that is trained for one epoch a step.
/// Keys beside those of `make_network`: `learning_rate`, `batch_size`, `dropout`, `weight_decay`;
/// `data` (the folder) and `train_images` (how many of them are trained on).
class Classifier : public troupe::Trainable {
public:
  void setup(const troupe::Config& config) override;
  troupe::Metrics step() override;
  void save_checkpoint(const std::filesystem::path& directory) override;
  void load_checkpoint(const std::filesystem::path& directory) override;
  bool reset_config(const troupe::Config& config) override;

private:
  const Images* images_ = nullptr;  // kept from trial to trial
  ImageRange training_;
  ImageRange validation_;
  TrainingOptions options_;
  std::unique_ptr<Network> network_;
  std::uint64_t epoch_ = 0;
};

}  // namespace fashion
