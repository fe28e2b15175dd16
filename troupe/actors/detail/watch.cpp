#include <troupe/actors/detail/watch.hpp>

#include <cstdio>

namespace troupe::detail {

namespace {

std::string describe(const UserProgress& progress) {
  switch (progress.activity) {
    case UserActivity::prepare:
      return "setup";
    case UserActivity::restore:
      return "load_checkpoint";
    case UserActivity::save:
      return "save_checkpoint after step " + std::to_string(progress.step);
    case UserActivity::cleanup:
      return "cleanup";
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

void Watch::trial_started() {
  stopping_ = false;
  asked_.reset();
}

Watch::Verdict Watch::look(const UserProgress& progress) {
  Verdict verdict;
  if (!in_user_code(progress.activity))
    return verdict;
  if (asked_ == progress.calls) {
    if (now_ - asked_at_ > limits_.grace)
      verdict.expired = reason_;
    return verdict;
  }
  const bool too_long = limits_.step > Duration::zero() && progress.running > limits_.step &&
                        progress.activity == UserActivity::step;
  if (!too_long && !stopping_)
    return verdict;
  asked_ = progress.calls;
  asked_at_ = now_;
  if (too_long) {
    reason_ = describe(progress) + " did not end within " + to_text(limits_.step);
    verdict.cancel = CancelStep{progress.calls, reason_};
  } else {
    reason_ = describe(progress) + " did not end within " + to_text(limits_.grace) +
              " after the trial was told to stop";
  }
  return verdict;
}

}  // namespace troupe::detail
