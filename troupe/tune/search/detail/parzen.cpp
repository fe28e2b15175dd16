#include <troupe/tune/search/detail/normal.hpp>
#include <troupe/tune/search/detail/parzen.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace troupe::tune::detail {
namespace {

/// Kernels are weighed in blocks of this many, a constant, so that compilers make vectors of them.
constexpr std::size_t block = 64;
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

void add_match(double* __restrict__ acc, const double* __restrict__ category, double bonus,
               double x) {
  for (std::size_t i = 0; i < block; ++i)
    acc[i] += category[i] == x ? bonus : 0.0;
}

/// Cells narrower than this, in widths of a kernel, have a series.
constexpr double narrow = 0.1;

/// log of the mean of the standard normal density over [z - width / 2, z + width / 2], width <=
/// narrow, without its factor 1 / sqrt(2 pi): what an exponential would have,
/// log(sinh(t / 2) / (t / 2)) with t = z width, and a correction. An error of 1e-9 up to |z| = 10;
/// from |z| = 25 on, where it is below -300 and plays no part, less and less exact.
inline double narrow_cell(double z, double width) {
  const double w = width * width;
  const double square = z * z;
  const double all = square * w;
  const double t = all < 6.25 ? all : 6.25;
  const double sinh =
      t * (1.0 / 24 -
           t * (1.0 / 2880 - t * (1.0 / 181440 - t * (1.0 / 9676800 - t * (1.0 / 479001600)))));
  return sinh - 0.5 * square - w * (1.0 / 24 + t * (1.0 / 720 - t * (1.0 / 30240)) - w / 1440);
}

/// acc += narrow_cell for one block.
void add_narrow_cell(double* __restrict__ acc, const double* __restrict__ mean,
                     const double* __restrict__ inverse, double x, double width) {
  for (std::size_t i = 0; i < block; ++i)
    acc[i] += narrow_cell((x - mean[i]) * inverse[i], width * inverse[i]);
}

/// The same in cells narrower than `very_narrow`; for any z.
constexpr double very_narrow = 0.003;
void add_very_narrow_cell(double* __restrict__ acc, const double* __restrict__ mean,
                          const double* __restrict__ inverse, double x, double width) {
  const double share = width * width / 24;
  for (std::size_t i = 0; i < block; ++i) {
    const double z = (x - mean[i]) * inverse[i];
    const double w = share * (inverse[i] * inverse[i]);
    acc[i] -= (z * z) * (0.5 - w) + w;
  }
}

/// The same for any width. From |z| = 14 on only to 5 of its some -100.
double log_cell(double z, double width) {
  if (width <= narrow)
    return narrow_cell(z, width);
  const double edge = std::abs(z) - 0.5 * width;
  if (edge > 14)
    return -0.5 * edge * edge - 4;
  // Beyond ten widths nothing depends on the digits of less than 1e-23: the asymptotic series.
  if (edge > 10) {
    const double t = 1 / (edge * edge);
    const double beyond = edge * width + 0.5 * width * width;
    const double rest = beyond > 40 ? 1 : 1 - std::exp(-beyond) * edge / (edge + width);
    return std::log((1 - t * (1 - 3 * t * (1 - 5 * t))) / (edge * width) * rest) -
           0.5 * edge * edge;
  }
  if (width > 0.5 || std::abs(z) * width > 2)
    return log_normal_mass(z - 0.5 * width, z + 0.5 * width) + ln_sqrt_2pi - std::log(width);
  // Gauss and Legendre with 5 points: 1e-9 of the value at most, at a third of the time.
  constexpr double inner = 0.26923465505284155;  // half of the nodes
  constexpr double outer = 0.45308992296933198;
  const auto drop = [](double t) {  // exp(-t^2 / 2), t < 0.23
    const double s = 0.5 * t * t;
    return 1 - s * (1 - s / 2 * (1 - s / 3 * (1 - s / 4 * (1 - s / 5))));
  };
  const double near = std::exp(z * inner * width);
  const double far = std::exp(z * outer * width);
  const double mean = 0.28444444444444444 +
                      0.23931433524968324 * drop(inner * width) * (near + 1 / near) +
                      0.11846344252809454 * drop(outer * width) * (far + 1 / far);
  return std::log(mean) - 0.5 * z * z;
}

/// Adds up exp of terms that come in blocks, without overflow.
class LogSum {
public:
  void add(const double* terms) {
    double largest = terms[0];
    for (std::size_t i = 1; i < block; ++i)
      largest = terms[i] > largest ? terms[i] : largest;
    if (largest > top_) {
      sum_ = sum_ > 0 ? sum_ * std::exp(top_ - largest) : 0;
      top_ = largest;
    } else if (largest < top_ - negligible) {
      return;
    }
    for (std::size_t i = 0; i < block; ++i)
      if (terms[i] > top_ - negligible)
        sum_ += std::exp(terms[i] - top_);
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
  if (categorical || !exists(coordinate))
    return;
  const auto place =
      std::upper_bound(order_.begin(), order_.end(), coordinate,
                       [&](double x, std::uint32_t other) { return x < at_[other]; });
  order_.insert(place, index);
}

const ParzenColumn::Kernel& ParzenColumn::kernel(std::size_t observation, double sigma,
                                                 bool discrete) {
  Kernel& kernel = kernels_[observation];
  if (kernel.sigma != sigma) {
    const double scale = inv_sqrt_2 / sigma;
    const double x = at_[observation];
    const double mass = 0.5 * (std::erf((1 - x) * scale) + std::erf(x * scale));
    kernel.sigma = sigma;
    kernel.log_norm = std::log(mass * sigma) + ln_sqrt_2pi;
    kernel.type = discrete ? class_of(x, 1 / sigma) : 0;
  }
  return kernel;
}

std::uint32_t ParzenColumn::class_of(double mean, double inverse) {
  const auto [entry, added] =
      numbers_.try_emplace({mean, inverse}, static_cast<std::uint32_t>(classes_.size()));
  if (added)
    classes_.push_back({mean, inverse});
  return entry->second;
}

const std::vector<double>& ParzenColumn::cell(double middle, double width,
                                              std::span<const std::uint32_t> classes) {
  std::vector<double>& values = cells_[middle];
  values.resize(classes_.size(), nowhere);
  for (const std::uint32_t type : classes)
    if (!exists(values[type])) {
      const Class& kernel = classes_[type];
      values[type] = log_cell((middle - kernel.mean) * kernel.inverse, width * kernel.inverse);
    }
  return values;
}

void ParzenColumn::trim() {
  constexpr std::size_t most = 1 << 19;  // 4 MiB
  if (classes_.size() * (cells_.size() + 1) < most)
    return;
  classes_.clear();
  numbers_.clear();
  cells_.clear();
  for (Kernel& kernel : kernels_)
    kernel.sigma = 0;
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
    kernels.column = &columns[axes[a]];
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
  const bool discrete = kernels.kind == Kind::discrete;
  kernels.mean.assign(base_.size(), 0.0);
  kernels.inverse.assign(base_.size(), 0.0);
  if (discrete)
    kernels.type.assign(base_.size(), 0);
  std::vector<bool> listed;
  const auto put = [&](std::size_t kernel, double x, double sigma) {
    const ParzenColumn::Kernel& known = column.kernel(members[kernel], sigma, discrete);
    kernels.mean[kernel] = x;
    kernels.inverse[kernel] = 1 / sigma;
    kernels.sharpest = std::max(kernels.sharpest, 1 / sigma);
    base_[kernel] -= known.log_norm;
    if (!discrete)
      return;
    kernels.type[kernel] = known.type;
    listed.resize(column.classes());
    if (!listed[known.type])
      kernels.classes.push_back(known.type);
    listed[known.type] = true;
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
  if (kernels.kind == Kind::discrete) {
    kernels.type[prior] = kernels.column->class_of(0.5, 1);
    kernels.classes.push_back(kernels.type[prior]);
  }
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
  kernels.bonus = std::log((1 + smoothing) / smoothing);
  for (std::size_t i = 0; i < members.size(); ++i)
    base_[i] += kernels.miss;
  base_[members.size()] -= std::log(choices);
}

std::vector<double> Parzen::sample(Random& random, std::size_t count) const {
  std::vector<double> points(count * axes_.size());
  for (std::size_t c = 0; c < count; ++c) {
    const double at = random.uniform() * cumulative_.back();
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at);
    const auto kernel = static_cast<std::size_t>(found - cumulative_.begin());
    for (std::size_t a = 0; a < axes_.size(); ++a)
      points[a * count + c] = draw(axes_[a], kernel, random);
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

std::vector<double> Parzen::log_density(std::span<const double> points, std::size_t count) const {
  std::vector<double> densities(count);
  // Discrete axes: the cell of each point, and for wide ones what each class has in it.
  struct Cell {
    double middle = 0;
    double width = 0;
    const double* table = nullptr;
  };
  std::vector<std::vector<Cell>> cells(axes_.size());
  for (std::size_t a = 0; a < axes_.size(); ++a)
    for (std::size_t c = 0; axes_[a].kind == Kind::discrete && c < count; ++c) {
      const double x = points[a * count + c];
      const auto [low, high] = axes_[a].axis->cell(x);
      Cell cell{0.5 * (low + high), high - low};
      densities[c] += std::log(cell.width);
      if (cell.width * axes_[a].sharpest > narrow)
        cell.table = axes_[a].column->cell(cell.middle, cell.width, axes_[a].classes).data();
      cells[a].push_back(cell);
    }
  std::vector<LogSum> sums(count);
  std::array<double, block> terms;
  for (std::size_t start = 0; start < kernels_; start += block)
    for (std::size_t c = 0; c < count; ++c) {
      std::copy_n(base_.begin() + static_cast<std::ptrdiff_t>(start), block, terms.begin());
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        const Kernels& kernels = axes_[a];
        const double x = points[a * count + c];
        if (kernels.kind == Kind::continuous) {
          add_normal(terms.data(), &kernels.mean[start], &kernels.inverse[start], x);
        } else if (kernels.kind == Kind::categorical) {
          add_match(terms.data(), &kernels.mean[start], kernels.bonus, x);
        } else if (const Cell& cell = cells[a][c]; cell.table == nullptr) {
          const auto add =
              cell.width * kernels.sharpest > very_narrow ? add_narrow_cell : add_very_narrow_cell;
          add(terms.data(), &kernels.mean[start], &kernels.inverse[start], cell.middle, cell.width);
        } else {
          for (std::size_t i = 0; i < block; ++i)
            terms[i] += cell.table[kernels.type[start + i]];
        }
      }
      sums[c].add(terms.data());
    }
  for (std::size_t c = 0; c < count; ++c)
    densities[c] += sums[c].value();
  return densities;
}

}  // namespace troupe::tune::detail
