#include <troupe/tune/search/detail/normal.hpp>
#include <troupe/tune/search/detail/parzen.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace troupe::tune::detail {
namespace {

/// Kernels are weighed in blocks of this many, a constant, so that compilers make vectors of them.
constexpr std::size_t block = 32;
constexpr std::size_t lanes = 8;
constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
/// What is smaller by this in the logarithm than the largest term of a sum does not change it.
constexpr double negligible = 45;

/// acc -= ((x - mean) * inverse)^2 / 2 for one block.
void add_normal(double* __restrict__ acc, const double* __restrict__ mean,
                const double* __restrict__ inverse, double x) {
  for (std::size_t i = 0; i < block; ++i) {
    const double z = (x - mean[i]) * inverse[i];
    acc[i] -= 0.5 * (z * z);
  }
}

/// The same at the nearest point of a cell: no kernel has more in it.
void add_nearest(double* __restrict__ acc, const double* __restrict__ mean,
                 const double* __restrict__ inverse, double x, double half) {
  for (std::size_t i = 0; i < block; ++i) {
    const double gap = std::abs(x - mean[i]) - half;
    const double z = (gap > 0 ? gap : 0) * inverse[i];
    acc[i] -= 0.5 * (z * z);
  }
}

void take_mismatch(double* __restrict__ acc, const double* __restrict__ category, double loss,
                   double x) {
  for (std::size_t i = 0; i < block; ++i)
    acc[i] -= category[i] == x ? 0.0 : loss;
}

double largest(const double* __restrict__ terms) {
  double most[lanes];
  std::copy_n(terms, lanes, most);
  for (std::size_t i = lanes; i < block; i += lanes)
    for (std::size_t j = 0; j < lanes; ++j)
      most[j] = terms[i + j] > most[j] ? terms[i + j] : most[j];
  return *std::max_element(most, most + lanes);
}

/// factor * exp(log), because logarithms take time.
struct Scaled {
  double factor = 1;
  double log = 0;
};

/// The mean of exp(-t^2 / 2) over [z - width / 2, z + width / 2], to 1e-9 of it.
Scaled cell_mean(double z, double width) {
  z = std::abs(z);
  if (width <= 0.5 && z * width <= 2) {
    // Gauss and Legendre with 5 points. With exp(-z^2 / 2) taken out, there remains at the nodes
    // -t and t together 2 cosh(z t) exp(-t^2 / 2): both have short series here.
    constexpr double inner = 0.26923465505284155;  // of the width
    constexpr double outer = 0.45308992296933198;
    const auto pair = [&](double node) {
      const double t = node * width;
      const double s = 0.5 * t * t;
      const double u = z * z * s;  // cosh(z t) = sum of (2 u)^k / (2 k)!
      const double cosh =
          1 + u * (1 + u * (1. / 6 + u * (1. / 90 + u * (1. / 2520 +
                                                         u * (1. / 113400 + u * (1. / 7484400))))));
      return 2 * cosh *
             (1 - s * (1 - s * (1. / 2 - s * (1. / 6 - s * (1. / 24 - s * (1. / 120))))));
    };
    return {
        0.28444444444444444 + 0.23931433524968324 * pair(inner) + 0.11846344252809454 * pair(outer),
        -0.5 * z * z};
  }
  constexpr double half_sqrt_2pi = 1.25331413731550025;
  const double near = z - 0.5 * width;
  const double far = z + 0.5 * width;
  if (near <= 0)
    return {half_sqrt_2pi * (std::erf(far * inv_sqrt_2) + std::erf(-near * inv_sqrt_2)) / width, 0};
  if (near < 25)
    return {half_sqrt_2pi * (std::erfc(near * inv_sqrt_2) - std::erfc(far * inv_sqrt_2)) / width,
            0};
  // The asymptotic series.
  const double t = 1 / (near * near);
  const double rest = 1 - std::exp(-0.5 * width * (near + far)) * near / far;
  return {(1 - t * (1 - 3 * t * (1 - 5 * t))) / (near * width) * rest, -0.5 * near * near};
}

/// Adds up exp of terms without overflow.
class LogSum {
public:
  /// Terms up to this do not change the sum.
  [[nodiscard]] double floor() const { return top_ - negligible; }
  void add(double term) {
    if (term > top_) {
      sum_ = sum_ * std::exp(top_ - term) + 1;
      top_ = term;
    } else if (term > floor()) {
      sum_ += std::exp(term - top_);
    }
  }
  [[nodiscard]] double value() const { return top_ + std::log(sum_); }

private:
  double top_ = minus_infinity;
  double sum_ = 0;
};

}  // namespace

void ParzenColumn::add(double coordinate, bool categorical) {
  const auto index = static_cast<std::uint32_t>(at_.size());
  at_.push_back(coordinate);
  kernels_.emplace_back();
  if (!categorical && exists(coordinate))
    sort_in(index);
}

void ParzenColumn::move(std::size_t observation, double coordinate, bool categorical) {
  std::erase(order_, static_cast<std::uint32_t>(observation));
  at_[observation] = coordinate;
  kernels_[observation] = {};
  if (!categorical && exists(coordinate))
    sort_in(static_cast<std::uint32_t>(observation));
}

/// Among equals the older one comes first.
void ParzenColumn::sort_in(std::uint32_t observation) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return at_[a] < at_[b] || (at_[a] == at_[b] && a < b);
  };
  order_.insert(std::upper_bound(order_.begin(), order_.end(), observation, before), observation);
}

const ParzenColumn::Kernel& ParzenColumn::kernel(std::size_t observation, double sigma) {
  Kernel& kernel = kernels_[observation];
  if (kernel.sigma != sigma) {
    const double scale = inv_sqrt_2 / sigma;
    const double x = at_[observation];
    const double mass = 0.5 * (std::erf((1 - x) * scale) + std::erf(x * scale));
    kernel.sigma = sigma;
    kernel.log_norm = std::log(mass * sigma) + ln_sqrt_2pi;
  }
  return kernel;
}

Parzen::Parzen(std::span<const Axis> space, std::span<const std::size_t> axes,
               std::span<ParzenColumn> columns, std::span<const std::uint32_t> members,
               std::span<const double> weights, const ParzenOptions& options)
    : options_(options), kernels_(members.size() + 1), axes_(axes.size()) {
  cumulative_.reserve(kernels_);
  double total = 0;
  for (const double weight : weights)
    cumulative_.push_back(total += weight);
  cumulative_.push_back(total += options_.prior_weight);
  const std::size_t padded = (kernels_ + block - 1) / block * block;
  base_.assign(padded, minus_infinity);
  for (std::size_t i = 0; i < members.size(); ++i)
    base_[i] = std::log(weights[i] / total);
  base_[members.size()] = std::log(options_.prior_weight / total);

  std::vector<std::uint32_t> slot(columns.empty() ? 0 : columns[axes[0]].size(), UINT32_MAX);
  for (std::size_t i = 0; i < members.size(); ++i)
    slot[members[i]] = static_cast<std::uint32_t>(i);
  for (const std::uint32_t observation : options_.lone)
    slot[observation] = UINT32_MAX;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    Kernels& kernels = axes_[a];
    kernels.axis = &space[axes[a]];
    if (kernels.axis->categorical()) {
      add_categorical(columns[axes[a]], members, kernels);
    } else {
      kernels.kind = kernels.axis->continuous() ? Kind::continuous : Kind::discrete;
      add_numeric(columns[axes[a]], members, slot, kernels);
    }
  }
}

double Parzen::narrowest(const Kernels& kernels, double x) const {
  if (!options_.magic_clip)
    return 1e-12;
  const double blunt = 1 / std::min(100.0, 1 + static_cast<double>(kernels_));
  if (kernels.kind == Kind::continuous || options_.sharpness <= 1)
    return blunt / options_.sharpness;
  // Sharp kernels on a grid still reach the neighbours: else the search gets stuck in a cell.
  const auto [low, high] = kernels.axis->cell(x);
  return std::max(blunt / options_.sharpness, std::min(blunt, 0.5 * (high - low)));
}

void Parzen::add_numeric(ParzenColumn& column, std::span<const std::uint32_t> members,
                         std::span<const std::uint32_t> slot, Kernels& kernels) {
  kernels.mean.assign(base_.size(), 0.0);
  kernels.inverse.assign(base_.size(), 0.0);
  const auto put = [&](std::size_t kernel, double x, double sigma) {
    kernels.mean[kernel] = x;
    kernels.inverse[kernel] = 1 / sigma;
    base_[kernel] -= column.kernel(members[kernel], sigma).log_norm;
  };
  const double crowd = std::max(1.0, static_cast<double>(axes_.size()) / 3);
  for (const std::uint32_t observation : options_.lone) {
    const auto found = std::lower_bound(members.begin(), members.end(), observation);
    const double x = column.at(observation);
    put(static_cast<std::size_t>(found - members.begin()), x, narrowest(kernels, x) / crowd);
  }
  const auto place = [&](std::uint32_t observation, double x, double left, double right) {
    put(slot[observation], x, std::clamp(std::max(left, right), narrowest(kernels, x), 1.0));
  };
  // Neighbours among the members, in one walk along the axis.
  std::uint32_t current = UINT32_MAX;
  double previous_x = 0;
  double x = 0;
  bool first = true;
  const bool ends = options_.endpoints || members.size() - options_.lone.size() == 1;
  for (const std::uint32_t observation : column.order()) {
    if (slot[observation] == UINT32_MAX)
      continue;
    const double next = column.at(observation);
    if (current != UINT32_MAX) {
      place(current, x, first && !ends ? 0 : x - previous_x, next - x);
      first = false;
      previous_x = x;
    }
    current = observation;
    x = next;
  }
  if (current != UINT32_MAX)
    place(current, x, first && !ends ? 0 : x - previous_x, ends ? 1 - x : 0);

  add_prior(kernels);
}

void Parzen::add_prior(Kernels& kernels) {
  const std::size_t prior = kernels_ - 1;
  kernels.mean[prior] = 0.5;
  kernels.inverse[prior] = 1;
  base_[prior] -= std::log(std::erf(0.5 * inv_sqrt_2)) + ln_sqrt_2pi;
}

void Parzen::add_categorical(const ParzenColumn& column, std::span<const std::uint32_t> members,
                             Kernels& kernels) {
  const auto m = static_cast<double>(members.size());
  const auto choices = static_cast<double>(kernels.axis->count());
  kernels.kind = Kind::categorical;
  kernels.mean.assign(base_.size(), nowhere);
  for (std::size_t i = 0; i < members.size(); ++i)
    kernels.mean[i] = column.at(members[i]);
  const double smoothing = options_.prior_weight / (m + 1);
  const double total = 1 + choices * smoothing;
  kernels.miss = std::log(smoothing / total);
  kernels.loss = std::log((1 + smoothing) / smoothing);
  for (std::size_t i = 0; i < members.size(); ++i)
    base_[i] += kernels.miss + kernels.loss;
  base_[members.size()] += kernels.loss - std::log(choices);
}

std::vector<Parzen::Row> Parzen::sample(Random& random, std::size_t count) const {
  std::vector<Row> points(count);
  for (Row& point : points) {
    const double at = random.uniform() * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at);
    const auto kernel = static_cast<std::size_t>(found - cumulative_.begin());
    for (const Kernels& kernels : axes_)
      point.push_back(draw(kernels, kernel, random));
  }
  return points;
}

double Parzen::draw(const Kernels& kernels, std::size_t kernel, Random& random) const {
  if (kernels.kind == Kind::categorical) {
    const double observed = kernels.mean[kernel];
    const double spread = std::exp(kernels.miss) * static_cast<double>(kernels.axis->count());
    if (exists(observed) && random.uniform() >= spread)
      return observed;
    return kernels.axis->from_uniform(random.uniform());
  }
  const double mean = kernels.mean[kernel];
  const double inverse = kernels.inverse[kernel];
  const double z =
      truncated_normal_quantile(random.uniform(), -mean * inverse, (1 - mean) * inverse);
  return kernels.axis->snap(mean + z / inverse);
}

std::vector<double> Parzen::log_density(const std::vector<Row>& points) const {
  std::vector<double> densities(points.size());
  std::vector<Cell> cells;  // of each axis of each point
  bool exact = true;
  for (std::size_t p = 0; p < points.size(); ++p)
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      Cell& cell = cells.emplace_back(Cell{points[p][a], 0});
      if (axes_[a].kind != Kind::discrete)
        continue;
      const auto [low, high] = axes_[a].axis->cell(cell.middle);
      cell = {0.5 * (low + high), high - low};
      densities[p] += std::log(cell.width);
      exact = false;
    }
  std::vector<LogSum> sums(points.size());
  std::array<double, block> terms;
  // Backwards: the prior and the newest kernels, often the nearest ones, make most of the others
  // negligible.
  for (std::size_t start = base_.size(); start > 0;) {
    start -= block;
    for (std::size_t p = 0; p < points.size(); ++p) {
      const std::span at(&cells[p * axes_.size()], axes_.size());
      LogSum& sum = sums[p];
      if (!bound(start, at, sum.floor(), terms.data()))
        continue;
      for (std::size_t i = 0; i < block; ++i)
        if (terms[i] > sum.floor())
          sum.add(exact ? terms[i] : log_kernel(start + i, at));
    }
  }
  for (std::size_t p = 0; p < points.size(); ++p)
    densities[p] += sums[p].value();
  return densities;
}

bool Parzen::bound(std::size_t start, std::span<const Cell> at, double floor, double* terms) const {
  std::copy_n(base_.begin() + static_cast<std::ptrdiff_t>(start), block, terms);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const Kernels& kernels = axes_[a];
    const double x = at[a].middle;
    if (kernels.kind == Kind::continuous)
      add_normal(terms, &kernels.mean[start], &kernels.inverse[start], x);
    else if (kernels.kind == Kind::categorical)
      take_mismatch(terms, &kernels.mean[start], kernels.loss, x);
    else
      add_nearest(terms, &kernels.mean[start], &kernels.inverse[start], x, 0.5 * at[a].width);
    if (!(largest(terms) > floor))
      return false;
  }
  return true;
}

double Parzen::log_kernel(std::size_t kernel, std::span<const Cell> at) const {
  Scaled product{1, base_[kernel]};
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const Kernels& kernels = axes_[a];
    if (kernels.kind == Kind::categorical) {
      product.log -= kernels.mean[kernel] == at[a].middle ? 0 : kernels.loss;
      continue;
    }
    const double inverse = kernels.inverse[kernel];
    const Scaled mean =
        cell_mean((at[a].middle - kernels.mean[kernel]) * inverse, at[a].width * inverse);
    product.factor *= mean.factor;
    product.log += mean.log;
    if (product.factor < 1e-150 || product.factor > 1e150)
      product = {1, product.log + std::log(product.factor)};
  }
  return product.log + std::log(product.factor);
}

}  // namespace troupe::tune::detail
