#include <troupe/tune/search/bohb.hpp>
#include <troupe/tune/search/detail/kernel_density.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/rung_results.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace troupe::tune {
namespace {

using detail::KernelDensity;
using detail::Observation;
using detail::Point;
using detail::RungResults;

Value options_data(const BohbOptions& options) {
  return Map{{"grace_period", detail::option_count(options.grace_period)},
             {"reduction_factor", options.reduction_factor},
             {"random_fraction", options.random_fraction},
             {"good_fraction", options.good_fraction},
             {"min_points", options.min_points},
             {"candidates", options.candidates},
             {"bandwidth_factor", options.bandwidth_factor},
             {"min_bandwidth", options.min_bandwidth}};
}

class Bohb final : public ModelSearcher {
public:
  explicit Bohb(const BohbOptions& options) : options_(options) {}

  std::string name() const override { return "bohb"; }
  Value options() const override { return options_data(options_); }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Bohb>(*this); }

protected:
  Status begin() override {
    TROUPE_RETURN_IF_ERROR(bohb_options(options()));
    results_ = RungResults(options_.grace_period, options_.reduction_factor);
    for (const Observation& known : history().all())
      observed(known);
    return ok();
  }
  void observed(const Observation& observation) override {
    if (observation.state == Observation::State::failed)
      results_.fail(observation.trial);
    else if (!observation.losses.empty())
      results_.add(observation.trial, observation.step, observation.losses[0],
                   observation.violation);
  }
  Value save_model() const override { return results_.save(); }
  Status restore_model(const Value& state) override { return results_.restore(state, history()); }

  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override {
    // A trial is random or not, whatever its attempts give.
    if (random(trial, 0).uniform() < options_.random_fraction)
      return Proposal{};
    const auto densities = model();
    if (!densities)
      return Proposal{};
    const auto& [good, bad] = *densities;
    Random numbers = random(trial, attempt + 1);
    // Densities below this count as this (the original's 1e-32).
    const double floor = std::log(1e-32);
    Proposal proposal;
    double best = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < options_.candidates; ++i) {
      Point point = design().canonical(good.sample(numbers, options_.bandwidth_factor));
      const double score =
          std::max(bad.log_density(point), floor) - std::max(good.log_density(point), floor);
      if (score < best) {
        best = score;
        proposal.point = std::move(point);
      }
    }
    return proposal;
  }

private:
  /// The densities of good and bad points at the longest rung that has enough; nothing: none has.
  std::optional<std::pair<KernelDensity, KernelDensity>> model() const {
    const std::size_t axes = design().size();
    const std::size_t least = std::max<std::size_t>(options_.min_points, axes + 1);
    for (auto rung = results_.rungs().rbegin(); rung != results_.rungs().rend(); ++rung) {
      const std::size_t count = rung->size();
      const auto share =
          static_cast<std::size_t>(options_.good_fraction * static_cast<double>(count));
      const std::size_t good = std::max(least, share);
      if (count < good + least)
        continue;
      std::vector<Point> points;
      for (const RungResults::Entry& entry : *rung)
        if (const Observation* observation = history().find(entry.trial))
          points.push_back(observation->point);
      if (points.size() < count)
        continue;
      const auto middle = points.begin() + static_cast<std::ptrdiff_t>(good);
      return std::pair(
          KernelDensity(design().axes(), {points.begin(), middle}, options_.min_bandwidth),
          KernelDensity(design().axes(), {middle, points.end()}, options_.min_bandwidth));
    }
    return std::nullopt;
  }

  BohbOptions options_;
  RungResults results_;
};

}  // namespace

Result<BohbOptions> bohb_options(const Value& options) {
  constexpr double tiny = 1e-9;
  BohbOptions bohb;
  detail::OptionReader reader("bohb", options);
  reader.read("grace_period", bohb.grace_period, 1, 1'000'000'000'000);
  reader.read("reduction_factor", bohb.reduction_factor, 1.01, 1e9);
  reader.read("random_fraction", bohb.random_fraction, 0, 1);
  reader.read("good_fraction", bohb.good_fraction, tiny, 1 - tiny);
  reader.read("min_points", bohb.min_points, 0, 1'000'000);
  reader.read("candidates", bohb.candidates, 1, 10'000);
  reader.read("bandwidth_factor", bohb.bandwidth_factor, tiny, 1e9);
  reader.read("min_bandwidth", bohb.min_bandwidth, tiny, 1);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return bohb;
}

std::shared_ptr<Searcher> bohb(BohbOptions options) {
  return std::make_shared<Bohb>(options);
}

}  // namespace troupe::tune
