#include <troupe/tune/search/detail/history.hpp>

#include <algorithm>
#include <utility>

namespace troupe::tune::detail {
namespace {

Error bad(const std::string& what) {
  return Error(ErrorCode::corrupt, "the history of a searcher: " + what);
}

List list_of(const std::vector<double>& numbers) {
  return List(numbers.begin(), numbers.end());
}

Result<std::vector<double>> numbers_of(const Value& value) {
  if (!value.is_list())
    return bad("a list of numbers is missing");
  std::vector<double> numbers;
  numbers.reserve(value.as_list().size());
  for (const Value& element : value.as_list()) {
    if (!element.is_double())
      return bad("a list of numbers holds something else");
    numbers.push_back(element.as_double());
  }
  return numbers;
}

Value data_of(const Observation& o) {
  return List{static_cast<std::int64_t>(o.trial.value),
              static_cast<std::int64_t>(o.state),
              static_cast<std::int64_t>(o.step),
              static_cast<std::int64_t>(o.fingerprint),
              list_of(o.point),
              list_of(o.losses),
              list_of(o.excess)};
}

Result<Observation> read(const Value& value, std::size_t axes) {
  const List* parts = value.get_if<List>();
  if (parts == nullptr || parts->size() != 7 ||
      !std::all_of(parts->begin(), parts->begin() + 4, [](const Value& v) { return v.is_int(); }))
    return bad("an observation is incomplete");
  Observation o;
  const std::int64_t trial = (*parts)[0].as_int();
  if (trial < 0 || trial > std::int64_t{UINT32_MAX})
    return bad("an observation has no possible trial");
  o.trial = TrialId(static_cast<std::uint32_t>(trial));
  const std::int64_t state = (*parts)[1].as_int();
  if (state < 0 || state > static_cast<std::int64_t>(Observation::State::failed))
    return bad("an observation has an unknown state");
  o.state = static_cast<Observation::State>(state);
  o.step = static_cast<std::uint64_t>((*parts)[2].as_int());
  o.fingerprint = static_cast<std::uint64_t>((*parts)[3].as_int());
  TROUPE_TRY(point, numbers_of((*parts)[4]));
  TROUPE_TRY(losses, numbers_of((*parts)[5]));
  TROUPE_TRY(excess, numbers_of((*parts)[6]));
  if (point.size() != axes)
    return bad("an observation belongs to another search space");
  o.point = std::move(point);
  o.losses = std::move(losses);
  o.set_excess(std::move(excess));
  return o;
}

}  // namespace

void Observation::set_excess(std::vector<double> values) {
  violation = 0;
  for (double& value : values) {
    if (value != value)
      value = infinity;
    violation += std::max(value, 0.0);
  }
  excess = std::move(values);
}

void History::begin(TrialId trial, Point point, std::uint64_t fingerprint) {
  if (!where_.emplace(trial.value, all_.size()).second)
    return;
  seen_.insert(fingerprint);
  Observation& observation = all_.emplace_back();
  observation.trial = trial;
  observation.point = std::move(point);
  observation.fingerprint = fingerprint;
}

void History::amend(TrialId trial, Point point, std::uint64_t fingerprint) {
  Observation* observation = find(trial);
  if (observation == nullptr || observation->over())
    return;
  const std::uint64_t before = std::exchange(observation->fingerprint, fingerprint);
  observation->point = std::move(point);
  seen_.insert(fingerprint);
  if (std::none_of(all_.begin(), all_.end(),
                   [&](const Observation& other) { return other.fingerprint == before; }))
    seen_.erase(before);
}

Observation* History::find(TrialId trial) {
  return const_cast<Observation*>(std::as_const(*this).find(trial));
}

const Observation* History::find(TrialId trial) const {
  const auto found = where_.find(trial.value);
  return found == where_.end() ? nullptr : &all_[found->second];
}

void History::finish(Observation& observation, Observation::State state) {
  if (!observation.over()) {
    ++over_;
    failed_ += state == Observation::State::failed ? 1 : 0;
  }
  observation.state = state;
}

const Observation* History::best() const {
  const Observation* best = nullptr;
  for (const Observation& o : all_)
    if (o.state == Observation::State::complete && !o.losses.empty() && o.feasible() &&
        (best == nullptr || o.losses[0] < best->losses[0]))
      best = &o;
  return best;
}

Value History::save() const {
  List list;
  list.reserve(all_.size());
  for (const Observation& observation : all_)
    list.push_back(data_of(observation));
  return list;
}

Status History::restore(const Value& state, std::size_t axes) {
  const List* list = state.get_if<List>();
  if (list == nullptr)
    return bad("a list is expected");
  History restored;
  for (const Value& value : *list) {
    TROUPE_TRY(observation, read(value, axes));
    if (!restored.where_.emplace(observation.trial.value, restored.all_.size()).second)
      return bad("a trial comes twice");
    restored.seen_.insert(observation.fingerprint);
    restored.over_ += observation.over() ? 1 : 0;
    restored.failed_ += observation.state == Observation::State::failed ? 1 : 0;
    restored.all_.push_back(std::move(observation));
  }
  *this = std::move(restored);
  return ok();
}

}  // namespace troupe::tune::detail
