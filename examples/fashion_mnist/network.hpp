#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include <Eigen/Core>

#include "images.hpp"

namespace fashion {

/// What is fixed when a network is made, and what may change from epoch to epoch.
struct NetworkOptions {
  std::vector<Eigen::Index> hidden = {128};  ///< widths of the hidden layers, each 1 to 4096
  std::uint64_t seed = 1;                    ///< of the first weights
};

struct TrainingOptions {
  double learning_rate = 1e-3;  ///< > 0
  double weight_decay = 0;      ///< >= 0, decoupled from the gradient (AdamW)
  double dropout = 0;           ///< part of the hidden units left out in a step, [0, 1)
  Eigen::Index batch_size = 64;
  std::uint64_t seed = 1;  ///< of the order of the images and of the units left out
};

/// A fully connected network with rectified linear units, trained with AdamW on the cross entropy.
///
/// Equal options, images and calls give equal weights, bit for bit: there is one thread, and all
/// randomness comes from the seeds. Not thread-safe.
class Network {
public:
  explicit Network(const NetworkOptions& options);

  /// One pass over `range` in a fresh random order; returns the mean loss. `epoch` selects the
  /// order, so a network that was loaded goes on exactly as the one that was saved.
  double train_epoch(const ImageRange& range, const TrainingOptions& options, std::uint64_t epoch);

  struct Evaluation {
    double accuracy = 0;  ///< part of the images that is classified correctly
    double loss = 0;      ///< mean cross entropy
  };
  Evaluation evaluate(const ImageRange& range) const;

  /// Weights and optimizer state. `load` throws std::runtime_error when the bytes are not those of
  /// a network of this shape.
  void save(std::ostream& stream) const;
  void load(std::istream& stream);

private:
  /// A tensor with its running moments of the gradient.
  struct Parameter {
    Eigen::MatrixXf value;
    Eigen::MatrixXf mean;
    Eigen::MatrixXf square;
    Eigen::MatrixXf gradient;

    void resize(Eigen::Index rows, Eigen::Index columns);
    void update(const TrainingOptions& options, double correction_mean, double correction_square,
                double decay);
  };

  struct Layer {
    Parameter weights;
    Parameter bias;
    Eigen::MatrixXf output;  ///< of the last forward pass, one column an image
    Eigen::MatrixXf kept;    ///< 0 or 1 / (1 - dropout) for each unit
    Eigen::MatrixXf delta;   ///< derivative of the loss by the output before its activation
  };

  class Random;

  double train_batch(const Eigen::MatrixXf& inputs, const std::vector<std::uint8_t>& labels,
                     const TrainingOptions& options, Random& random);
  void backward(const Eigen::MatrixXf& inputs, double dropout);
  template <class Visitor>
  void visit_state(Visitor&& visit);

  std::vector<Layer> layers_;
  std::uint64_t updates_ = 0;
};

}  // namespace fashion
