// Makes fashion_mlp.table: the network of examples/fashion_mnist on a part of its images.
//   fashion_mlp fashion_mlp.table

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include "examples/fashion_mnist/images.hpp"
#include "examples/fashion_mnist/network.hpp"

namespace {

constexpr Eigen::Index images = 2000;  // to train on, and as many to judge by
constexpr int epochs = 27;

constexpr const char* header =
    "# Error of the fully connected network of examples/fashion_mnist, trained on 2,000 images "
    "and\n"
    "# judged by 2,000 others, as a function of five parameters. A step is an epoch. Made by\n"
    "# fashion_mlp.cpp; lexicographic order, the last parameter fastest.\n"
    R"({"name": "fashion_mlp", "metric": "error", "unit": 0.0005, "steps": [)";

constexpr const char* parameters =
    R"(], "parameters": [{"name": "log10_lr", "low": -4, "step": 0.25, "count": 8}, )"
    R"({"name": "log2_batch", "low": 4, "step": 2, "count": 3}, )"
    R"({"name": "log2_width", "low": 4, "step": 1, "count": 3}, )"
    R"({"name": "layers", "low": 1, "step": 1, "count": 2}, )"
    R"({"name": "dropout", "low": 0, "step": 0.25, "count": 3}]})";

struct Point {
  double log10_lr;
  int log2_batch, log2_width, layers;
  double dropout;
};

/// The errors after each epoch, in images.
std::array<long, epochs> train(const fashion::ImageRange& training,
                               const fashion::ImageRange& validation, const Point& point) {
  fashion::Network network(
      {.hidden = std::vector<Eigen::Index>(static_cast<std::size_t>(point.layers),
                                           Eigen::Index{1} << point.log2_width),
       .seed = 1});
  const fashion::TrainingOptions options{.learning_rate = std::pow(10.0, point.log10_lr),
                                         .weight_decay = 1e-3,
                                         .dropout = point.dropout,
                                         .batch_size = Eigen::Index{1} << point.log2_batch,
                                         .seed = 1};
  std::array<long, epochs> errors{};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    network.train_epoch(training, options, static_cast<std::uint64_t>(epoch + 1));
    const double wrong = 1 - network.evaluate(validation).accuracy;
    errors[static_cast<std::size_t>(epoch)] = std::lround(wrong * static_cast<double>(images));
  }
  return errors;
}

void write(std::ostream& out) {
  const fashion::Images& all = fashion::training_images(fashion::default_folder);
  const fashion::ImageRange training{&all, 0, images};
  const fashion::ImageRange validation{&all, images, images};
  out << header;
  for (int epoch = 1; epoch <= epochs; ++epoch)
    out << (epoch == 1 ? "" : ", ") << epoch;
  out << parameters << '\n';
  for (int rate = 0; rate < 8; ++rate)
    for (int batch = 4; batch <= 8; batch += 2)
      for (int width = 4; width <= 6; ++width)
        for (int layers = 1; layers <= 2; ++layers)
          for (int dropout = 0; dropout < 3; ++dropout) {
            const auto errors = train(training, validation,
                                      {-4 + 0.25 * rate, batch, width, layers, 0.25 * dropout});
            for (std::size_t i = 0; i < errors.size(); ++i)
              out << (i == 0 ? "" : " ") << errors[i];
            out << std::endl;
          }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fashion_mlp <the table to write>\n", stderr);
    return 2;
  }
  try {
    std::ofstream out(argv[1]);
    write(out);
    if (!out)
      throw std::runtime_error("cannot write " + std::string(argv[1]));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mlp: %s\n", error.what());
    return 1;
  }
}
