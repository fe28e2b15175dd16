#include "network.hpp"

#include <sstream>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace fashion;

namespace {

/// Images in which the row of the bright line gives the class away.
Images striped(Eigen::Index count) {
  Images images;
  images.pixels.setZero(image_pixels, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index label = i % class_count;
    images.pixels.col(i).segment(2 * label * image_side, image_side).setConstant(200);
    images.pixels(i % image_pixels, i) = 90;
    images.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return images;
}

std::string state(const Network& network) {
  std::ostringstream stream;
  network.save(stream);
  return stream.str();
}

const TrainingOptions options{
    .learning_rate = 0.003, .weight_decay = 0.01, .dropout = 0.2, .batch_size = 16, .seed = 5};

}  // namespace

TEST_CASE("the network learns what can be learnt") {
  const Images images = striped(400);
  Network network({.hidden = {32}, .seed = 1});
  const double before = network.evaluate({&images, 300, 100}).accuracy;
  double loss_first = 0;
  double loss_last = 0;
  for (std::uint64_t epoch = 1; epoch <= 20; ++epoch) {
    loss_last = network.train_epoch({&images, 0, 300}, options, epoch);
    loss_first = epoch == 1 ? loss_last : loss_first;
  }
  CHECK(before < 0.5);
  CHECK(loss_last < loss_first);
  CHECK(network.evaluate({&images, 300, 100}).accuracy > 0.95);
}

TEST_CASE("equal seeds give equal weights, bit for bit") {
  const Images images = striped(100);
  Network first({.hidden = {8, 8}, .seed = 3});
  Network second({.hidden = {8, 8}, .seed = 3});
  Network other({.hidden = {8, 8}, .seed = 4});
  CHECK(state(first) != state(other));
  first.train_epoch({&images, 0, 100}, options, 1);
  second.train_epoch({&images, 0, 100}, options, 1);
  CHECK(state(first) == state(second));
}

TEST_CASE("a network that was loaded goes on as the one that was saved") {
  const Images images = striped(100);
  Network network({.hidden = {8}, .seed = 3});
  network.train_epoch({&images, 0, 100}, options, 1);
  std::stringstream saved(state(network));
  network.train_epoch({&images, 0, 100}, options, 2);

  Network loaded({.hidden = {8}, .seed = 77});
  loaded.load(saved);
  loaded.train_epoch({&images, 0, 100}, options, 2);
  CHECK(state(loaded) == state(network));
}

TEST_CASE("weights that do not belong to the network are refused") {
  const Network network({.hidden = {8}, .seed = 3});
  const std::string good = state(network);
  const auto load = [](const std::string& bytes, Eigen::Index width) {
    std::istringstream stream(bytes);
    Network target({.hidden = {width}, .seed = 1});
    target.load(stream);
  };
  CHECK_NOTHROW(load(good, 8));
  CHECK_THROWS_AS(load(good, 9), std::runtime_error);
  CHECK_THROWS_AS(load(good.substr(0, good.size() - 1), 8), std::runtime_error);
  CHECK_THROWS_AS(load(good + "x", 8), std::runtime_error);
  CHECK_THROWS_AS(load("x" + good, 8), std::runtime_error);
  CHECK_THROWS_AS(load("", 8), std::runtime_error);
}

TEST_CASE("settings outside their range are refused") {
  CHECK_THROWS_AS(Network({.hidden = {0}, .seed = 1}), std::invalid_argument);
  const Images images = striped(10);
  Network network({.hidden = {4}, .seed = 1});
  TrainingOptions wrong = options;
  wrong.dropout = 1;
  CHECK_THROWS_AS(network.train_epoch({&images, 0, 10}, wrong, 1), std::invalid_argument);
}
