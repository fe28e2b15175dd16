#include <troupe/tune/search/detail/neighbours.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/searcher_registry.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/lipo.hpp>
#include <troupe/tune/search/model_searcher.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <dlib/global_optimization/global_function_search.h>

namespace troupe::tune {
namespace {

using detail::Observation;
using detail::Point;
using Column = dlib::matrix<double, 0, 1>;

/// Grids up to this size are whole numbers for dlib; the steps of larger ones do not matter.
constexpr std::uint64_t max_grid = 100'000;
/// dlib squares what it is told.
constexpr double largest = 1e60;
/// Asks for one suggestion. Converged, dlib refines what is not worth a trial with every second.
constexpr std::uint32_t max_asks = 20;

/// What was done with dlib's object, in order, since it began anew.
struct Call {
  TrialId trial{};
  bool ask = false;
  std::uint32_t dropped = 0;  ///< asks before that came to nothing
};

double rank(const Observation& o) {
  return o.valued() && o.feasible() ? o.losses[0] : detail::infinity;
}

/// What dlib is told of results, one after the other: more is better.
struct Values {
  double worst = detail::infinity;
  double best = -detail::infinity;
  double best_finished = -detail::infinity;

  /// Nothing: there is no value yet that an infinite one or a failure could be compared with.
  std::optional<double> next(const Observation& o) {
    double value = worst;
    if (rank(o) == -detail::infinity) {
      value = best;
    } else if (rank(o) < detail::infinity) {
      value = std::clamp(-o.losses[0], -largest, largest);
      if (o.state == Observation::State::pruned && std::isfinite(best_finished))
        value = std::min(value, best_finished);
      else
        best_finished = std::max(best_finished, value);
    }
    if (!std::isfinite(value))
      return std::nullopt;
    worst = std::min(worst, value);
    best = std::max(best, value);
    return value;
  }
};

/// dlib's object and what belongs to it. It can neither be copied nor saved, so it is made again
/// from the calls where need be.
struct Live {
  Live(const dlib::function_spec& spec, std::vector<dlib::function_evaluation> evaluations,
       double noise, Values told)
      : search({spec}, {std::move(evaluations)}, noise), values(told) {}

  dlib::global_function_search search;
  Values values;
  std::map<TrialId, dlib::function_evaluation_request> running{};
  std::size_t calls = 0;  ///< how many were made

  /// Asks beyond those calls: what was suggested, and not recorded so far.
  std::vector<Column> ahead{};
  std::optional<dlib::function_evaluation_request> next{};  ///< the last one of `ahead`
};

class Lipo final : public ModelSearcher {
public:
  explicit Lipo(LipoOptions options) : options_(options) {}
  Lipo(const Lipo& other)
      : ModelSearcher(other),
        options_(other.options_),
        epoch_(other.epoch_),
        known_(other.known_),
        calls_(other.calls_),
        asked_(other.asked_) {}
  Lipo& operator=(const Lipo&) = delete;

  std::string name() const override { return "lipo"; }
  Value options() const override {
    return Map{{"noise", options_.noise},
               {"max_observations", detail::option_count(options_.max_observations)}};
  }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<Lipo>(*this); }

protected:
  /// Points that were tried come seldom, but often in a row, and the next ask costs little.
  std::uint32_t attempts() const override { return 10; }

  Status begin() override {
    TROUPE_RETURN_IF_ERROR(lipo_options(options()));
    for (const detail::Axis& axis : design().axes())
      if (axis.categorical())
        return Error(ErrorCode::invalid_argument,
                     "the searcher lipo serves numbers only, and '" + axis.path() +
                         "' = " + axis.domain().to_string() +
                         " is a choice: use randint or quniform if it stands for a number, or the "
                         "searcher gp");
    epoch_ = 0;
    std::vector<std::size_t> axes(design().size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    neighbours_ = detail::Neighbours(std::move(axes));
    begin_anew();
    return ok();
  }

  Result<Proposal> propose(TrialId trial, std::uint32_t attempt) const override {
    if (design().size() == 0)
      return Proposal{};
    neighbours_.follow(history());
    Live& live = ready();
    std::uint32_t passed = 0;  // worth a trial, of which the attempts before had one each
    for (std::uint32_t ask = 0; ask < max_asks; ++ask) {
      Point point = asked(live, ask);
      if (!crowded(point) && passed++ == attempt)
        return Proposal{std::move(point), List{epoch_, calls_.size(), ask}};
    }
    return elsewhere(trial, attempt);
  }

  void proposed(const Observation& observation, const Value& note) override {
    const List* list = note.get_if<List>();
    if (list == nullptr || list->size() != 3 || (*list)[0] != Value(epoch_) ||
        !(*list)[1].is_int() || !(*list)[2].is_int())
      return;  // not of dlib, or of its object before
    const auto place = static_cast<std::size_t>((*list)[1].as_int());
    const auto dropped = static_cast<std::uint64_t>((*list)[2].as_int());
    if (place > calls_.size() || dropped >= max_asks)
      return;
    const Call call{observation.trial, true, static_cast<std::uint32_t>(dropped)};
    calls_.insert(calls_.begin() + static_cast<std::ptrdiff_t>(place), call);
    asked_.emplace(observation.trial, observation.point);
    take_ahead(place, call);
  }

  /// dlib can not be told of another point than the one that it asked for. What a trial did not
  /// need of that one does no harm: there it has the same value.
  void amended(const Observation& observation) override {
    const auto found = asked_.find(observation.trial);
    if (found == asked_.end())
      return;
    for (std::size_t i = 0; i < found->second.size(); ++i)
      if (detail::exists(observation.point[i]) && observation.point[i] != found->second[i])
        return begin_anew();
  }

  void observed(const Observation& observation) override {
    if (!observation.over())
      return;
    if (asked_.erase(observation.trial) > 0) {
      calls_.push_back({observation.trial, false, 0});
      if (asks() >= options_.max_observations * 3 / 4)
        begin_anew();
      return;
    }
    // dlib takes in what it did not ask for only when it begins.
    if (!calls_.empty())
      return begin_anew();
    known_.push_back(observation.trial);
    live_.reset();
  }

  Value save_model() const override {
    List known;
    for (const TrialId trial : known_)
      known.emplace_back(trial.value);
    List calls;
    for (const Call& call : calls_)
      calls.push_back(List{call.trial.value, call.ask, call.dropped});
    return Map{{"epoch", epoch_}, {"known", std::move(known)}, {"calls", std::move(calls)}};
  }

  Status restore_model(const Value& state) override;

private:
  std::uint64_t asks() const {
    return static_cast<std::uint64_t>(
        std::count_if(calls_.begin(), calls_.end(), [](const Call& call) { return call.ask; }));
  }

  /// From now on dlib's object is another one, which begins with what is over.
  void begin_anew() {
    ++epoch_;
    calls_.clear();
    asked_.clear();
    live_.reset();
    known_.clear();
    for (const Observation& observation : history().all())
      if (observation.over())
        known_.push_back(observation.trial);
  }

  /// What it begins with, those without a value last: they need the worst of all.
  std::vector<const Observation*> beginning() const {
    std::vector<const Observation*> all;
    for (const TrialId trial : known_)
      all.push_back(history().find(trial));
    const auto better = [](const Observation* a, const Observation* b) {
      return rank(*a) < rank(*b);
    };
    if (const std::size_t most = options_.max_observations / 4; all.size() > most) {
      const auto newest = all.end() - static_cast<std::ptrdiff_t>(most / 2);
      std::stable_sort(all.begin(), newest, better);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(most - most / 2), newest);
    }
    std::stable_sort(all.begin(), all.end(), better);
    return all;
  }

  /// The live object after all calls.
  Live& ready() const {
    if (live_ != nullptr && !live_->ahead.empty() && live_->calls != calls_.size())
      live_.reset();  // a suggestion that was not taken has changed it
    if (live_ == nullptr)
      live_ = fresh();
    for (; live_->calls < calls_.size(); ++live_->calls)
      make(*live_, calls_[live_->calls]);
    return *live_;
  }

  /// What dlib answers when it is asked once more after so many asks that came to nothing.
  Point asked(Live& live, std::uint32_t before) const {
    while (live.ahead.size() <= before) {
      live.next.reset();  // not taken: dlib forgets it
      live.next.emplace(live.search.get_next_x());
      live.ahead.push_back(live.next->x());
    }
    return point_of(live.ahead[before]);
  }

  /// Where there are real numbers a configuration may be new, and yet none that is worth a trial.
  bool crowded(const Point& point) const {
    return !design().discrete() && neighbours_.crowded(history(), design().canonical(point));
  }

  Proposal elsewhere(TrialId trial, std::uint32_t attempt) const {
    for (std::uint32_t i = 0; i < max_asks; ++i)
      if (Point point = random_point(trial, max_asks * attempt + i); !crowded(point))
        return {std::move(point)};
    return {};
  }

  std::unique_ptr<Live> fresh() const;
  dlib::function_spec spec() const;

  void make(Live& live, const Call& call) const {
    if (call.ask) {
      for (std::uint32_t i = 0; i < call.dropped; ++i)
        (void)live.search.get_next_x();
      live.running.emplace(call.trial, live.search.get_next_x());
      return;
    }
    const auto found = live.running.find(call.trial);
    if (const auto value = live.values.next(*history().find(call.trial)))
      found->second.set(*value);
    live.running.erase(found);  // without a value dlib forgets it
  }

  /// The call at `place` was recorded. The live object has made it already if it was the one that
  /// suggested; what happened since then it has not heard yet.
  void take_ahead(std::size_t place, const Call& call) const {
    if (live_ == nullptr)
      return;
    if (live_->calls == place && live_->ahead.size() == call.dropped + std::size_t{1}) {
      live_->running.emplace(call.trial, std::move(*live_->next));
      live_->next.reset();
      live_->ahead.clear();
      ++live_->calls;
    } else {
      live_.reset();
    }
  }

  bool whole(const detail::Axis& axis) const {
    const auto* integer = std::get_if<RandInt>(&axis.domain().kind());
    const bool log = integer != nullptr && integer->log;
    return !axis.continuous() && !log && axis.count() <= max_grid;
  }

  Column column_of(const Point& point) const {
    Column x(static_cast<long>(point.size()));
    for (std::size_t i = 0; i < point.size(); ++i) {
      const detail::Axis& axis = design().axes()[i];
      const double there = detail::exists(point[i]) ? point[i] : 0.5;
      x(static_cast<long>(i)) = whole(axis) ? static_cast<double>(axis.index(there)) : there;
    }
    return x;
  }

  Point point_of(const Column& x) const {
    Point point(design().size());
    for (std::size_t i = 0; i < point.size(); ++i) {
      const detail::Axis& axis = design().axes()[i];
      const double value = x(static_cast<long>(i));
      point[i] = whole(axis) ? axis.coordinate(static_cast<std::uint64_t>(std::llround(value)))
                             : std::clamp(value, 0.0, 1.0);
    }
    return point;
  }

  LipoOptions options_;
  std::uint64_t epoch_ = 0;             ///< counts how often it began anew
  std::vector<TrialId> known_;          ///< what it began with
  std::vector<Call> calls_;             ///< since then
  std::map<TrialId, Point> asked_;      ///< by those calls, and running: where
  mutable std::unique_ptr<Live> live_;  ///< never shows
  mutable detail::Neighbours neighbours_;
};

dlib::function_spec Lipo::spec() const {
  const auto size = static_cast<long>(design().size());
  Column low(size);
  Column high(size);
  std::vector<bool> integer;
  for (long i = 0; i < size; ++i) {
    const detail::Axis& axis = design().axes()[static_cast<std::size_t>(i)];
    low(i) = 0;
    high(i) = whole(axis) ? static_cast<double>(axis.count() - 1) : 1;
    integer.push_back(whole(axis));
  }
  return {low, high, integer};
}

std::unique_ptr<Live> Lipo::fresh() const {
  std::vector<dlib::function_evaluation> evaluations;
  Values values;
  for (const Observation* observation : beginning())
    if (const auto value = values.next(*observation))
      evaluations.emplace_back(column_of(observation->point), *value);
  auto live = std::make_unique<Live>(spec(), std::move(evaluations), options_.noise, values);
  live->search.set_seed(static_cast<time_t>(
      Random(context().seed, epoch_, RandomPurpose::searcher).below(std::uint64_t{1} << 62U)));
  return live;
}

Status Lipo::restore_model(const Value& state) {
  const Error bad = detail::incomplete_state(name());
  const auto epoch = detail::find_count(state, "epoch", 2 * history().size() + 1);
  const List* known = detail::find_list(state, "known");
  const List* calls = detail::find_list(state, "calls");
  if (!epoch || *epoch == 0 || known == nullptr || calls == nullptr)
    return bad;
  const auto observation_of = [&](const Value& value) {
    const auto trial = detail::trial_of(value);
    return trial ? history().find(*trial) : nullptr;
  };
  std::vector<TrialId> restored_known;
  for (const Value& value : *known) {
    const Observation* observation = observation_of(value);
    if (observation == nullptr || !observation->over())
      return bad;
    restored_known.push_back(observation->trial);
  }
  std::vector<Call> restored;
  std::map<TrialId, Point> asked;
  for (const Value& value : *calls) {
    const List* parts = value.get_if<List>();
    const bool whole = parts != nullptr && parts->size() == 3 && (*parts)[1].is_bool();
    const auto dropped = whole ? detail::count_of((*parts)[2], max_asks - 1) : std::nullopt;
    if (!dropped)
      return bad;
    const Observation* observation = observation_of((*parts)[0]);
    const bool ask = (*parts)[1].as_bool();
    if (observation == nullptr || (!ask && !observation->over()) ||
        !(ask ? asked.emplace(observation->trial, observation->point).second
              : asked.erase(observation->trial) > 0))
      return bad;
    restored.push_back({observation->trial, ask, static_cast<std::uint32_t>(*dropped)});
  }
  epoch_ = *epoch;
  known_ = std::move(restored_known);
  calls_ = std::move(restored);
  asked_ = std::move(asked);
  live_.reset();
  return ok();
}

[[maybe_unused]] const bool is_known_by_name =
    detail::add_searcher("lipo", [](const Value& options) -> Result<std::unique_ptr<Searcher>> {
      TROUPE_TRY(read, lipo_options(options));
      return lipo(read)->clone();
    });

}  // namespace

std::shared_ptr<Searcher> lipo(LipoOptions options) {
  return std::make_shared<Lipo>(options);
}

Result<LipoOptions> lipo_options(const Value& options) {
  LipoOptions read;
  detail::OptionReader reader("lipo", options);
  reader.read("noise", read.noise, 0, 1);
  reader.read("max_observations", read.max_observations, 20, 2000);
  TROUPE_RETURN_IF_ERROR(reader.finish());
  return read;
}

}  // namespace troupe::tune
