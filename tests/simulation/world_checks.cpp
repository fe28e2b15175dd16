#include <set>

#include "world.hpp"

namespace troupe::simulation {

void World::check_live() {
  if (core_->error())
    return;
  for (std::string& what : check_loop(*loop_, scenario_, cpus_))
    problem(what);
}

/// No answer shows what ended a trial, or was no result: it must not be lost either.
void World::check_promises(bool power_lost) {
  const Sequence there = disk_->journal().watermarks().accepted;
  const Sequence promised = power_lost ? told_durable_ : told_accepted_;
  if (there < promised)
    problem("event " + to_string(promised) + " was " + (power_lost ? "durable" : "accepted") +
            " and is lost: the journal ends with event " + to_string(there));
  told_accepted_ = there;
}

void World::check_journal(bool power_lost) {
  check_promises(power_lost);
  const auto& config = scenario_.definition.tune_config;
  if (disk_->journal().watermarks().accepted == Sequence())
    return;
  const auto results = accepted_results(disk_->journal());
  for (auto it = answered_.begin(); it != answered_.end();) {
    if (results.contains(it->first)) {
      ++it;
      continue;
    }
    if (!power_lost)
      problem("result " + std::to_string(it->first.second) + " of trial " +
              to_string(it->first.first) + " was answered and is lost");
    it = answered_.erase(it);
  }
  for (std::string& what : check_records(disk_->journal()))
    problem(what);
  const auto replayed = tune::TrialLoop::verify_replay(disk_->journal(), config.search_alg.get(),
                                                       config.scheduler.get());
  if (!replayed)
    return problem("verify_replay: " + replayed.error().to_string());
  const auto restored = tune::TrialLoop::restore(disk_->journal(), config.search_alg.get(),
                                                 config.scheduler.get(), {"/sim", scenario_.cpus});
  if (!restored)
    return problem("restore: " + restored.error().to_string());
  if ((*restored)->fingerprint() != *replayed)
    problem("the restored state differs from the replayed one");
}

/// What lies in the folder of a trial that is over belongs to it, or will be deleted.
void World::check_storage() {
  const JournalReader& journal = disk_->journal();
  for (const tune::TrialRow& row : tune::read_trials(journal).value_or_throw()) {
    if (!row.is_over())
      continue;
    std::set<std::uint32_t> known;
    for (const auto& checkpoint : tune::read_checkpoints(journal, row.id).value_or_throw())
      known.insert(checkpoint.ref.number);
    for (const std::uint32_t number : disk_->numbers(row.id))
      if (!known.contains(number) && !not_removed_.contains({row.id, number}))
        problem("checkpoint " + std::to_string(number) + " of trial " + to_string(row.id) +
                " is left behind");
  }
}

}  // namespace troupe::simulation
