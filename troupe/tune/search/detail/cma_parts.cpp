#include <troupe/tune/search/detail/cma.hpp>
#include <troupe/tune/search/detail/normal.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

// What can be added to CMA-ES: learning rates, margin; and its state as data.

namespace troupe::tune::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// One learning rate: how much of the squared length of steps is signal?
double adapted(double rate, double signal, double square, double smoothing) {
  constexpr double target = 1.4;
  constexpr double speed = 0.1;
  const double noise = square - signal;
  if (!(noise > 0))
    return rate;
  const double ratio = (signal - smoothing / (2 - smoothing) * square) / noise;
  const double relative = std::clamp(ratio / target / rate - 1, -1.0, 1.0);
  return std::min(1.0, rate * std::exp(std::min(speed * rate, smoothing) * relative));
}

}  // namespace

/// Nomura, Akimoto and Ono 2023. The plain update is done; `axes_` and `roots_` are still those of
/// the old distribution.
void Cma::adapt_rates(const VectorXd& old_mean, double old_sigma, const MatrixXd& old) {
  constexpr double mean_smoothing = 0.1;
  constexpr double shape_smoothing = 0.03;
  const auto d = static_cast<double>(settings_.dimensions);
  const VectorXd mean_step = mean_ - old_mean;
  const MatrixXd old_covariance = old_sigma * old_sigma * old;
  const MatrixXd shape_step = sigma_ * sigma_ * shape_ - old_covariance;
  const VectorXd local_mean = whitened(mean_step) / old_sigma;
  MatrixXd local_shape;
  if (settings_.separable) {
    local_shape = shape_step.cwiseQuotient(old_covariance) / std::sqrt(2.0);
  } else {
    const MatrixXd inverse_root =
        axes_ * roots_.cwiseInverse().asDiagonal() * axes_.transpose() / old_sigma;
    local_shape = inverse_root * shape_step * inverse_root / std::sqrt(2.0);
  }

  Rates& r = rates_;
  r.mean_step = ((1 - mean_smoothing) * r.mean_step + mean_smoothing * local_mean).eval();
  r.shape_step = ((1 - shape_smoothing) * r.shape_step + shape_smoothing * local_shape).eval();
  r.mean_square = (1 - mean_smoothing) * r.mean_square + mean_smoothing * local_mean.squaredNorm();
  r.shape_square =
      (1 - shape_smoothing) * r.shape_square + shape_smoothing * local_shape.squaredNorm();
  const double before = r.mean_rate;
  r.mean_rate = adapted(r.mean_rate, r.mean_step.squaredNorm(), r.mean_square, mean_smoothing);
  r.shape_rate = adapted(r.shape_rate, r.shape_step.squaredNorm(), r.shape_square, shape_smoothing);

  mean_ = old_mean + r.mean_rate * mean_step;
  shape_ = old_covariance + r.shape_rate * shape_step;
  decompose();
  sigma_ = std::min(std::exp(roots_.array().log().sum() / d), 1e32);
  shape_ /= sigma_ * sigma_;
  // Where the mean moves more slowly, the best step size is larger.
  sigma_ *= before / r.mean_rate;
}

/// Hamano et al. 2022: every neighbouring value keeps a probability of 1 / (2 d population).
void Cma::apply_margin(const Cells& cells) {
  const VectorXd variance = variances();
  for (const std::size_t coordinate : settings_.stepped) {
    const auto j = static_cast<Index>(coordinate);
    apply_margin(coordinate, cells(coordinate, std::clamp(mean_[j], 0.0, 1.0)),
                 sigma_ * std::sqrt(variance[j]));
  }
}

void Cma::apply_margin(std::size_t coordinate, std::pair<double, double> cell, double deviation) {
  const auto j = static_cast<Index>(coordinate);
  const double margin = 1 / static_cast<double>(settings_.dimensions * settings_.population);
  double& mean = mean_[j];
  double& scale = scale_[j];
  const double sampled = deviation * scale;
  const auto [low, high] = cell;
  if (low <= 0 || high >= 1) {
    // An end of the range: the mean may lie far outside, but not out of reach of the next value.
    if (low <= 0 && high >= 1)
      return;
    const double reach = sampled * normal_quantile(1 - margin);
    if (low <= 0)
      mean = std::max(mean, high - reach);
    else
      mean = std::min(mean, low + reach);
    return;
  }
  const double below = normal_cdf((low - mean) / sampled);
  const double above = normal_cdf((mean - high) / sampled);
  const double half = margin / 2;
  const double raised_below = std::max(below, half);
  const double raised_above = std::max(above, half);
  const double middle = 1 - below - above;
  // What was added is taken from the masses in proportion to what they have beyond the margin.
  const double excess = 1 - raised_below - raised_above - middle;
  const double spare = raised_below + middle + raised_above - 3 * half;
  const auto renormalised = [&](double mass) {
    return std::clamp(mass + excess * (mass - half) / spare, 1e-10, 0.5 - 1e-10);
  };
  const double reach_below = normal_quantile(1 - renormalised(raised_below));
  const double reach_above = normal_quantile(1 - renormalised(raised_above));
  scale = (high - low) / ((reach_below + reach_above) * deviation);
  mean = (low * reach_above + high * reach_below) / (reach_below + reach_above);
}

namespace {

void append(std::vector<double>& numbers, const MatrixXd& matrix) {
  numbers.insert(numbers.end(), matrix.data(), matrix.data() + matrix.size());
}

/// Takes numbers off the front of a list whose length was checked.
class Numbers {
public:
  explicit Numbers(const List& list) : next_(list.data()) {}
  double one() { return (next_++)->as_double(); }
  template <class Matrix>
  void into(Matrix& matrix) {
    for (double& number : matrix.reshaped())
      number = one();
  }

private:
  const Value* next_;
};

}  // namespace

std::vector<double> Cma::numbers() const {
  std::vector<double> all{sigma_};
  append(all, mean_);
  append(all, scale_);
  append(all, path_s_);
  append(all, path_c_);
  append(all, shape_);
  if (settings_.adapt_learning_rate) {
    append(all, rates_.mean_step);
    append(all, rates_.shape_step);
    all.insert(all.end(),
               {rates_.mean_square, rates_.shape_square, rates_.mean_rate, rates_.shape_rate});
  }
  return all;
}

Value Cma::save() const {
  const std::vector<double> all = numbers();
  return Map{{"generation", generation_},
             {"numbers", List(all.begin(), all.end())},
             {"losses", List(recent_.begin(), recent_.end())}};
}

/// Could an update have left it so? Not asked is how the numbers hang together.
bool Cma::sound() const {
  const auto finite = [](const auto&... parts) { return (parts.allFinite() && ...); };
  const Rates& r = rates_;
  return std::isfinite(sigma_) && sigma_ > 0 &&
         finite(mean_, scale_, path_s_, path_c_, shape_, r.mean_step, r.shape_step) &&
         (scale_.array() > 0).all() && (variances().array() > 0).all() && r.mean_square >= 0 &&
         r.shape_square >= 0 && r.mean_rate > 0 && r.mean_rate <= 1 && r.shape_rate > 0 &&
         r.shape_rate <= 1 && std::isfinite(r.mean_square) && std::isfinite(r.shape_square);
}

Result<Cma> Cma::restore(CmaSettings settings, const Value& state) {
  const Error bad(ErrorCode::corrupt, "the state of a CMA-ES run is incomplete");
  const auto generation = find_count(state, "generation", INT64_MAX);
  const List* numbers = find_list(state, "numbers");
  const List* losses = find_list(state, "losses");
  if (!generation || numbers == nullptr || losses == nullptr)
    return bad;
  const auto d = static_cast<Index>(settings.dimensions);
  Cma cma(std::move(settings), VectorXd::Zero(d), 1.0);
  const auto is_double = [](const Value& value) { return value.is_double(); };
  const auto is_loss = [](const Value& value) { return is_within(value, -HUGE_VAL, HUGE_VAL); };
  if (numbers->size() != cma.numbers().size() ||
      losses->size() != (*generation == 0 ? 0 : cma.ring()) ||
      !std::all_of(numbers->begin(), numbers->end(), is_double) ||
      !std::all_of(losses->begin(), losses->end(), is_loss))
    return bad;
  Numbers source(*numbers);
  cma.generation_ = *generation;
  cma.sigma_ = source.one();
  for (VectorXd* vector : {&cma.mean_, &cma.scale_, &cma.path_s_, &cma.path_c_})
    source.into(*vector);
  source.into(cma.shape_);
  if (cma.settings_.adapt_learning_rate) {
    source.into(cma.rates_.mean_step);
    source.into(cma.rates_.shape_step);
    for (double* number : {&cma.rates_.mean_square, &cma.rates_.shape_square, &cma.rates_.mean_rate,
                           &cma.rates_.shape_rate})
      *number = source.one();
  }
  for (const Value& loss : *losses)
    cma.recent_.push_back(loss.as_double());
  if (!cma.sound())
    return Error(ErrorCode::corrupt, "the state of a CMA-ES run has numbers that it can not have");
  const MatrixXd shape = cma.shape_;
  cma.decompose();
  if (cma.shape_ != shape)  // it had to be mended
    return Error(ErrorCode::corrupt, "the state of a CMA-ES run has no covariance");
  return cma;
}

}  // namespace troupe::tune::detail
