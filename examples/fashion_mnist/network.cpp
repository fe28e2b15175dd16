#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <numeric>
#include <ostream>
#include <random>
#include <stdexcept>

namespace fashion {
namespace {

constexpr double mean_momentum = 0.9;
constexpr double square_momentum = 0.999;
constexpr float tiny = 1e-15F;  // beside any gradient that matters; its square is a normal number
constexpr float pixel_mean = 0.2860F;       // of the training set, pixels scaled to [0, 1]
constexpr float pixel_deviation = 0.3530F;  // so that inputs are around 0 with variance 1
constexpr std::uint64_t file_magic = 0x3174656e68736166;  // "fashnet1"

/// Copies the images with the given numbers into the columns of `inputs`.
void gather(const Images& images, const Eigen::Index* numbers, Eigen::Index count,
            Eigen::MatrixXf& inputs, std::vector<std::uint8_t>& labels) {
  inputs.resize(image_pixels, count);
  labels.resize(static_cast<std::size_t>(count));
  for (Eigen::Index i = 0; i < count; ++i) {
    inputs.col(i) = images.pixels.col(numbers[i]).cast<float>();
    labels[static_cast<std::size_t>(i)] = images.labels[static_cast<std::size_t>(numbers[i])];
  }
  inputs.array() = (inputs.array() * (1.0F / 255.0F) - pixel_mean) / pixel_deviation;
}

/// Turns scores into probabilities, column by column, in place.
void softmax(Eigen::MatrixXf& scores) {
  scores.rowwise() -= scores.colwise().maxCoeff().eval();
  scores = scores.array().exp();
  scores.array().rowwise() /= scores.colwise().sum().array().eval();
}

double cross_entropy(const Eigen::MatrixXf& probabilities,
                     const std::vector<std::uint8_t>& labels) {
  double sum = 0;
  for (Eigen::Index i = 0; i < probabilities.cols(); ++i) {
    // Below the smallest normal float the logarithm would be that of zero.
    sum -= std::log(std::max(probabilities(labels[static_cast<std::size_t>(i)], i), 1e-30F));
  }
  return sum;
}

}  // namespace

/// The standard's distributions differ between libraries; these few lines do not.
class Network::Random {
public:
  Random(std::uint64_t seed, std::uint64_t stream) {
    std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        static_cast<std::uint32_t>(stream),
                        static_cast<std::uint32_t>(stream >> 32)};
    engine_.seed(mixed);
  }

  /// [0, 1)
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// 0 to `bound` - 1
  Eigen::Index below(Eigen::Index bound) {
    return static_cast<Eigen::Index>(uniform() * static_cast<double>(bound));
  }

private:
  std::mt19937_64 engine_;
};

void Network::Parameter::resize(Eigen::Index rows, Eigen::Index columns) {
  for (Eigen::MatrixXf* matrix : {&value, &mean, &square, &gradient}) {
    matrix->setZero(rows, columns);
  }
}

void Network::Parameter::update(const TrainingOptions& options, double correction_mean,
                                double correction_square, double decay) {
  const auto b1 = static_cast<float>(mean_momentum);
  const auto b2 = static_cast<float>(square_momentum);
  const auto step = static_cast<float>(options.learning_rate / correction_mean);
  const auto scale = static_cast<float>(1 / std::sqrt(correction_square));
  const auto shrink = static_cast<float>(1 - options.learning_rate * decay);
  // Column by column, so that the four matrices go through the cache once.
  for (Eigen::Index j = 0; j < value.cols(); ++j) {
    auto g = gradient.col(j).array();
    auto m = mean.col(j).array();
    auto s = square.col(j).array();
    auto v = value.col(j).array();
    // Without the tiny constant the moments of a unit that no image excites any more decay into
    // denormal numbers, with which processors calculate many times slower.
    m = b1 * m + (1 - b1) * (g + tiny);
    s = b2 * s + (1 - b2) * (g + tiny).square();
    v = shrink * v - step * m / (scale * s.sqrt() + 1e-8F);
  }
}

Network::Network(const NetworkOptions& options) {
  std::vector<Eigen::Index> widths = options.hidden;
  widths.push_back(class_count);
  Random random(options.seed, 0);
  Eigen::Index inputs = image_pixels;
  for (const Eigen::Index width : widths) {
    if (width < 1 || width > 4096) {
      throw std::invalid_argument("the width of a layer is " + std::to_string(width) +
                                  ", expected 1 to 4096");
    }
    Layer& layer = layers_.emplace_back();
    layer.weights.resize(width, inputs);
    layer.bias.resize(width, 1);
    // Keeps the variance of the signal through a layer of rectified units (He et al. 2015).
    const double limit = std::sqrt(6.0 / static_cast<double>(inputs));
    for (Eigen::Index i = 0; i < layer.weights.value.size(); ++i) {
      layer.weights.value.data()[i] = static_cast<float>((2 * random.uniform() - 1) * limit);
    }
    inputs = width;
  }
}

double Network::train_epoch(const ImageRange& range, const TrainingOptions& options,
                            std::uint64_t epoch) {
  if (options.batch_size < 1 || options.dropout < 0 || options.dropout >= 1 ||
      !(options.learning_rate > 0) || !(options.weight_decay >= 0)) {
    throw std::invalid_argument(
        "training needs batch_size >= 1, dropout in [0, 1), learning_rate > 0, weight_decay >= 0");
  }
  Random random(options.seed, epoch + 1);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(range.count));
  std::iota(order.begin(), order.end(), range.first);
  for (Eigen::Index i = range.count - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(random.below(i + 1))]);
  }
  Eigen::MatrixXf inputs;
  std::vector<std::uint8_t> labels;
  double loss = 0;
  for (Eigen::Index at = 0; at < range.count; at += options.batch_size) {
    const Eigen::Index count = std::min(options.batch_size, range.count - at);
    gather(*range.images, order.data() + at, count, inputs, labels);
    loss += train_batch(inputs, labels, options, random);
  }
  return loss / static_cast<double>(range.count);
}

double Network::train_batch(const Eigen::MatrixXf& inputs, const std::vector<std::uint8_t>& labels,
                            const TrainingOptions& options, Random& random) {
  const Eigen::MatrixXf* below = &inputs;
  for (Layer& layer : layers_) {
    layer.output.noalias() = layer.weights.value * *below;
    layer.output.colwise() += layer.bias.value.col(0);
    if (&layer != &layers_.back()) {
      layer.output = layer.output.cwiseMax(0.0F);
      if (options.dropout > 0) {
        const auto kept = static_cast<float>(1 / (1 - options.dropout));
        layer.kept.resize(layer.output.rows(), layer.output.cols());
        for (Eigen::Index i = 0; i < layer.kept.size(); ++i) {
          layer.kept.data()[i] = random.uniform() < options.dropout ? 0.0F : kept;
        }
        layer.output.array() *= layer.kept.array();
      }
    }
    below = &layer.output;
  }

  Layer& top = layers_.back();
  softmax(top.output);
  const double loss = cross_entropy(top.output, labels);
  top.delta = top.output;
  for (Eigen::Index i = 0; i < top.delta.cols(); ++i) {
    top.delta(labels[static_cast<std::size_t>(i)], i) -= 1;
  }
  top.delta /= static_cast<float>(top.delta.cols());
  backward(inputs, options.dropout);

  ++updates_;
  const auto count = static_cast<double>(updates_);
  const double correction_mean = 1 - std::pow(mean_momentum, count);
  const double correction_square = 1 - std::pow(square_momentum, count);
  for (Layer& layer : layers_) {
    layer.weights.update(options, correction_mean, correction_square, options.weight_decay);
    layer.bias.update(options, correction_mean, correction_square, 0);
  }
  return loss;
}

void Network::backward(const Eigen::MatrixXf& inputs, double dropout) {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    const Eigen::MatrixXf& below = i == 0 ? inputs : layers_[i - 1].output;
    layer.weights.gradient.noalias() = layer.delta * below.transpose();
    layer.bias.gradient = layer.delta.rowwise().sum();
    if (i > 0) {
      Layer& lower = layers_[i - 1];
      lower.delta.noalias() = layer.weights.value.transpose() * layer.delta;
      // A unit that gave nothing, by its activation or by dropout, has no share in the loss.
      lower.delta.array() *= (lower.output.array() > 0.0F).cast<float>();
      if (dropout > 0) {
        lower.delta.array() *= lower.kept.array();
      }
    }
  }
}

Network::Evaluation Network::evaluate(const ImageRange& range) const {
  constexpr Eigen::Index part = 250;
  std::vector<Eigen::Index> numbers(static_cast<std::size_t>(range.count));
  std::iota(numbers.begin(), numbers.end(), range.first);
  Eigen::MatrixXf signal;
  Eigen::MatrixXf next;
  std::vector<std::uint8_t> labels;
  double loss = 0;
  Eigen::Index correct = 0;
  for (Eigen::Index at = 0; at < range.count; at += part) {
    gather(*range.images, numbers.data() + at, std::min(part, range.count - at), signal, labels);
    for (const Layer& layer : layers_) {
      next.noalias() = layer.weights.value * signal;
      next.colwise() += layer.bias.value.col(0);
      if (&layer != &layers_.back()) {
        next = next.cwiseMax(0.0F);
      }
      signal.swap(next);
    }
    softmax(signal);
    loss += cross_entropy(signal, labels);
    for (Eigen::Index i = 0; i < signal.cols(); ++i) {
      Eigen::Index best = 0;
      signal.col(i).maxCoeff(&best);
      correct += best == labels[static_cast<std::size_t>(i)] ? 1 : 0;
    }
  }
  const auto count = static_cast<double>(std::max<Eigen::Index>(range.count, 1));
  return {.accuracy = static_cast<double>(correct) / count, .loss = loss / count};
}

/// Visits everything that `save` and `load` carry: shapes first, then the matrices.
template <class Visitor>
void Network::visit_state(Visitor&& visit) {
  for (Layer& layer : layers_) {
    for (Parameter* parameter : {&layer.weights, &layer.bias}) {
      for (Eigen::MatrixXf* matrix : {&parameter->value, &parameter->mean, &parameter->square}) {
        visit(*matrix);
      }
    }
  }
}

void Network::save(std::ostream& stream) const {
  const auto put = [&](std::uint64_t number) {
    stream.write(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put(file_magic);
  put(updates_);
  const_cast<Network*>(this)->visit_state([&](const Eigen::MatrixXf& matrix) {
    put(static_cast<std::uint64_t>(matrix.rows()));
    put(static_cast<std::uint64_t>(matrix.cols()));
    stream.write(reinterpret_cast<const char*>(matrix.data()),
                 static_cast<std::streamsize>(sizeof(float)) * matrix.size());
  });
}

void Network::load(std::istream& stream) {
  const auto get = [&] {
    std::uint64_t number = 0;
    stream.read(reinterpret_cast<char*>(&number), sizeof number);
    return number;
  };
  if (get() != file_magic) {
    throw std::runtime_error("these are not the weights of a network");
  }
  const std::uint64_t updates = get();
  visit_state([&](Eigen::MatrixXf& matrix) {
    if (get() != static_cast<std::uint64_t>(matrix.rows()) ||
        get() != static_cast<std::uint64_t>(matrix.cols())) {
      throw std::runtime_error("the weights belong to a network of another shape");
    }
    stream.read(reinterpret_cast<char*>(matrix.data()),
                static_cast<std::streamsize>(sizeof(float)) * matrix.size());
  });
  if (!stream || stream.peek() != std::istream::traits_type::eof()) {
    throw std::runtime_error("the weights are incomplete, or more follows them");
  }
  updates_ = updates;
}

}  // namespace fashion
