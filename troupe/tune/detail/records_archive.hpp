#pragma once

#include <troupe/actors/protocol.hpp>
#include <troupe/runtime/resources/resources.hpp>
#include <troupe/runtime/storage/checkpoint.hpp>
#include <troupe/serialization/detail/record_codec.hpp>
#include <troupe/tune/records.hpp>

/// How the records of tune, and the events inside them, are laid out. For sources that define
/// records. Fields are only ever added, at the end, behind `if (version >= ...)`.
namespace troupe {

constexpr Isolation enum_last(Isolation) noexcept {
  return Isolation::thread;
}
constexpr FailureKind enum_last(FailureKind) noexcept {
  return FailureKind::start;
}
constexpr Verdict enum_last(Verdict) noexcept {
  return Verdict::pause;
}
constexpr Durability enum_last(Durability) noexcept {
  return Durability::strict;
}

template <class Archive>
void serialize(Archive& archive, ResourceRequest& r, unsigned) {
  archive& r.cpus& r.memory_bytes;
}

template <class Archive>
void serialize(Archive& archive, CheckpointRef& r, unsigned) {
  archive& r.number& r.iteration& r.time_total_s& r.bytes& r.directory& r.digest;
}

template <class Archive>
void serialize(Archive& archive, WorkerStarted& e, unsigned) {
  archive& e.worker& e.pid& e.host;
}

template <class Archive>
void serialize(Archive& archive, TrialStarted& e, unsigned) {
  archive& e.worker& e.key& e.iteration& e.checkpoint& e.damaged& e.note;
}

template <class Archive>
void serialize(Archive& archive, ResetRefused& e, unsigned) {
  archive& e.worker& e.key;
}

template <class Archive>
void serialize(Archive& archive, Reported& e, unsigned) {
  archive& e.worker& e.key& e.message& e.iteration& e.metrics& e.done& e.wants_checkpoint;
  archive& e.checkpoint;
}

template <class Archive>
void serialize(Archive& archive, CheckpointSaved& e, unsigned) {
  archive& e.worker& e.key& e.checkpoint;
}

template <class Archive>
void serialize(Archive& archive, TrialEnded& e, unsigned) {
  archive& e.worker& e.key& e.returned& e.reusable;
}

template <class Archive>
void serialize(Archive& archive, TrialFailed& e, unsigned) {
  archive& e.worker& e.key& e.message& e.permanent;  // a full storage ends the run unrecorded
}

template <class Archive>
void serialize(Archive& archive, WorkerExited& e, unsigned) {
  archive& e.worker& e.kind& e.message;
}

template <class Archive>
void serialize(Archive&, Tick&, unsigned) {}

template <class Archive>
void serialize(Archive& archive, StopRequested& e, unsigned) {
  archive& e.reason;
}

}  // namespace troupe

namespace troupe::tune {

template <class Archive>
void ExperimentSpec::serialize(Archive& archive, unsigned version) {
  archive& name& trainable& is_function& param_space& created_ms& written_by;
  archive& metric& mode& num_samples& max_concurrent_trials& time_budget& reuse_actors;
  archive& searcher& searcher_options& scheduler& scheduler_options& seed& deterministic;
  archive& stop& max_failures& fail_fast& max_infrastructure_failures& step_timeout;
  archive& num_to_keep& checkpoint_score_attribute& checkpoint_score_order& checkpoint_frequency;
  archive& checkpoint_at_end& isolation& resources& log_to_file& verbose& result_files;
  archive& durability;
  if (version >= 2)
    archive& more_objectives& constraints& points_to_evaluate& known_results& allow_repeats;
  if (version >= 3)
    archive& stop_patience;
  if (version >= 4)
    archive& setup_timeout;
}

template <class Archive>
void ExperimentRow::serialize(Archive& archive, unsigned) {
  archive& state& message& starts& started_ms& updated_ms& run_time& cpus& planned& created;
  archive& terminated& errored& results& actor_starts& actor_reuses& resets_refused;
}

template <class Archive>
void TrialRow::serialize(Archive& archive, unsigned version) {
  archive& id& name& dir& config& state& attempt& failures& infrastructure_failures& error;
  archive& stop_reason& note& iteration& time_total_s& metrics& created_ms& started_ms& ended_ms;
  archive& next_checkpoint& checkpoint& restarted_as;
  // Loop snapshots and events hold rows, and get a new version together with them.
  if (version >= 2)
    archive& error_kind;
  if (version >= 3)
    archive& ending;
  else if (state == TrialState::error)
    ending = Ending::failed;
}

template <class Archive>
void CheckpointRow::serialize(Archive& archive, unsigned) {
  archive& ref& state& score& wall_ms& note;
}

template <class Archive>
void EventRecord::serialize(Archive& archive, unsigned) {
  archive& run_time& wall_ms& body& decision;
}

}  // namespace troupe::tune
