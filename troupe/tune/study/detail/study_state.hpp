#pragma once

#include <troupe/tune/search/detail/guarded.hpp>
#include <troupe/tune/study/study.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What a study is made of.
namespace troupe::tune::detail {

/// What happened is a list of entries, and the state follows from it: a restored study takes the
/// entries again, with the suggestions that stand in them. So whatever throws changes nothing.
class StudyState {
public:
  using Trial = Study::Trial;

  explicit StudyState(StudyOptions options);

  // -- what changes the state; each leaves an entry in the log

  void enqueue(Config params);
  void add(Trial trial);
  /// `given`: the suggestion that was made when it happened first.
  TrialId begin(const std::optional<Suggestion>& given);
  Value parameter(TrialId id, const std::string& name, const Domain& domain);
  void constrain(TrialId id, const std::string& name, double value);
  void report(TrialId id, double value, std::uint64_t step);
  void end(TrialId id, Ending ending, std::vector<double> values);

  // -- what looks at it

  [[nodiscard]] bool should_prune(TrialId id) const { return live(id).prune; }
  [[nodiscard]] const Trial& trial(TrialId id) const { return live(id).shown; }
  /// The number of a trial that is not over; invalid_argument of any other.
  [[nodiscard]] TrialId pending_trial(TrialId id) { return pending(id).shown.number; }
  [[nodiscard]] std::vector<Trial> trials() const;
  [[nodiscard]] std::optional<Trial> best() const;
  [[nodiscard]] std::vector<Trial> front() const;

  [[nodiscard]] Value save() const;
  /// A new state with the same options, in which everything that `save` wrote down happened again.
  [[nodiscard]] Result<std::unique_ptr<StudyState>> restored(const Value& state) const;

private:
  /// Of the metrics: where the constraints stand by name.
  static constexpr const char* constraints_key = "constraints";

  using Space = std::map<std::string, Domain>;

  struct Live {
    Trial shown;
    Config fixed;  ///< what `enqueue` wanted
    Config asked;  ///< what the searcher suggested, with what was wanted
    bool prune = false;
    bool had_all = false;  ///< pruned where the scheduler lets nobody go further
  };

  [[nodiscard]] bool several() const { return objectives_.size() > 1; }
  [[nodiscard]] const Live& live(TrialId id) const;
  Live& pending(TrialId id);
  Value value_for(const Live& trial, const std::string& name, const Domain& domain) const;
  [[nodiscard]] Status check_values(const Trial& trial, std::size_t count) const;
  [[nodiscard]] Status adopt_added(Trial& trial) const;
  [[nodiscard]] std::optional<std::string> missing_constraint(const Trial& trial) const;
  [[nodiscard]] bool feasible(const Trial& trial) const;
  [[nodiscard]] Metrics metrics_of(const Trial& trial) const;
  [[nodiscard]] static Config fitting(const Space& space, const Config& params);
  [[nodiscard]] Suggestion suggest(TrialId id) const;
  [[nodiscard]] Suggestion wanted(Suggestion suggestion) const;
  void prepare();
  template <class Call>
  static auto scheduler_call(const char* name, Call&& call) -> decltype(call()) {
    return user_call(scheduler_name, name, call);
  }

  static constexpr const char* scheduler_name = "the scheduler of the study";

  [[nodiscard]] Value options_data() const;
  [[nodiscard]] Status take(const Value& entry);
  [[nodiscard]] Status take_trial(const List& parts);

  StudyOptions options_;
  std::vector<Objective> objectives_;
  std::vector<std::string> constraint_metrics_;
  std::unique_ptr<Searcher> searcher_;  ///< nothing before the first parameter is known
  std::unique_ptr<Scheduler> scheduler_;
  Space space_;
  std::map<TrialId, Live> trials_;
  std::deque<Config> queue_;
  bool stale_ = false;  ///< the searcher does not fit the space
  List log_;
};

}  // namespace troupe::tune::detail
