#include <troupe/base/log.hpp>
#include <troupe/tune/study/detail/study_state.hpp>
#include <troupe/tune/study/study.hpp>

#include <cmath>
#include <utility>

namespace troupe::tune {
namespace {

/// Runs the objective, and tells what came of it.
template <class Objective>
void run(Study& study, const Objective& objective, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    StudyTrial trial = study.ask();
    try {
      study.tell(trial, objective(trial));
    } catch (const TrialPruned&) {
      study.tell_pruned(trial);
    } catch (...) {
      study.tell_failed(trial);
      throw;
    }
  }
}

/// The same number is another trial there.
void check_own(const Study* owner, const Study* study, TrialId number) {
  if (owner != study)
    throw Exception(ErrorCode::invalid_argument,
                    "trial " + to_string(number) +
                        " belongs to another study: tell the study that it was asked of");
}

/// A typing error would go unnoticed otherwise.
void say_unused(const Study::Trial& trial) {
  for (const std::string& name : trial.unused)
    log::warning("a parameter was enqueued that the trial never asked for",
                 {{"trial", trial.number}, {"parameter", name}});
}

}  // namespace

// -- StudyTrial ---------------------------------------------------------------------------------

Value StudyTrial::suggest(const std::string& name, const Domain& domain) {
  return study_->state_->parameter(number_, name, domain);
}

double StudyTrial::suggest_float(const std::string& name, double low, double high,
                                 const SuggestOptions& options) {
  if (options.log && options.step != 0)
    throw Exception(ErrorCode::invalid_argument, "parameter '" + name +
                                                     "': a step and a logarithm exclude each "
                                                     "other; leave one of them out");
  if (options.log)
    return suggest(name, loguniform(low, high)).as_double();
  return suggest(name, options.step != 0 ? quniform(low, high, options.step) : uniform(low, high))
      .as_double();
}

std::int64_t StudyTrial::suggest_int(const std::string& name, std::int64_t low, std::int64_t high,
                                     const SuggestOptions& options) {
  if (low > high)  // in the words of this function, in which both ends are included
    throw Exception(ErrorCode::invalid_argument,
                    "parameter '" + name + "': suggest_int from " + std::to_string(low) + " to " +
                        std::to_string(high) + ": the lower bound must not be above the upper one");
  const bool stepped = options.step != 0 && options.step != 1;
  if (options.step != std::floor(options.step) || options.step < 0 || options.step > 1e15 ||
      (stepped && options.log))
    throw Exception(ErrorCode::invalid_argument,
                    "parameter '" + name +
                        "': the step of whole numbers is a whole number of at least 1, and "
                        "excludes a logarithm");
  if (options.log)
    return suggest(name, RandInt{low, high, 1, true}).as_int();
  return suggest(name,
                 RandInt{low, high, stepped ? static_cast<std::int64_t>(options.step) : 1, false})
      .as_int();
}

Value StudyTrial::suggest_categorical(const std::string& name, List choices) {
  return suggest(name, choice(std::move(choices)));
}

void StudyTrial::report(double value, std::uint64_t step) {
  study_->state_->report(number_, value, step);
}

void StudyTrial::set_constraint(const std::string& name, double value) {
  study_->state_->constrain(number_, name, value);
}

bool StudyTrial::should_prune() const {
  return study_->state_->should_prune(number_);
}

const Config& StudyTrial::params() const {
  return study_->state_->trial(number_).params;
}

// -- Study --------------------------------------------------------------------------------------

Study::Study(StudyOptions options)
    : state_(std::make_unique<detail::StudyState>(std::move(options))) {}
Study::~Study() = default;

void Study::optimize(const std::function<double(StudyTrial&)>& objective, std::size_t count) {
  run(*this, objective, count);
}

void Study::optimize(const std::function<std::vector<double>(StudyTrial&)>& objective,
                     std::size_t count) {
  run(*this, objective, count);
}

void Study::enqueue_trial(Config params) {
  state_->enqueue(std::move(params));
}

void Study::add_trial(Trial trial) {
  state_->add(std::move(trial));
}

StudyTrial Study::ask() {
  return StudyTrial(this, state_->begin(std::nullopt));
}

StudyTrial Study::trial(TrialId number) {
  return StudyTrial(this, state_->pending_trial(number));
}

void Study::tell(const StudyTrial& trial, double value) {
  tell(trial, std::vector<double>{value});
}

void Study::tell(const StudyTrial& trial, std::vector<double> values) {
  check_own(trial.study_, this, trial.number());
  state_->end(trial.number(), Ending::finished, std::move(values));
  say_unused(state_->trial(trial.number()));
}

void Study::tell_pruned(const StudyTrial& trial) {
  check_own(trial.study_, this, trial.number());
  state_->end(trial.number(), Ending::stopped, {});
}

void Study::tell_failed(const StudyTrial& trial) {
  check_own(trial.study_, this, trial.number());
  state_->end(trial.number(), Ending::failed, {});
}

std::optional<Study::Trial> Study::best_trial() const {
  return state_->best();
}

std::vector<Study::Trial> Study::best_trials() const {
  return state_->front();
}

std::vector<Study::Trial> Study::trials() const {
  return state_->trials();
}

Value Study::save() const {
  return state_->save();
}

Status Study::restore(const Value& state) {
  TROUPE_TRY(restored, state_->restored(state));
  state_ = std::move(restored);
  return ok();
}

}  // namespace troupe::tune
