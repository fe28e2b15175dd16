#include <troupe/actors/detail/watch.hpp>
#include <troupe/base/log.hpp>

#include <cstdio>

namespace troupe::detail {

namespace {

bool is_setup(UserActivity activity) {
  return activity == UserActivity::prepare || activity == UserActivity::reset ||
         activity == UserActivity::restore;
}

std::string describe(const UserProgress& progress) {
  switch (progress.activity) {
    case UserActivity::prepare:
      return "setup";
    case UserActivity::reset:
      return "reset_config";
    case UserActivity::restore:
      return "load_checkpoint";
    case UserActivity::save:
      return "save_checkpoint after step " + std::to_string(progress.step);
    case UserActivity::unwind:
      return "the function";
    case UserActivity::cleanup:
      return progress.failure.empty() ? "cleanup" : "the destructor";
    default:
      return "step " + std::to_string(progress.step);
  }
}

}  // namespace

std::string to_text(Duration duration) {
  const double s = std::chrono::duration<double>(duration).count();
  char text[32];
  if (s < 1) {
    std::snprintf(text, sizeof text, "%.4g ms", s * 1000);
  } else {
    std::snprintf(text, sizeof text, "%.4g s", s);
  }
  return text;
}

Watch::Verdict Watch::look(const UserProgress& progress) {
  Verdict verdict;
  if (!in_user_code(progress.activity))
    return verdict;
  if (asked_ == progress.calls) {
    if (now_ - asked_at_ > limits_.grace)
      verdict.expired = reason_;
    // The trial that waits for the end of another one's cleanup has no part in it.
    if (progress.activity == UserActivity::cleanup && progress.failure.empty())
      verdict.kind = FailureKind::infrastructure;
    return verdict;
  }
  const bool slow = is_setup(progress.activity);
  // A function whose trial is over was told to stop by the answer to its report.
  const bool over = progress.activity == UserActivity::unwind;
  const Duration limit = over ? Duration::zero() : slow ? limits_.setup : limits_.step;
  const char* const setting = slow ? "setup_timeout" : "step_timeout";
  const bool limited = limit > Duration::zero();
  if (!limited && !over && progress.running > warn_after_) {
    warn_after_ = 2 * progress.running;  // where every step is long, not each is told
    verdict.warning = setting;
  }
  const bool too_long = limited && progress.running > limit;
  const bool stopped = over || (stopped_ && stopped_ == progress.trial);
  if (!too_long && !stopped)
    return verdict;
  asked_ = progress.calls;
  asked_at_ = now_;
  reason_ = progress.failure.empty() ? "" : progress.failure + "; then ";
  reason_ += describe(progress) + " did not end within ";
  if (too_long) {
    reason_ += to_text(limit) + " (" + setting + ")";
    verdict.cancel = CancelCall{progress.calls, reason_};
  } else {
    reason_ += to_text(limits_.grace) + " after the trial was told to stop";
  }
  return verdict;
}

void warn_of_long_call(WorkerId worker, const UserProgress& progress, const std::string& setting) {
  const std::string trial = progress.trial ? to_string(*progress.trial) : std::string("none");
  log::warning(
      "a call of user code takes long and has no deadline; if it hangs, a trial or the "
      "whole experiment waits for it until FailureConfig." +
          setting + " ends such calls",
      {{"trial", trial},
       {"worker", worker},
       {"call", describe(progress)},
       {"running_s", progress.running}});
}

}  // namespace troupe::detail
