#pragma once

#include <troupe/tune/records.hpp>

#include <chrono>
#include <utility>

namespace troupe::tune {

/// Every kind of decision and action, with one body.
inline EventRecord example_event(RecordedBody body) {
  EventRecord record;
  record.run_time = std::chrono::milliseconds(1500);
  record.wall_ms = 1'700'000'000'123;
  record.body = std::move(body);
  Decision& decision = record.decision;
  decision.trial = TrialId(4);
  decision.accepted = true;
  decision.verdict = Verdict::pause;
  decision.outcome = Outcome::unfinished;
  decision.reason = "r";
  decision.save = 5;
  decision.save_score = 0.25;
  decision.commit = true;
  decision.deleted = {1, 2};
  decision.schedule = ScheduleDecision{ScheduleAction::go_on, "", List{1, 2}};
  decision.actions = {CreateTrial{TrialId(5), "T_00005", "d", {{"x", 1}}, 3, TrialId(1)},
                      StartTrial{{TrialId(5), 1}, WorkerId(3), true},
                      EndTrial{TrialId(6), "r"},
                      HaltTrial{TrialId(7), true, "r"},
                      EndWorker{WorkerId(9)},
                      EndSearch{true, true, "r"},
                      Drain{ExperimentState::failed, "r"},
                      FinishExperiment{ExperimentState::finished, "m"}};
  return record;
}

}  // namespace troupe::tune
