#include <troupe/base/random.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/schedule/asha.hpp>
#include <troupe/tune/schedule/fifo.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::tune {
namespace {

constexpr std::size_t max_rungs = 64;  // one bit each in Live::judged

/// Rung times are products of doubles: a time within this of one has reached it.
bool reached(double rung, double time) {
  return time >= rung * (1 - 1e-9);
}

Error wrong(const std::string& what) {
  return Error(ErrorCode::invalid_argument, "asha: " + what);
}

std::string text(double value) {
  return to_json(value == std::trunc(value) && std::abs(value) < 1e15
                     ? Value(static_cast<std::int64_t>(value))
                     : Value(value));
}

Status check_numbers(const AshaOptions& o) {
  if (!std::isfinite(o.max_t) || o.max_t <= 0)
    return wrong("max_t is " + text(o.max_t) + ", but must be above 0");
  if (!std::isfinite(o.grace_period) || o.grace_period <= 0 || o.grace_period > o.max_t)
    return wrong("grace_period is " + text(o.grace_period) +
                 ", but must be above 0 and at most max_t (" + text(o.max_t) + ")");
  if (!std::isfinite(o.reduction_factor) || o.reduction_factor <= 1)
    return wrong("reduction_factor is " + text(o.reduction_factor) + ", but must be above 1");
  if (o.brackets == 0)
    return wrong("brackets is 0, but must be at least 1");
  if (o.time_attr.empty())
    return wrong("time_attr is empty; name a metric that grows, such as training_iteration");
  return ok();
}

std::vector<double> rung_times(const AshaOptions& o) {
  std::vector<double> times;
  for (double time = o.grace_period; reached(time, o.max_t) && times.size() <= max_rungs;
       time *= o.reduction_factor)
    times.push_back(time);
  return times;
}

/// How many of `n` scores stand above the line, so that the next judgement finds it there.
std::size_t kept(std::size_t n, const AshaOptions& o) {
  if (o.strict) {
    const double position = (1 - 1 / o.reduction_factor) * static_cast<double>(n - 1);
    return n - 1 - static_cast<std::size_t>(position);
  }
  const double share = std::floor(static_cast<double>(n + 1) / o.reduction_factor + 1e-9);
  return std::max<std::size_t>(1, static_cast<std::size_t>(share));
}

}  // namespace

Asha::Asha(AshaOptions options) : options_(std::move(options)) {}

Value Asha::options() const {
  Map map{{"time_attr", options_.time_attr},
          {"max_t", options_.max_t},
          {"grace_period", options_.grace_period},
          {"reduction_factor", options_.reduction_factor},
          {"brackets", options_.brackets},
          {"strict", options_.strict},
          {"metric", options_.metric}};
  if (options_.mode)
    map["mode"] = to_string(*options_.mode);
  return map;
}

std::unique_ptr<Scheduler> Asha::clone() const {
  return std::make_unique<Asha>(*this);
}

Status Asha::setup(const ScheduleContext& context) {
  TROUPE_RETURN_IF_ERROR(check_numbers(options_));
  if (!options_.metric.empty() && !context.metric.empty() && options_.metric != context.metric)
    return wrong("AshaOptions.metric is '" + options_.metric + "', and that of the search '" +
                 context.metric + "'; leave out AshaOptions.metric");
  const std::string& metric = options_.metric.empty() ? context.metric : options_.metric;
  if (metric.empty())
    return wrong(
        "it compares trials by a metric, but none is named; set TuneConfig.metric, or "
        "AshaOptions.metric where no Tuner runs");
  const std::vector<double> times = rung_times(options_);
  if (times.size() > max_rungs)
    return wrong("there would be more than " + std::to_string(max_rungs) +
                 " rungs; raise reduction_factor or grace_period");
  if (options_.brackets > times.size())
    return wrong("brackets is " + std::to_string(options_.brackets) + ", but only " +
                 std::to_string(times.size()) + " have a rung up to max_t");
  const Mode mode = options_.mode.value_or(context.mode);
  if (mode > enum_last(mode))
    return wrong("the mode of the metric '" + metric + "' must be Mode::min or Mode::max");
  context_ = context;
  metric_ = metric;
  mode_ = mode;
  live_.clear();
  brackets_.assign(options_.brackets, {});
  for (std::size_t s = 0; s < brackets_.size(); ++s)
    for (std::size_t k = s; k < times.size(); ++k)
      brackets_[s].emplace_back(times[k]);
  return ok();
}

std::vector<std::string> Asha::required_metrics() const {
  return {options_.time_attr, metric_};
}

std::uint32_t Asha::draw_bracket(TrialId trial) const {
  if (brackets_.size() == 1)
    return 0;
  std::vector<double> weights;
  double sum = 0;
  for (const auto& rungs : brackets_) {
    const auto fewer = static_cast<double>(brackets_[0].size() - rungs.size());
    weights.push_back(std::exp(-fewer));
    sum += weights.back();
  }
  Random random(context_.seed, trial.value, RandomPurpose::scheduler);
  double point = random.uniform() * sum;
  for (std::uint32_t s = 0; s + 1 < weights.size(); ++s) {
    if (point < weights[s])
      return s;
    point -= weights[s];
  }
  return static_cast<std::uint32_t>(weights.size() - 1);
}

void Asha::on_trial_add(TrialId trial, const Config&) {
  live_[trial].bracket = draw_bracket(trial);
}

int Asha::rung_for(const Live& live, double time) const {
  const std::vector<Rung>& rungs = brackets_[live.bracket];
  for (std::size_t k = rungs.size(); k-- > 0;) {
    const bool judged = (live.judged >> k & 1U) != 0;
    if (judged && !options_.strict)
      return -1;
    if (!judged && reached(rungs[k].time(), time))
      return static_cast<int>(k);
  }
  return -1;
}

bool Asha::survives(const Rung& rung, double score) const {
  const std::size_t others = rung.size();
  if (!options_.strict) {
    if (static_cast<double>(others + 1) < options_.reduction_factor)
      return true;
    return !rung.worst_kept() || !better_score(*rung.worst_kept(), score);
  }
  if (others == 0)
    return true;
  const double position = (1 - 1 / options_.reduction_factor) * static_cast<double>(others - 1);
  const double low = *rung.best_dropped();
  const double high = rung.worst_kept().value_or(low);
  const double cutoff = low + (position - std::floor(position)) * (high - low);
  return score >= cutoff;
}

Result<ScheduleDecision> Asha::decide(TrialId trial, const Metrics& metrics) const {
  TROUPE_TRY(time, metric_number(metrics, options_.time_attr));
  TROUPE_TRY(value, metric_number(metrics, metric_));
  if (reached(options_.max_t, time))
    return ScheduleDecision{ScheduleAction::finish, "asha: max_t " + text(options_.max_t), {}};
  const auto found = live_.find(trial);
  const int k = found != live_.end() ? rung_for(found->second, time) : -1;
  if (k < 0)
    return ScheduleDecision{};
  const Rung& rung = brackets_[found->second.bracket][static_cast<std::size_t>(k)];
  if (survives(rung, score_of(value, mode_)))
    return ScheduleDecision{};
  return ScheduleDecision{ScheduleAction::stop, "asha: rung " + text(rung.time()), {}};
}

void Asha::enter(Live& live, const Metrics& metrics) {
  const auto time = metric_number(metrics, options_.time_attr);
  const auto value = metric_number(metrics, metric_);
  if (!time || !value || reached(options_.max_t, *time))
    return;
  const int k = rung_for(live, *time);
  if (k < 0)
    return;
  live.judged |= std::uint64_t{1} << k;
  Rung& rung = brackets_[live.bracket][static_cast<std::size_t>(k)];
  // The percentile of the strict rule ignores NaN.
  if (!options_.strict || !std::isnan(*value))
    rung.add(score_of(*value, mode_), kept(rung.size() + 1, options_));
}

void Asha::record(TrialId trial, const Metrics& metrics, const ScheduleDecision&) {
  enter(live_[trial], metrics);
}

void Asha::on_complete(TrialId trial, Ending ending, const Metrics* last) {
  const auto found = live_.find(trial);
  if (found == live_.end())
    return;
  if (ending == Ending::finished && last != nullptr)
    enter(found->second, *last);
  live_.erase(found);
}

Value Asha::save() const {
  List live;
  for (const auto& [trial, state] : live_)
    live.push_back(List{trial.value, state.bracket, static_cast<std::int64_t>(state.judged)});
  List brackets;
  for (const auto& rungs : brackets_) {
    List saved;
    for (const Rung& rung : rungs)
      saved.push_back(rung.save());
    brackets.push_back(std::move(saved));
  }
  return Map{{"live", std::move(live)}, {"brackets", std::move(brackets)}};
}

Status Asha::restore(const Value& state) {
  const Error bad(ErrorCode::corrupt, "not a state of asha with these options");
  const Map* map = state.get_if<Map>();
  const Value* live = map != nullptr ? map->find_key("live") : nullptr;
  const Value* brackets = map != nullptr ? map->find_key("brackets") : nullptr;
  if (live == nullptr || brackets == nullptr || !live->is_list() || !brackets->is_list() ||
      brackets->as_list().size() != brackets_.size())
    return bad;
  auto loaded = brackets_;
  for (std::size_t s = 0; s < loaded.size(); ++s) {
    const List* rungs = brackets->as_list()[s].get_if<List>();
    if (rungs == nullptr || rungs->size() != loaded[s].size())
      return bad;
    for (std::size_t k = 0; k < rungs->size(); ++k)
      TROUPE_RETURN_IF_ERROR(loaded[s][k].restore((*rungs)[k]));
  }
  std::map<TrialId, Live> trials;
  for (const Value& entry : live->as_list()) {
    const List* parts = entry.get_if<List>();
    if (parts == nullptr || parts->size() != 3 ||
        !std::all_of(parts->begin(), parts->end(), [](const Value& v) { return v.is_int(); }))
      return bad;
    const std::int64_t trial = (*parts)[0].as_int();
    const std::int64_t bracket = (*parts)[1].as_int();
    if (trial < 0 || trial > std::numeric_limits<std::uint32_t>::max() || bracket < 0 ||
        bracket >= static_cast<std::int64_t>(brackets_.size()))
      return bad;
    trials[TrialId(static_cast<std::uint32_t>(trial))] = {
        static_cast<std::uint32_t>(bracket), static_cast<std::uint64_t>((*parts)[2].as_int())};
  }
  brackets_ = std::move(loaded);
  live_ = std::move(trials);
  return ok();
}

std::vector<double> Asha::rungs(std::uint32_t bracket) const {
  std::vector<double> times;
  for (const Rung& rung : brackets_.at(bracket))
    times.push_back(rung.time());
  return times;
}

std::uint32_t Asha::bracket_of(TrialId trial) const {
  const auto found = live_.find(trial);
  return found != live_.end() ? found->second.bracket : 0;
}

std::shared_ptr<Scheduler> asha(AshaOptions options) {
  return std::make_shared<Asha>(std::move(options));
}

}  // namespace troupe::tune
