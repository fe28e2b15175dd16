#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace troupe::tune {
namespace {

using detail::Observation;
using detail::Point;

/// Counters of random numbers from here on belong to this class.
constexpr std::uint32_t own_counters = 1'000'000;
/// Points near a proposal drawn before random ones are taken.
constexpr std::uint32_t max_near = 100;
/// Random configurations drawn before the search for an allowed or new one is given up.
constexpr std::uint32_t max_draws = 10'000;
/// Grids up to this size are searched cell by cell for what was not tried, small ones soon.
constexpr std::uint64_t max_scan = std::uint64_t{1} << 24;
constexpr std::uint64_t small_grid = std::uint64_t{1} << 20;

constexpr std::string_view note_point = "point";
constexpr std::string_view note_model = "model";

/// A point that differs from `point` in one existing parameter at least, most of the time: by up to
/// `reach` >= 1 steps of a grid, another category, or about reach / 512 of a continuous range.
Point moved(const detail::Design& design, Point point, double reach, Random& random) {
  const std::size_t first = random.below(point.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    const detail::Axis& axis = design.axes()[i];
    const bool moves = i == first || random.chance(1 / static_cast<double>(point.size()));
    if (!moves || !detail::exists(point[i]))
      continue;
    if (axis.categorical()) {
      point[i] = static_cast<double>(random.below(axis.count()));
    } else if (axis.continuous()) {
      point[i] += random.normal() * reach / 512;
    } else {
      const auto last = static_cast<double>(axis.count() - 1);
      const double steps = 1 + static_cast<double>(random.below(static_cast<std::uint64_t>(reach)));
      const double index =
          static_cast<double>(axis.index(point[i])) + (random.chance(0.5) ? steps : -steps);
      point[i] = axis.coordinate(static_cast<std::uint64_t>(std::clamp(index, 0.0, last)));
    }
  }
  return point;
}

Error no_objective(const std::string& name) {
  return Error(ErrorCode::invalid_argument,
               "the searcher " + name +
                   " learns from results, and there is no objective: set TuneConfig.metric and "
                   "mode, or SearchContext.objectives where no Tuner runs");
}

}  // namespace

Status ModelSearcher::setup(const SearchContext& context) {
  TROUPE_RETURN_IF_ERROR(context.space.check());
  TROUPE_RETURN_IF_ERROR(detail::check_objectives(context.objectives, "SearchContext.objectives"));
  if (needs_objective() && context.objectives.empty())
    return no_objective(name());
  const std::size_t wanted = context.objectives.size();
  if (wanted > max_objectives())
    return Error(ErrorCode::invalid_argument,
                 "the searcher " + name() + " serves at most " + std::to_string(max_objectives()) +
                     (max_objectives() == 1 ? " objective" : " objectives") + ", and there are " +
                     std::to_string(wanted) + ": take " + (wanted <= 3 ? "gp, " : "") +
                     "tpe, nsga2 or nsga3");
  context_ = context;
  design_ = detail::Design(context.space);
  history_ = {};
  taken_.clear();
  created_ = 0;
  points_ = 0;
  TROUPE_RETURN_IF_ERROR(complete_points());
  take_known_results();
  return begin();
}

Status ModelSearcher::complete_points() {
  std::vector<Config>& points = context_.points_to_evaluate;
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto config = design_.complete_point(points[i], context_.seed, i);
    if (!config)
      return std::move(config).error().with_context("points_to_evaluate[" + std::to_string(i) +
                                                    ']');
    points[i] = config.take();
  }
  return ok();
}

void ModelSearcher::take_known_results() {
  std::uint32_t number = ~std::uint32_t{0};
  for (const KnownResult& known : context_.known_results) {
    const auto config = design_.adopt(known.config);
    if (!config)
      continue;
    const TrialId trial(number--);
    history_.begin(trial, *design_.encode(*config), detail::fingerprint(*config));
    complete(*history_.find(trial), known.ending, &known.metrics);
  }
}

Result<Suggestion> ModelSearcher::suggest(TrialId trial) const {
  if (context_.num_samples && created_ >= *context_.num_samples)
    return Suggestion::exhausted();
  if (points_ < context_.points_to_evaluate.size())
    return Suggestion::of(context_.points_to_evaluate[points_],
                          Map{{std::string(note_point), points_}});
  const auto cells = design_.cells();
  const bool all_seen = cells && history_.distinct() >= *cells;
  if (!all_seen) {
    TROUPE_TRY(suggestion, proposal(trial, true));
    if (suggestion.kind != Suggestion::Kind::exhausted)
      return suggestion;
    if (history_.size() == 0 && design_.constrained())
      return Error(
          ErrorCode::invalid_argument,
          "no configuration of param_space keeps all of its rules; loosen the constraints");
  }
  if (!context_.allow_repeats)
    return Suggestion::exhausted();
  return proposal(trial, false);
}

bool ModelSearcher::fits(const Config& config, bool fresh) const {
  return design_.allowed(config) && !(fresh && history_.seen(detail::fingerprint(config)));
}

Result<Suggestion> ModelSearcher::proposal(TrialId trial, bool fresh) const {
  std::optional<Point> last;
  for (std::uint32_t attempt = 0; attempt < attempts(); ++attempt) {
    TROUPE_TRY(proposal, propose(trial, attempt));
    if (proposal.wait && history_.running() > 0)
      return Suggestion::nothing_now();
    if (proposal.exhausted && fresh)
      return Suggestion::exhausted();
    if (!proposal.point)
      break;
    last = design_.canonical(std::move(*proposal.point));
    Config config = design_.decode(*last);
    if (fits(config, fresh))
      return Suggestion::of(std::move(config),
                            Map{{std::string(note_model), std::move(proposal.note)}});
  }
  if (fresh && taken_.all())
    return Suggestion::exhausted();
  if (last && needs_objective())
    if (auto config = nearby(*last, trial, fresh))
      return Suggestion::of(std::move(*config), Map{{std::string(note_model), Value()}});
  return random_suggestion(trial, fresh);
}

std::optional<Config> ModelSearcher::nearby(const Point& point, TrialId trial, bool fresh) const {
  if (point.empty())
    return std::nullopt;
  Random random = this->random(trial, own_counters - 2);
  for (std::uint32_t i = 0; i < max_near; ++i) {
    // From the next value to 256 steps away.
    const double reach = std::exp2(8.0 * i / max_near);
    Config config = design_.decode(design_.canonical(moved(design_, point, reach, random)));
    if (fits(config, fresh))
      return config;
  }
  return std::nullopt;
}

Result<Suggestion> ModelSearcher::random_suggestion(TrialId trial, bool fresh) const {
  const auto note = Map{{std::string(note_model), Value()}};
  const std::uint64_t cells = design_.cells().value_or(UINT64_MAX);
  // Where nearly everything was tried, looking at the cells is faster than drawing.
  const std::uint32_t draws = cells <= small_grid ? 100 : max_draws;
  for (std::uint32_t i = 0; i < draws; ++i) {
    Config config = design_.sample(context_.seed, trial.value, own_counters + i);
    if (fits(config, fresh))
      return Suggestion::of(std::move(config), note);
  }
  if (!fresh)
    if (auto config = tried_before(trial))
      return Suggestion::of(std::move(*config), note);
  if (fresh && cells <= max_scan) {
    if (auto config = unseen_cell(trial))
      return Suggestion::of(std::move(*config), note);
    return Suggestion::exhausted();
  }
  if (!design_.constrained())
    return Suggestion::exhausted();
  return Error(
      ErrorCode::invalid_argument,
      std::to_string(draws) +
          " random configurations in a row broke a rule of param_space, the last one '" +
          design_.space()
              .broken_rule(design_.sample(context_.seed, trial.value, own_counters + draws - 1))
              .value_or("it was tried before") +
          "'; loosen the constraints, or choose ranges that satisfy them more often");
}

std::optional<Config> ModelSearcher::unseen_cell(TrialId trial) const {
  const std::uint64_t cells = *design_.cells();
  const std::uint64_t start = random(trial, own_counters - 1).below(cells);
  Config config;
  const auto found = taken_.find_free(cells, start, [&](std::uint64_t cell) {
    config = design_.decode(design_.cell(cell));
    return fits(config, true);
  });
  return found ? std::optional(std::move(config)) : std::nullopt;
}

std::optional<Config> ModelSearcher::tried_before(TrialId trial) const {
  const auto& all = history_.all();
  const std::uint64_t start = all.empty() ? 0 : random(trial, own_counters - 1).below(all.size());
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    Config config = design_.decode(all[static_cast<std::size_t>((start + i) % all.size())].point);
    if (fits(config, false))
      return config;
  }
  return std::nullopt;
}

Point ModelSearcher::random_point(TrialId trial, std::uint32_t counter) const {
  Config config;
  // Each draw has a stream of its own; `counter` tells the callers apart.
  for (std::uint32_t i = 0; i < 100; ++i) {
    config = design_.sample(context_.seed, trial.value, counter * 100 + i);
    if (design_.allowed(config))
      break;
  }
  return design_.encode(config).value_or(Point(design_.size()));
}

void ModelSearcher::record(TrialId trial, const Config& config, const Value& note) {
  ++created_;
  const Map* map = note.get_if<Map>();
  const Value* model = map != nullptr ? map->find_key(note_model) : nullptr;
  const std::size_t points = context_.points_to_evaluate.size();
  if (const auto point = detail::find_count(note, note_point, points); point && *point < points)
    points_ = std::max(points_, *point + 1);
  const auto adopted = design_.adopt(config);
  // A trial from elsewhere may lie outside of the space: nothing can be learned from it.
  if (!adopted || history_.find(trial) != nullptr)
    return;
  history_.begin(trial, *design_.encode(*adopted), detail::fingerprint(*adopted));
  proposed(*history_.find(trial), model != nullptr ? *model : Value());
}

void ModelSearcher::amend(TrialId trial, const Config& config) {
  taken_.clear();
  const auto adopted = design_.adopt(config);
  const Observation* observation = history_.find(trial);
  if (!adopted || observation == nullptr || observation->over())
    return;
  history_.amend(trial, *design_.encode(*adopted), detail::fingerprint(*adopted));
  amended(*observation);
}

void ModelSearcher::learn(Observation& observation, const Metrics& metrics) const {
  std::vector<double> losses;
  for (const Objective& objective : context_.objectives) {
    const auto value = metric_number(metrics, objective.metric);
    const double loss = value ? -score_of(*value, objective.mode) : detail::infinity;
    losses.push_back(loss == loss ? loss : detail::infinity);
  }
  std::vector<double> excess;
  for (const std::string& constraint : context_.constraints)
    excess.push_back(metric_number(metrics, constraint).value_or(detail::infinity));
  const Value* step = metrics.find("training_iteration");
  observation.step = step != nullptr && step->is_int() && step->as_int() > 0
                         ? static_cast<std::uint64_t>(step->as_int())
                         : 1;
  observation.losses = std::move(losses);
  observation.set_excess(std::move(excess));
}

void ModelSearcher::on_result(TrialId trial, const Metrics& metrics) {
  Observation* observation = history_.find(trial);
  if (observation == nullptr || observation->over())
    return;
  learn(*observation, metrics);
  observed(*observation);
}

void ModelSearcher::on_complete(TrialId trial, Ending ending, const Metrics* last) {
  Observation* observation = history_.find(trial);
  if (observation == nullptr || observation->over())
    return;
  complete(*observation, ending, last);
  observed(*observation);
}

void ModelSearcher::complete(Observation& observation, Ending ending, const Metrics* last) {
  if (last != nullptr)
    learn(observation, *last);
  using State = Observation::State;
  State state = State::failed;
  if (ending == Ending::stopped)
    state = State::pruned;
  else if (ending == Ending::finished && last != nullptr && is_number(*last))
    state = State::complete;
  history_.finish(observation, state);
}

bool ModelSearcher::is_number(const Metrics& metrics) const {
  return std::all_of(context_.objectives.begin(), context_.objectives.end(),
                     [&](const Objective& objective) {
                       const auto value = metric_number(metrics, objective.metric);
                       return value && *value == *value;
                     });
}

Value ModelSearcher::save() const {
  return Map{{"created", created_},
             {"points", points_},
             {"history", history_.save()},
             {"model", save_model()}};
}

/// Could it have come about in this space, with these objectives and constraints?
bool ModelSearcher::possible(const Observation& o) const {
  const bool told = o.step > 0;
  return o.step <= INT64_MAX && design_.possible(o.point) &&
         o.losses.size() == (told ? context_.objectives.size() : 0) &&
         o.excess.size() == (told ? context_.constraints.size() : 0) &&
         std::none_of(o.losses.begin(), o.losses.end(), [](double l) { return std::isnan(l); }) &&
         (told || o.state != Observation::State::complete);
}

Status ModelSearcher::restore(const Value& state) {
  Status status = restore_parts(state);
  // What it would not have saved so is none of its states, wherever the difference lies.
  if (status && save() != state)
    status = Error(ErrorCode::corrupt, "the state of the searcher " + name() +
                                           " contradicts itself: it was not saved by it");
  if (!status)
    TROUPE_RETURN_IF_ERROR(setup(SearchContext(context_)));
  return status;
}

Status ModelSearcher::restore_parts(const Value& state) {
  const auto created = detail::find_count(state, "created", detail::most_trials);
  const auto points = detail::find_count(state, "points", context_.points_to_evaluate.size());
  const Value* history = detail::find_state(state, "history");
  const Value* model = detail::find_state(state, "model");
  if (!created || !points || history == nullptr || model == nullptr)
    return detail::incomplete_state(name());
  detail::History restored;
  TROUPE_RETURN_IF_ERROR(restored.restore(*history, design_.size()));
  for (const Observation& observation : restored.all())
    if (!possible(observation))
      return Error(ErrorCode::corrupt, "the state of the searcher " + name() + ": trial " +
                                           std::to_string(observation.trial.value) +
                                           " does not fit the space or the objectives");
  history_ = std::move(restored);
  taken_.clear();
  created_ = *created;
  points_ = *points;
  return restore_model(*model);
}

Status ModelSearcher::restore_model(const Value& state) {
  if (state.is_null())
    return ok();
  return Error(ErrorCode::corrupt, "the searcher " + name() + " has no state of a model");
}

}  // namespace troupe::tune
