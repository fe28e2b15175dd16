#pragma once

#include <troupe/actors/protocol.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace troupe::tune::detail {

/// The workers of a run: which trial each has, which are idle, which were let go.
class WorkerPool {
public:
  struct Worker {
    ResourceRequest resources{};
    std::optional<TrialId> trial{};  ///< nothing: idle

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& resources& trial;
    }
  };

  /// The id of the next worker that is started; 1, 2, ...
  [[nodiscard]] WorkerId next_id() const { return next_; }
  [[nodiscard]] const Worker* find(WorkerId id) const;
  [[nodiscard]] bool is_leaving(WorkerId id) const { return leaving_.contains(id); }
  /// No worker is left, not even one that was let go and has not exited.
  [[nodiscard]] bool empty() const { return workers_.empty() && leaving_.empty(); }
  [[nodiscard]] const std::set<WorkerId>& idle() const { return idle_; }
  /// The idle worker with exactly these resources that came first.
  [[nodiscard]] std::optional<WorkerId> find_idle(const ResourceRequest& resources) const;
  /// Those that have a trial or are idle.
  [[nodiscard]] const std::map<WorkerId, Worker>& all() const { return workers_; }
  [[nodiscard]] std::size_t size() const { return workers_.size(); }

  /// `next_id()` is started for a trial.
  void start(WorkerId id, const ResourceRequest& resources, TrialId trial);
  void assign(WorkerId id, TrialId trial);
  void release(WorkerId id);
  /// It was told to go; `exited` is still to come.
  void let_go(WorkerId id);
  void exited(WorkerId id);
  /// The driver died, and all workers with it.
  void forget_all();

  /// Those that were let go are not part of the state: no decision looks at them.
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& workers_& next_;
    if constexpr (Archive::is_loading::value) {
      idle_.clear();
      for (const auto& [id, worker] : workers_)
        if (!worker.trial)
          idle_.insert(id);
    }
  }

private:
  std::map<WorkerId, Worker> workers_;
  std::set<WorkerId> idle_;
  std::set<WorkerId> leaving_;
  WorkerId next_{1};
};

}  // namespace troupe::tune::detail
