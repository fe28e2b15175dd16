#include <troupe/tune/search/detail/normal.hpp>
#include <troupe/tune/search/detail/parzen.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

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

/// log of the integral of the standard normal density over [z - width / 2, z + width / 2].
double log_cell(double z, double width, double log_width) {
  const double tilt = z * width;
  const double square = tilt * tilt;
  // In a narrow cell the density is nearly exponential: log(sinh(tilt / 2) / (tilt / 2)) and a
  // correction, by their series. 1e-9 of the value at most where it matters, |z| < 8.
  if (width < 0.03 && square < 1) {
    const double sinh = square / 24 * (1 - square / 120 * (1 - square / 63));
    return normal_log_pdf(z) + log_width + sinh - width * width / 24 * (1 + square / 30);
  }
  // Beyond ten widths nothing depends on the digits of less than 1e-23: the asymptotic series.
  const double edge = std::abs(z) - 0.5 * width;
  if (edge > 10) {
    const double t = 1 / (edge * edge);
    const double beyond = edge * width + 0.5 * width * width;
    const double rest = beyond > 40 ? 1 : 1 - std::exp(-beyond) * edge / (edge + width);
    return normal_log_pdf(edge) + std::log((1 - t * (1 - 3 * t * (1 - 5 * t))) / edge * rest);
  }
  if (width > 0.5 || std::abs(z) * width > 2)
    return log_normal_mass(z - 0.5 * width, z + 0.5 * width);
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
  return normal_log_pdf(z) + std::log(width * mean);
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
  sigma_.push_back(0);
  log_mass_.push_back(0);
  if (categorical || !exists(coordinate))
    return;
  const auto place =
      std::upper_bound(order_.begin(), order_.end(), coordinate,
                       [&](double x, std::uint32_t other) { return x < at_[other]; });
  order_.insert(place, index);
}

double ParzenColumn::log_mass(std::size_t observation, double sigma) {
  if (sigma_[observation] != sigma) {
    const double scale = inv_sqrt_2 / sigma;
    const double x = at_[observation];
    log_mass_[observation] = std::log(0.5 * (std::erf((1 - x) * scale) + std::erf(x * scale)));
    sigma_[observation] = sigma;
  }
  return log_mass_[observation];
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
  const bool discrete = kernels.kind == Kind::discrete;
  if (discrete) {
    kernels.type.assign(base_.size(), 0);
  } else {
    kernels.mean.assign(base_.size(), 0.0);
    kernels.inverse.assign(base_.size(), 0.0);
  }
  const auto put = [&](std::size_t kernel, double x, double sigma) {
    const double log_mass = column.log_mass(members[kernel], sigma);
    if (!discrete) {
      kernels.mean[kernel] = x;
      kernels.inverse[kernel] = 1 / sigma;
      base_[kernel] -= log_mass + std::log(sigma) + ln_sqrt_2pi;
      return;
    }
    // Equal values follow each other and have at most three different widths.
    std::size_t type = kernels.mean.size();
    for (std::size_t back = 0; back < 3 && back < kernels.mean.size(); ++back) {
      const std::size_t candidate = kernels.mean.size() - 1 - back;
      if (kernels.mean[candidate] == x && kernels.inverse[candidate] == 1 / sigma)
        type = candidate;
    }
    if (type == kernels.mean.size()) {
      kernels.mean.push_back(x);
      kernels.inverse.push_back(1 / sigma);
      kernels.log_inverse.push_back(-std::log(sigma));
      kernels.log_mass.push_back(log_mass);
    }
    kernels.type[kernel] = static_cast<std::uint32_t>(type);
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
  const double log_mass = std::log(std::erf(0.5 * inv_sqrt_2));
  if (kernels.kind == Kind::discrete) {
    kernels.type[prior] = static_cast<std::uint32_t>(kernels.mean.size());
    kernels.mean.push_back(0.5);
    kernels.inverse.push_back(1);
    kernels.log_inverse.push_back(0);
    kernels.log_mass.push_back(log_mass);
  } else {
    kernels.mean[prior] = 0.5;
    kernels.inverse[prior] = 1;
    base_[prior] -= log_mass + ln_sqrt_2pi;
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
  const std::size_t at = kernels.kind == Kind::discrete ? kernels.type[kernel] : kernel;
  const double mean = kernels.mean[at];
  const double inverse = kernels.inverse[at];
  const double z =
      truncated_normal_quantile(random.uniform(), -mean * inverse, (1 - mean) * inverse);
  return kernels.axis->snap(mean + z / inverse);
}

std::vector<double> Parzen::log_density(std::span<const double> points, std::size_t count) const {
  // Discrete axes: what each class weighs in each cell that occurs.
  std::vector<std::vector<const double*>> cells(axes_.size());
  std::vector<std::map<double, std::vector<double>>> tables(axes_.size());
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const Kernels& kernels = axes_[a];
    if (kernels.kind != Kind::discrete)
      continue;
    for (std::size_t c = 0; c < count; ++c) {
      auto [entry, added] = tables[a].try_emplace(points[a * count + c]);
      std::vector<double>& table = entry->second;
      if (added) {
        const auto [low, high] = kernels.axis->cell(entry->first);
        const double width = high - low;
        const double log_width = std::log(width);
        table.resize(kernels.mean.size());
        for (std::size_t t = 0; t < table.size(); ++t)
          table[t] = log_cell((0.5 * (low + high) - kernels.mean[t]) * kernels.inverse[t],
                              width * kernels.inverse[t], log_width + kernels.log_inverse[t]) -
                     kernels.log_mass[t];
      }
      cells[a].push_back(table.data());
    }
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
        } else {
          const double* table = cells[a][c];
          for (std::size_t i = 0; i < block; ++i)
            terms[i] += table[kernels.type[start + i]];
        }
      }
      sums[c].add(terms.data());
    }
  std::vector<double> densities(count);
  for (std::size_t c = 0; c < count; ++c)
    densities[c] = sums[c].value();
  return densities;
}

}  // namespace troupe::tune::detail
