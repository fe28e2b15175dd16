#include <troupe/tune/search/auto_searcher.hpp>
#include <troupe/tune/search/basic_variant.hpp>
#include <troupe/tune/search/detail/design.hpp>
#include <troupe/tune/search/gp.hpp>
#include <troupe/tune/search/tpe.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tune {
namespace {

/// Beyond, a Gaussian process needs too long for what it knows better.
constexpr std::size_t max_process_trials = 300;
constexpr std::size_t max_process_running = 64;
constexpr std::size_t max_process_objectives = 3;
constexpr std::size_t max_process_axes = 60;

/// Is there nothing to learn, or does the user say what is tried?
bool systematic(const SearchContext& context, const detail::Design& design) {
  return context.objectives.empty() || design.size() == 0 ||
         std::any_of(design.axes().begin(), design.axes().end(),
                     [](const detail::Axis& axis) { return axis.domain().is_grid(); });
}

/// All members hear all that happens; one of them is asked.
class AutoSearcher final : public Searcher {
public:
  AutoSearcher() = default;
  AutoSearcher(const AutoSearcher& other)
      : members_(copies(other.members_)),
        points_(other.points_),
        created_(other.created_),
        running_(other.running_) {}
  AutoSearcher& operator=(const AutoSearcher&) = delete;

  std::string name() const override { return "auto"; }
  std::unique_ptr<Searcher> clone() const override { return std::make_unique<AutoSearcher>(*this); }

  Status setup(const SearchContext& context) override {
    TROUPE_RETURN_IF_ERROR(context.space.check());
    members_.clear();
    running_.clear();
    created_ = 0;
    points_ = context.points_to_evaluate.size();
    const detail::Design design(context.space);
    if (systematic(context, design)) {
      members_.push_back(basic_variant()->clone());
    } else {
      if (context.objectives.size() <= max_process_objectives && design.size() <= max_process_axes)
        members_.push_back(gp()->clone());
      members_.push_back(tpe()->clone());
    }
    SearchContext own = context;
    for (const auto& member : members_) {
      TROUPE_RETURN_IF_ERROR(member->setup(own));
      own.points_to_evaluate.clear();  // the first member suggests them
    }
    return ok();
  }

  bool instant() const override { return members_.size() == 1 && members_.front()->instant(); }

  std::optional<std::uint64_t> planned(const SearchContext& context) const override {
    return members_.empty() ? context.num_samples : members_.front()->planned(context);
  }

  Result<Suggestion> suggest(TrialId trial) const override {
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
  }

  Value save() const override {
    List running;
    for (const TrialId trial : running_)
      running.emplace_back(trial.value);
    Map members;
    for (const auto& member : members_)
      members[member->name()] = member->save();
    return Map{
        {"created", created_}, {"running", std::move(running)}, {"members", std::move(members)}};
  }

  Status restore(const Value& state) override {
    const Error bad(ErrorCode::corrupt, "the state of the searcher auto is incomplete");
    const Map* map = state.get_if<Map>();
    const Value* created = map != nullptr ? map->find_key("created") : nullptr;
    const Value* running = map != nullptr ? map->find_key("running") : nullptr;
    const Value* members = map != nullptr ? map->find_key("members") : nullptr;
    if (created == nullptr || running == nullptr || members == nullptr || !created->is_int() ||
        created->as_int() < 0 || !running->is_list() || !members->is_map() ||
        members->as_map().size() != members_.size())
      return bad;
    std::set<TrialId> trials;
    for (const Value& trial : running->as_list()) {
      if (!trial.is_int() || trial.as_int() < 0 || trial.as_int() > UINT32_MAX)
        return bad;
      trials.insert(TrialId(static_cast<TrialId::rep>(trial.as_int())));
    }
    // All or none: copies learn first.
    std::vector<std::unique_ptr<Searcher>> restored = copies(members_);
    for (const auto& member : restored) {
      const Value* own = members->as_map().find_key(member->name());
      if (own == nullptr)
        return bad;
      TROUPE_RETURN_IF_ERROR(member->restore(*own));
    }
    members_ = std::move(restored);
    created_ = static_cast<std::size_t>(created->as_int());
    running_ = std::move(trials);
    return ok();
  }

private:
  static std::vector<std::unique_ptr<Searcher>> copies(
      const std::vector<std::unique_ptr<Searcher>>& members) {
    std::vector<std::unique_ptr<Searcher>> result;
    for (const auto& member : members)
      result.push_back(member->clone());
    return result;
  }

  /// The member to ask. The first one until all points to evaluate were suggested.
  std::size_t chosen() const {
    if (members_.size() == 1 || created_ < points_)
      return 0;
    return created_ < max_process_trials && running_.size() <= max_process_running ? 0 : 1;
  }

  std::vector<std::unique_ptr<Searcher>> members_;
  std::size_t points_ = 0;  ///< to evaluate first
  std::size_t created_ = 0;
  std::set<TrialId> running_;
};

}  // namespace

std::shared_ptr<Searcher> auto_searcher() {
  return std::make_shared<AutoSearcher>();
}

}  // namespace troupe::tune
