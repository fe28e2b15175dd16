#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/searcher_suite.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>

namespace troupe::tune {
namespace {

struct BrokenRule {
  std::string what;
};

void require(bool holds, const std::string& rule) {
  if (!holds)
    throw BrokenRule{rule};
}

/// One made-up experiment: the searcher under test and a twin that never suggests.
class Experiment {
public:
  Experiment(const Searcher& prototype, const SearchContext& context,
             const SearcherSuiteOptions& options)
      : prototype_(prototype),
        context_(context),
        options_(options),
        random_(options.seed, 0, RandomPurpose::test),
        design_(context.space) {}

  void run() {
    searcher_ = fresh();
    twin_ = fresh();
    require(searcher_->save() == twin_->save(), "two searchers after setup have equal states");
    const auto planned = searcher_->planned(context_);
    for (std::uint32_t step = 0; step < options_.steps; ++step) {
      const bool full = live_.size() >= options_.concurrent;
      const bool look = step % options_.look_every == 0;
      if (!over_ && !full && random_.chance(0.5))
        create(planned, look);
      else if (!live_.empty() && random_.chance(0.6))
        report();
      else if (!live_.empty())
        complete();
      if (look)
        compare(step / options_.look_every % 7 == 0);
    }
    compare(true);
    searcher_->on_complete(TrialId(1'000'000), Ending::failed, nullptr);
    check_setup_forgets();
    check_damage();
  }

private:
  std::unique_ptr<Searcher> fresh() const {
    auto searcher = prototype_.clone();
    require(searcher != nullptr, "clone returns an object");
    require(searcher->name() == prototype_.name(), "a clone has the name of the original");
    const Status status = searcher->setup(context_);
    require(status.has_value(),
            "setup accepts the context: " + (status ? std::string() : status.error().message()));
    return searcher;
  }

  void create(std::optional<std::uint64_t> planned, bool look) {
    if (options_.foreign > 0 && random_.chance(options_.foreign))
      make_up();
    else
      suggest(planned, look);
  }

  /// A trial that nobody asked the searcher for.
  void make_up() {
    constexpr std::uint32_t draws = 1000;
    Config config;
    for (std::uint32_t i = 0; i < draws && (i == 0 || !design_.allowed(config)); ++i)
      config = design_.sample(options_.seed, next_.value, i);
    tried_.insert(config);
    record(Suggestion::of(std::move(config)));
  }

  void suggest(std::optional<std::uint64_t> planned, bool look) {
    const Value before = look ? searcher_->save() : Value();
    const auto first = searcher_->suggest(next_);
    require(first.has_value(),
            "suggest succeeds: " + (first ? std::string() : first.error().message()));
    if (look) {
      const auto second = searcher_->suggest(next_);
      require(second && second->kind == first->kind && second->config == first->config &&
                  second->note == first->note,
              "suggest repeats itself while nothing happens");
      require(searcher_->save() == before, "suggest does not change the state");
    }
    if (planned && suggested_ >= *planned)
      require(first->kind == Suggestion::Kind::exhausted, "there are no more than `planned`");
    over_ = first->kind == Suggestion::Kind::exhausted;
    if (first->kind == Suggestion::Kind::nothing_now)
      require(!live_.empty(), "nothing_now is said only while a trial runs");
    if (first->kind != Suggestion::Kind::config)
      return;
    check_config(first->config);
    ++suggested_;
    record(*first);
  }

  void record(const Suggestion& suggestion) {
    for (Searcher* searcher : {searcher_.get(), twin_.get()})
      searcher->record(next_, suggestion.config, suggestion.note);
    live_[next_] = 0;
    next_ = next_.next();
  }

  void check_config(const Config& config) {
    std::size_t leaves = 0;
    for (const ParamSpace::Leaf& leaf : context_.space.leaves()) {
      const Value* value = config.find(leaf.path);
      if (value == nullptr && leaf.entry->optional())
        continue;
      if (!must_exist(leaf, config)) {
        require(value == nullptr, "'" + leaf.path + "' is left out where it does not exist");
        continue;
      }
      require(value != nullptr, "the configuration has '" + leaf.path + "'");
      if (const Domain* domain = leaf.entry->domain())
        require(domain->contains(*value),
                "'" + leaf.path + "' = " + to_json(*value) + " lies in " + domain->to_string());
      else
        require(*value == *leaf.entry->constant(), "the constant '" + leaf.path + "' is kept");
      ++leaves;
    }
    require(config.flatten().size() <= leaves || context_.space.empty(),
            "the configuration has nothing that the space has not");
    if (is_one_of_the_points(config)) {
      tried_.insert(config);
      return;
    }
    const auto broken = context_.space.broken_rule(config);
    require(!broken, "the constraint holds: " + broken.value_or(""));
    require(tried_.insert(config).second || context_.allow_repeats || options_.may_repeat,
            "no configuration comes twice: " + to_json(Value(config)));
  }

  /// Points come first; a searcher that may repeat may try each several times.
  bool is_one_of_the_points(const Config& config) const {
    const auto& points = context_.points_to_evaluate;
    const bool due = suggested_ < points.size();
    if (!due && !options_.may_repeat)
      return false;
    const bool is_one = std::any_of(points.begin(), points.end(),
                                    [&](const Config& point) { return is_point(point, config); });
    require(is_one || !due,
            "points to evaluate come first, as they were given, and what they leave out keeps the "
            "rules that they do not break by themselves: " +
                to_json(Value(config)));
    return is_one;
  }

  bool is_point(const Config& point, const Config& config) const {
    Config alone;
    for (const ParamSpace::Leaf& leaf : context_.space.leaves()) {
      const Value* value = leaf.entry->constant();
      if (value == nullptr)
        value = point.find(leaf.path);
      if (value == nullptr)
        continue;
      const Value* tried = config.find(leaf.path);
      const Value meant = leaf.entry->adopt(*value).value_or(*value);
      if (tried != nullptr && *tried != meant)
        return false;
      alone.set(leaf.path, meant);
    }
    return context_.space.without_rules_broken_by(alone).allows(config);
  }

  bool must_exist(const ParamSpace::Leaf& leaf, const Config& config) const {
    return std::all_of(leaf.conditions.begin(), leaf.conditions.end(),
                       [&](const Condition& condition) {
                         const Value* parent = config.find(condition.parent);
                         const SpaceEntry* entry = context_.space.find(condition.parent);
                         return parent != nullptr &&
                                std::any_of(condition.values.begin(), condition.values.end(),
                                            [&](const Value& value) {
                                              return entry->adopt(value).value_or(value) == *parent;
                                            });
                       });
  }

  Metrics metrics(std::uint64_t iteration) {
    static constexpr double awkward[] = {std::numeric_limits<double>::quiet_NaN(),
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity(),
                                         1e308,
                                         -1e308,
                                         std::numeric_limits<double>::denorm_min()};
    Metrics made{{"training_iteration", iteration}, {"time_total_s", 0.5}};
    const auto number = [&] {
      if (options_.constant)
        return 0.25;
      return random_.chance(0.3) ? awkward[random_.below(std::size(awkward))]
                                 : random_.uniform(-1, 1);
    };
    for (const Objective& objective : context_.objectives)
      made.set(objective.metric, number());
    for (const std::string& constraint : context_.constraints)
      made.set(constraint, number());
    return made;
  }

  std::map<TrialId, std::uint64_t>::iterator pick() {
    auto chosen = live_.begin();
    for (std::uint64_t skip = random_.below(live_.size()); skip > 0; --skip)
      ++chosen;
    return chosen;
  }

  void report() {
    const auto chosen = pick();
    const Metrics made = metrics(++chosen->second);
    searcher_->on_result(chosen->first, made);
    twin_->on_result(chosen->first, made);
  }

  void complete() {
    const auto chosen = pick();
    const auto ending = static_cast<Ending>(random_.below(3));
    const Metrics made = metrics(chosen->second);
    const Metrics* last = chosen->second > 0 ? &made : nullptr;
    searcher_->on_complete(chosen->first, ending, last);
    twin_->on_complete(chosen->first, ending, last);
    live_.erase(chosen);
  }

  /// Whoever heard the same is the same, and goes on alike.
  void compare(bool restore) {
    const Value state = searcher_->save();
    require(twin_->save() == state,
            "a searcher that never suggested, but heard the same, is equal");
    if (!restore)
      return;
    auto restored = fresh();
    const Status status = restored->restore(state);
    require(status.has_value(),
            "restore takes what save gave: " + (status ? std::string() : status.error().message()));
    require(restored->save() == state, "restore and save give the same state again");
    require(same_suggestion(*restored), "a restored searcher suggests what the original would");
    const auto clone = searcher_->clone();
    require(clone->save() == state && same_suggestion(*clone), "a clone equals the original");
    clone->record(next_, Config{}, Value());
    require(searcher_->save() == state, "a clone is independent of the original");
    if (random_.chance(0.5))
      searcher_ = std::move(restored);
  }

  bool same_suggestion(const Searcher& other) const {
    const auto mine = searcher_->suggest(next_);
    const auto theirs = other.suggest(next_);
    return mine && theirs && mine->kind == theirs->kind && mine->config == theirs->config;
  }

  void check_setup_forgets() {
    require(searcher_->setup(context_).has_value(), "setup can be called again");
    require(searcher_->save() == fresh()->save(), "setup forgets everything");
  }

  void check_damage() {
    const Value wrong[] = {Value(), Value(17), Value("text"), List{1, 2}, Map{{"no", "state"}}};
    for (const Value& value : wrong) {
      auto damaged = fresh();
      if (damaged->save() == value)
        continue;
      require(!damaged->restore(value).has_value(),
              "restore refuses " + to_json(value) + ", which is no state of it");
      require(damaged->save() == fresh()->save(), "a refused state leaves it as after setup");
    }
  }

  const Searcher& prototype_;
  const SearchContext& context_;
  const SearcherSuiteOptions& options_;
  Random random_;
  detail::Design design_;
  std::unique_ptr<Searcher> searcher_;
  std::unique_ptr<Searcher> twin_;
  std::map<TrialId, std::uint64_t> live_;
  std::set<Config> tried_;
  TrialId next_;
  std::uint64_t suggested_ = 0;
  bool over_ = false;
};

}  // namespace

std::vector<std::string> check_searcher(const Searcher& prototype, const SearchContext& context,
                                        const SearcherSuiteOptions& options) {
  std::vector<std::string> broken;
  try {
    Experiment(prototype, context, options).run();
  } catch (const BrokenRule& rule) {
    broken.push_back(prototype.name() + ": this does not hold: " + rule.what);
  } catch (const std::exception& e) {
    broken.push_back(prototype.name() + ": an exception left it: " + e.what());
  }
  return broken;
}

}  // namespace troupe::tune
