#pragma once

#include <troupe/tune/schedule/scheduler.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The contract of schedulers as checks, for Troupe's own and for those of users.
namespace troupe::tune {

struct SchedulerSuiteOptions {
  std::uint64_t seed = 1;          ///< of the made-up experiment
  std::uint32_t trials = 60;       ///< in total
  std::uint32_t concurrent = 4;    ///< running at a time
  std::uint64_t max_results = 30;  ///< of a trial, then it is done
};

/// Runs made-up experiments against copies of `prototype` and says which rules of the contract it
/// breaks, one sentence each; empty: none was broken. Works with any test framework:
///
///     CHECK(tune::check_scheduler(MyScheduler(), {.metric = "loss", .mode = Mode::min}).empty());
///
/// Checked: `decide`, `next_stop` and `choose_trial_to_run` change nothing and repeat themselves;
/// who stops has a reason; only waiting trials are chosen and only live ones ordered to stop; equal
/// calls give equal states; a copy that only heard `record` and the `on_*` hooks goes on alike; so
/// does one that was saved and restored, at many moments; clones are independent; `setup` forgets;
/// damaged states are refused; NaN, infinities, failures and retries are taken; every experiment
/// ends.
std::vector<std::string> check_scheduler(const Scheduler& prototype, const ScheduleContext& context,
                                         const SchedulerSuiteOptions& options = {});

}  // namespace troupe::tune
