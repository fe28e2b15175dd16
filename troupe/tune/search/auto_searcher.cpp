#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/cmaes.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/detail/given.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/tpe.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tune {
namespace {

/// Beyond, a Gaussian process needs too long for what it knows better.
constexpr std::uint64_t max_process_trials = 300;
constexpr std::size_t max_process_running = 64;
constexpr std::size_t max_process_objectives = 3;
constexpr std::size_t max_process_axes = 60;

/// Is there nothing to learn, or does the user say what is tried?
bool systematic(const SearchContext& context, const detail::Design& design) {
  return context.objectives.empty() || design.size() == 0 ||
         std::any_of(design.axes().begin(), design.axes().end(),
                     [](const detail::Axis& axis) { return axis.domain().is_grid(); });
}

/// Is it all numbers, which an evolution strategy needs to be better than TPE?
bool numeric(const SearchContext& context, const detail::Design& design) {
  return context.objectives.size() == 1 && context.constraints.empty() && !design.conditional() &&
         std::none_of(design.axes().begin(), design.axes().end(),
                      [](const detail::Axis& axis) { return axis.categorical(); });
}

/// What became of a trial, as far as a searcher that comes later must know.
struct Heard {
  Config config{};
  std::optional<Ending> ending{};  ///< nothing: it runs
  Metrics metrics{};
};

using Members = std::vector<std::unique_ptr<Searcher>>;

Members copies(const Members& members) {
  Members result;
  for (const auto& member : members)
    result.push_back(member->clone());
  return result;
}

/// All members hear all that happens; one of them is asked.
class AutoSearcher final : public Searcher {
public:
  AutoSearcher() = default;
  AutoSearcher(const AutoSearcher& other)
      : context_(other.context_),
        members_(copies(other.members_)),
        heir_(other.heir_ ? other.heir_->clone() : nullptr),
        late_(other.late_),
        heard_(other.heard_),
        created_(other.created_),
        running_(other.running_) {}
  AutoSearcher& operator=(const AutoSearcher&) = delete;

  std::string name() const override { return "auto"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<AutoSearcher>(*this); }
  bool instant() const override { return members_.size() == 1 && members_.front()->instant(); }

  Status setup(const SearchContext& context) override {
    TROUPE_RETURN_IF_ERROR(context.space.check());
    TROUPE_RETURN_IF_ERROR(
        detail::check_objectives(context.objectives, "SearchContext.objectives"));
    context_ = context;
    members_.clear();
    heir_.reset();
    late_ = false;
    heard_.clear();
    running_.clear();
    created_ = 0;
    const detail::Design design(context.space);
    if (systematic(context, design)) {
      members_.push_back(basic_variant()->clone());
    } else {
      if (context.objectives.size() <= max_process_objectives && design.size() <= max_process_axes)
        members_.push_back(gp()->clone());
      members_.push_back(tpe()->clone());
      if (members_.size() > 1 && numeric(context, design))
        heir_ = cmaes()->clone();
    }
    SearchContext own = context;
    for (const auto& member : members_) {
      TROUPE_RETURN_IF_ERROR(member->setup(own));
      own.points_to_evaluate.clear();  // the first member suggests them
    }
    return ok();
  }

  std::optional<std::uint64_t> planned(const SearchContext& context) const override {
    return members_.empty() ? context.num_samples : members_.front()->planned(context);
  }

  Result<Suggestion> suggest(TrialId trial) const override {
    // A member that came later has not counted all of them.
    if (late_ && context_.num_samples && created_ >= *context_.num_samples)
      return Suggestion::exhausted();
    const Searcher& member = *members_[chosen()];
    TROUPE_TRY(suggestion, member.suggest(trial));
    if (suggestion.kind == Suggestion::Kind::config)
      suggestion.note = Map{{"by", member.name()}, {"note", std::move(suggestion.note)}};
    return suggestion;
  }

  void record(TrialId trial, const Config& config, const Value& note) override {
    const Map* map = note.get_if<Map>();
    const Value* by = map != nullptr ? map->find_key("by") : nullptr;
    for (const auto& member : members_) {
      const bool own = by != nullptr && *by == Value(member->name());
      member->record(trial, config, own ? map->get_or("note", {}) : Value());
    }
    ++created_;
    running_.insert(trial);
    if (heir_)
      heard_.try_emplace(trial, Heard{.config = config});
    if (members_.size() > 1 && created_ >= last_of_process())
      hand_over();
  }
  void amend(TrialId trial, const Config& config) override {
    for (const auto& member : members_)
      member->amend(trial, config);
  }
  void on_result(TrialId trial, const Metrics& metrics) override {
    for (const auto& member : members_)
      member->on_result(trial, metrics);
  }
  void on_complete(TrialId trial, Ending ending, const Metrics* last) override {
    running_.erase(trial);
    for (const auto& member : members_)
      member->on_complete(trial, ending, last);
    const auto found = heard_.find(trial);
    if (found == heard_.end() || found->second.ending)
      return;
    found->second.ending = ending;
    for (const std::string& name : {context_.objectives.front().metric, std::string(step_name)})
      if (const Value* value = last != nullptr ? last->find(name) : nullptr)
        found->second.metrics.set(name, *value);
  }

  Value save() const override;
  Status restore(const Value& state) override;

private:
  static constexpr std::string_view step_name = "training_iteration";

  /// After so many trials; all points to evaluate were suggested by then.
  std::uint64_t last_of_process() const {
    return std::max<std::uint64_t>(max_process_trials, context_.points_to_evaluate.size());
  }

  /// The number of the member to ask.
  std::size_t chosen() const {
    const bool crowd = running_.size() > max_process_running;
    return members_.size() > 1 && crowd && created_ >= context_.points_to_evaluate.size() ? 1 : 0;
  }

  SearchContext context_of_heir() const {
    SearchContext context = context_;
    context.points_to_evaluate.clear();
    context.num_samples.reset();
    return context;
  }

  Status restore_parts(const Value& state);
  Status hand_over_empty();
  Status restore_heard(const List& all);

  /// The process goes. An evolution strategy begins where it led; TPE was there all the time.
  void hand_over() {
    members_.erase(members_.begin());
    if (!heir_)
      return;
    SearchContext context = context_of_heir();
    for (const auto& [trial, heard] : heard_)
      if (heard.ending)
        context.known_results.push_back({heard.config, heard.metrics, *heard.ending});
    heir_->setup(context).value_or_throw();
    for (const auto& [trial, heard] : heard_)
      if (!heard.ending)
        heir_->record(trial, heard.config, {});
    members_.front() = std::move(heir_);
    late_ = true;
    heard_.clear();
  }

  SearchContext context_;
  Members members_;
  std::unique_ptr<Searcher> heir_;  ///< of all members, when the process goes; may be none
  bool late_ = false;               ///< it has inherited
  std::map<TrialId, Heard> heard_;  ///< for the heir
  std::uint64_t created_ = 0;
  std::set<TrialId> running_;
};

// -- State ----------------------------------------------------------------------------------------

Value AutoSearcher::save() const {
  List running;
  for (const TrialId trial : running_)
    running.emplace_back(trial.value);
  Map members;
  for (const auto& member : members_)
    members[member->name()] = member->save();
  List heard;
  for (const auto& [trial, one] : heard_)
    heard.emplace_back(List{trial.value, one.config,
                            one.ending ? Value(static_cast<std::int64_t>(*one.ending)) : Value(),
                            one.metrics});
  return Map{{"created", created_},
             {"running", std::move(running)},
             {"members", std::move(members)},
             {"heard", std::move(heard)}};
}

std::optional<std::pair<TrialId, Heard>> heard_of(const Value& value) {
  const List* list = value.get_if<List>();
  if (list == nullptr || list->size() != 4)
    return std::nullopt;
  const auto trial = detail::trial_of((*list)[0]);
  const Map* config = (*list)[1].get_if<Map>();
  const Value& ending = (*list)[2];
  const Map* metrics = (*list)[3].get_if<Map>();
  if (!trial || config == nullptr || metrics == nullptr ||
      !(ending.is_null() || detail::is_ending(ending)))
    return std::nullopt;
  Heard heard{.config = *config, .metrics = *metrics};
  if (!ending.is_null())
    heard.ending = static_cast<Ending>(ending.as_int());
  return std::pair(*trial, std::move(heard));
}

Status AutoSearcher::restore(const Value& state) {
  AutoSearcher restored(*this);  // all or nothing
  TROUPE_RETURN_IF_ERROR(restored.restore_parts(state));
  if (restored.save() != state)
    return detail::incomplete_state(name());
  members_ = std::move(restored.members_);
  heir_ = std::move(restored.heir_);
  late_ = restored.late_;
  heard_ = std::move(restored.heard_);
  created_ = restored.created_;
  running_ = std::move(restored.running_);
  return ok();
}

Status AutoSearcher::restore_parts(const Value& state) {
  const Error bad = detail::incomplete_state(name());
  const auto created = detail::find_count(state, "created", detail::most_trials);
  const List* running = detail::find_list(state, "running");
  const List* heard = detail::find_list(state, "heard");
  const Value* members = detail::find_state(state, "members");
  if (!created || running == nullptr || heard == nullptr || members == nullptr ||
      !members->is_map() || running->size() > *created || heard->size() > *created)
    return bad;
  created_ = *created;
  running_.clear();
  for (const Value& value : *running) {
    const auto trial = detail::trial_of(value);
    if (!trial)
      return bad;
    running_.insert(*trial);
  }
  const Map& states = members->as_map();
  if (members_.size() > 1 && states.size() == 1) {
    TROUPE_RETURN_IF_ERROR(hand_over_empty());
    if (created_ < max_process_trials)
      return bad;
  }
  TROUPE_RETURN_IF_ERROR(restore_heard(*heard));
  if (states.size() != members_.size())
    return bad;
  for (const auto& member : members_) {
    const Value* own = states.find_key(member->name());
    if (own == nullptr)
      return bad;
    TROUPE_RETURN_IF_ERROR(member->restore(*own));
  }
  return ok();
}

/// What is there after the process has gone, before it has a state.
Status AutoSearcher::hand_over_empty() {
  members_.erase(members_.begin());
  late_ = heir_ != nullptr;
  if (late_) {
    TROUPE_RETURN_IF_ERROR(heir_->setup(context_of_heir()));
    members_.front() = std::move(heir_);
  }
  return ok();
}

/// What an heir must know; those trials run that have no ending.
Status AutoSearcher::restore_heard(const List& all) {
  heard_.clear();
  for (const Value& value : all) {
    auto one = heard_of(value);
    if (!one || one->second.ending.has_value() == running_.contains(one->first))
      return detail::incomplete_state(name());
    heard_.insert(std::move(*one));
  }
  const bool all_run_known = std::all_of(running_.begin(), running_.end(),
                                         [&](TrialId trial) { return heard_.contains(trial); });
  if (heir_ != nullptr ? !all_run_known : !heard_.empty())
    return detail::incomplete_state(name());
  return ok();
}

}  // namespace

std::shared_ptr<Searcher> auto_searcher() {
  return std::make_shared<AutoSearcher>();
}

}  // namespace troupe::tune
