#include <troupe/serialization/metrics_size.hpp>
#include <troupe/tune/detail/naming.hpp>
#include <troupe/tune/detail/result_limits.hpp>
#include <troupe/tune/detail/suggesting.hpp>

#include <string>
#include <utility>

namespace troupe::tune::detail {

std::optional<Action> what_was_suggested(const LoopParts& parts, TrialId id,
                                         Result<Suggestion> answer) {
  if (answer && answer->kind == Suggestion::Kind::config) {
    Status limits = check_limits(answer->config);
    if (limits && approximate_bytes(answer->config) > max_config_bytes)
      limits = Error(ErrorCode::resource_exhausted, "a configuration has at most 1 MiB");
    if (limits)
      return create_trial(parts.setting, id, std::move(answer->config), std::move(answer->note));
    answer = std::move(limits)
                 .with_context("the searcher " + parts.setting.spec.searcher + " failed")
                 .error();
  }
  if (!answer)
    return EndSearch{true, false, answer.error().message()};
  if (answer->kind == Suggestion::Kind::exhausted)
    return EndSearch{false, false, std::string(space_exhausted)};
  return std::nullopt;
}

Action nothing_suggested(const LoopParts& parts) {
  return EndSearch{true, false,
                   "the searcher " + parts.setting.spec.searcher +
                       " has nothing to suggest although no trial runs"};
}

}  // namespace troupe::tune::detail
