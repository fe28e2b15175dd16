#include <troupe/tune/search/detail/acquisition_search.hpp>
#include <troupe/tune/search/detail/gp_searcher.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/sobol.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/gp.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace troupe::tune {
namespace detail {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Suggestions are at least this far from all others, in the unit cube.
constexpr double smallest_distance = 1e-6;

/// Where the best point is polished only what is better by this part of the spread of losses is
/// looked for. The process does not know how smooth the bottom is: it would look for the rest
/// there, again and again.
constexpr double polished_gain = 0.003;

/// While others run, at least one suggestion in so many is looked for all over the space.
constexpr std::size_t everywhere = 8;

/// Rungs lie at its powers, so at those of schedulers with the factor 4 too.
constexpr double rung_factor = 2;

// Counters of random numbers.
constexpr std::uint32_t counter_search = 1;
constexpr std::uint32_t counter_fill = 100;

/// In the order of GpOptions::Warp.
const std::vector<std::string_view> warp_names{"automatic", "none", "yeo_johnson"};

std::vector<Point> points_of(const std::vector<const Observation*>& observations) {
  std::vector<Point> points;
  for (const Observation* o : observations)
    points.push_back(o->point);
  return points;
}

}  // namespace

Value GpSearcher::options() const {
  return Map{{"startup_trials", option_count(options_.startup_trials)},
             {"warp", option_name(options_.warp, warp_names)},
             {"trust_region", options_.trust_region},
             {"fantasies", option_count(options_.fantasies)},
             {"max_observations", option_count(options_.max_observations)}};
}

Status GpSearcher::begin() {
  TROUPE_RETURN_IF_ERROR(gp_options(options()));
  sobol_.reset();
  if (design().size() <= Sobol::max_dimensions)
    sobol_ = std::make_shared<const Sobol>(design().size(), context().seed);
  features_ = Features(design());
  fits_ = {};
  region_ = {};
  rungs_ = RungResults(1, rung_factor);
  best_.reset();
  for (const Observation& observation : history().all())
    observed(observation);
  return ok();
}

Result<ModelSearcher::Proposal> GpSearcher::propose(TrialId trial, std::uint32_t attempt) const {
  if (design().size() == 0)
    return Proposal{};
  const GpData data =
      gp_data(history(), rungs_, 2 * design().size() + 2, options_.max_observations);
  if (history().size() < options_.startup_trials || data.seen.size() < 2)
    return Proposal{startup_point(trial, attempt), {}};
  const bool refit = fits_.over != history().over();
  const Fits fits = refit ? fit(data) : fits_;
  Map note;
  if (refit)
    note["fits"] = fits_data(fits);
  const Outlook found = outlook(data, fits);
  if (found.step && attempt == 0 && turn_to_step(trial)) {
    const TrustStep& step = *found.step;
    Point point = with_axes(data.best->point, trust_axes(data.best->point), step.point);
    if (is_safe(point, data, fits)) {
      note["step"] = List{step.gain, step.radius, step.length, data.best->losses[0]};
      return Proposal{std::move(point), std::move(note)};
    }
  }
  const auto made = acquisition(data, fits, trial, found.polished ? polished_gain : 0);
  std::optional<Point> point;
  if (made)
    point = acquisition_point(data, *made, fits, trial, attempt);
  if (!point)
    point = startup_point(trial, attempt + counter_fill);
  return Proposal{std::move(point), std::move(note)};
}

std::optional<Point> GpSearcher::startup_point(TrialId trial, std::uint32_t attempt) const {
  // Where everything failed so far, the point farthest from all that was tried; else the next of
  // the sequence.
  constexpr std::uint32_t choices = 64;
  const bool hopeless = history().over() > 0 &&
                        std::all_of(history().all().begin(), history().all().end(),
                                    [](const Observation& o) { return !o.over() || fails(o); });
  std::optional<Point> best;
  double farthest = -1;
  for (std::uint32_t i = 0; i < choices; ++i) {
    Point point;
    if (sobol_ != nullptr) {
      const std::uint64_t index = hopeless || i + attempt > 0
                                      ? random(trial, counter_fill + attempt).below(1U << 30U) + i
                                      : created();
      point = sobol_->point(index);
      for (std::size_t a = 0; a < point.size(); ++a)
        point[a] = design().axes()[a].from_uniform(point[a]);
      point = design().canonical(std::move(point));
    } else {
      point = random_point(trial, counter_fill + attempt + i);
    }
    if (!design().allowed(point) || !is_new(point))
      continue;
    if (!hopeless)
      return point;
    double nearest = 1e300;
    for (const Observation& o : history().all())
      nearest = std::min(nearest, (features_(o.point) - features_(point)).squaredNorm());
    if (nearest > farthest) {
      farthest = nearest;
      best = std::move(point);
    }
  }
  return best;
}

bool GpSearcher::is_new(const Point& point) const {
  return std::none_of(history().all().begin(), history().all().end(), [&](const Observation& o) {
    return chebyshev(design(), o.point, point) < smallest_distance;
  });
}

bool GpSearcher::turn_to_best(TrialId trial) const {
  // Chosen by measurement: eight at a time came a tenth closer after 96 trials (one to two standard
  // errors) than when all looks went over the whole space.
  return context().objectives.size() == 1 &&
         trial.value % std::min(history().running() + 1, everywhere) != 0;
}

std::optional<Point> GpSearcher::acquisition_point(const GpData& data,
                                                   const Acquisition& acquisition, const Fits& fits,
                                                   TrialId trial, std::uint32_t attempt) const {
  constexpr std::size_t around = 4;
  const VectorXd losses = data.losses(0);
  std::vector<std::size_t> order(data.seen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const Observation& o = *data.seen[i];
    return std::pair(o.violation, o.feasible() ? losses[static_cast<Index>(i)] : 0);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<const Observation*> best;
  for (std::size_t i = 0; i < std::min(order.size(), around); ++i)
    best.push_back(data.seen[order[i]]);
  const SurrogateParameters& main =
      fits.objectives.empty() ? fits.constraints.front() : fits.objectives.front();
  const VectorXd inverse_lengths =
      (0.5 * main.chosen().head(features_.size()).array()).exp().max(1e-2);
  const GpEffort effort = gp_effort(data.seen.size(), design().size());
  AcquisitionSearch search;
  search.spread = turn_to_best(trial) ? 0 : effort.spread;
  search.near_best = effort.near_best;
  if (sobol_ == nullptr)
    return std::nullopt;
  const auto ranked =
      search_acquisition(design(), features_, acquisition, inverse_lengths, points_of(best),
                         *sobol_, random(trial, counter_search), search);
  std::uint32_t skip = attempt;
  for (const RankedPoint& candidate : ranked)
    if (is_new(candidate.point)) {
      if (skip == 0)
        return candidate.point;
      --skip;
    }
  // On a grid the best ones are soon tried: `suggest` goes on near them.
  if (skip == attempt && !ranked.empty() && design().discrete())
    return ranked.front().point;
  return std::nullopt;
}

void GpSearcher::proposed(const Observation& observation, const Value& note) {
  const Map* map = note.get_if<Map>();
  if (map == nullptr)
    return;
  if (const Value* fits = map->find_key("fits"))
    if (auto restored = restore_fits(*fits); restored && restored->over <= history().over())
      fits_ = std::move(*restored);
  const List* step = find_list(note, "step");
  const auto length = [](const Value& v) { return is_finite(v) && v.as_double() >= 0; };
  if (step != nullptr && step->size() == 4 && std::all_of(step->begin(), step->end() - 1, length) &&
      is_finite(step->back()))
    region_.begin(observation.trial,
                  {{}, (*step)[0].as_double(), (*step)[1].as_double(), (*step)[2].as_double()},
                  (*step)[3].as_double());
}

void GpSearcher::observed(const Observation& observation) {
  if (context().objectives.size() == 1 && !observation.losses.empty() &&
      observation.losses[0] < infinity)
    rungs_.add(observation.trial, observation.step, observation.losses[0], observation.violation);
  if (!observation.over())
    return;
  const bool own = region_.waits_for(observation.trial);
  const bool good = !fails(observation) && observation.state == Observation::State::complete &&
                    observation.feasible();
  const double loss = good ? observation.losses[0] : infinity;
  if (own)
    region_.end(loss);
  if (!good)
    return;
  const Observation* best = best_ ? history().find(*best_) : nullptr;
  if (best != nullptr && !(loss < best->losses[0]))
    return;
  if (!own && best != nullptr) {
    const auto axes = trust_axes(best->point);
    double distance = infinity;
    if (axes == trust_axes(observation.point)) {
      const VectorXd scales = trust_scales(axes, fits_);
      distance = 0;
      for (std::size_t i = 0; i < axes.size(); ++i)
        distance += std::pow(
            scales[static_cast<Index>(i)] * (best->point[axes[i]] - observation.point[axes[i]]), 2);
      distance = std::sqrt(distance);
    }
    region_.moved(distance);
  }
  best_ = observation.trial;
}

Value GpSearcher::save_model() const {
  Map map{{"region", region_.save()}, {"rungs", rungs_.save()}};
  if (fits_.over > 0)
    map["fits"] = fits_data(fits_);
  if (best_)
    map["best"] = best_->value;
  return map;
}

/// Are they where `observed` puts them?
bool GpSearcher::consistent(const TrustRegion& region, std::optional<TrialId> best) const {
  const Observation* step = region.trial() ? history().find(*region.trial()) : nullptr;
  if (region.waiting() && (step == nullptr || step->over()))
    return false;
  const Observation* least = nullptr;
  for (const Observation& o : history().all())
    if (o.state == Observation::State::complete && o.feasible() && !fails(o) &&
        (least == nullptr || o.losses[0] < least->losses[0]))
      least = &o;
  const Observation* found = best ? history().find(*best) : nullptr;
  if (found == nullptr || least == nullptr)
    return !best && least == nullptr;
  return found->state == Observation::State::complete && found->feasible() && !fails(*found) &&
         found->losses[0] == least->losses[0];
}

Status GpSearcher::restore_model(const Value& state) {
  const Value* region = find_state(state, "region");
  const Value* rungs = find_state(state, "rungs");
  if (region == nullptr || rungs == nullptr)
    return incomplete_state(name());
  RungResults restored_rungs(1, rung_factor);
  TROUPE_RETURN_IF_ERROR(restored_rungs.restore(*rungs, history()));
  TrustRegion restored_region;
  TROUPE_RETURN_IF_ERROR(restored_region.restore(*region));
  Fits fits;
  if (const Value* stored = find_state(state, "fits")) {
    TROUPE_TRY(restored, restore_fits(*stored));
    fits = std::move(restored);
    if (fits.over > history().over())
      return incomplete_state(name());
  }
  std::optional<TrialId> best;
  if (const Value* stored = find_state(state, "best")) {
    best = trial_of(*stored);
    if (!best)
      return incomplete_state(name());
  }
  if (!consistent(restored_region, best))
    return incomplete_state(name());
  region_ = std::move(restored_region);
  rungs_ = std::move(restored_rungs);
  fits_ = std::move(fits);
  best_ = best;
  return ok();
}

Value GpSearcher::fits_data(const Fits& fits) const {
  const auto list = [](const std::vector<SurrogateParameters>& all) {
    List result;
    for (const SurrogateParameters& parameters : all)
      result.push_back(parameters.save());
    return result;
  };
  Map map{{"over", fits.over},
          {"objectives", list(fits.objectives)},
          {"constraints", list(fits.constraints)}};
  if (fits.failure)
    map["failure"] = fits.failure->save();
  return map;
}

Result<GpSearcher::Fits> GpSearcher::restore_fits(const Value& state) const {
  const Error bad(ErrorCode::corrupt, "the fits of the searcher gp are incomplete");
  const auto over = find_count(state, "over", most_trials);
  if (!over)
    return bad;
  Fits fits;
  fits.over = *over;
  const std::pair<std::string_view, std::vector<SurrogateParameters>*> parts[] = {
      {"objectives", &fits.objectives}, {"constraints", &fits.constraints}};
  for (const auto& [key, all] : parts) {
    const List* list = find_list(state, key);
    const std::size_t expected =
        all == &fits.objectives ? context().objectives.size() : context().constraints.size();
    if (list == nullptr || list->size() != expected)
      return bad;
    for (const Value& value : *list) {
      TROUPE_TRY(parameters, SurrogateParameters::restore(value, features_.size()));
      all->push_back(std::move(parameters));
    }
  }
  if (const Value* failure = find_state(state, "failure")) {
    TROUPE_TRY(parameters, SurrogateParameters::restore(*failure, features_.size()));
    fits.failure = std::move(parameters);
  }
  return fits;
}

}  // namespace detail

std::shared_ptr<Searcher> gp(GpOptions options) {
  return std::make_shared<detail::GpSearcher>(options);
}

Result<GpOptions> gp_options(const Value& options) {
  GpOptions result;
  detail::OptionReader reader("gp", options);
  reader.read("startup_trials", result.startup_trials, 2, 100'000);
  reader.read("warp", result.warp, detail::warp_names);
  reader.read("trust_region", result.trust_region);
  reader.read("fantasies", result.fantasies, 1, 256);
  reader.read("max_observations", result.max_observations, 50, 2000);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return result;
}

}  // namespace troupe::tune
