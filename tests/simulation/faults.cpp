#include "faults.hpp"

#include <algorithm>
#include <utility>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::simulation {
namespace {

/// As a worker process or a driver that is killed in the middle of its work.
bool is_killed_at(const std::string& point, const std::function<void()>& work) {
  const pid_t pid = ::fork();  // style: allow(fork) the child is killed in the middle of its work
  if (pid < 0)
    throw Exception(errno_error(errno, "fork"));
  if (pid == 0) {
    FaultPoints::disarm_all();
    if (FaultPoints::arm(point, {.kind = FaultKind::kill}))
      work();
    ::_exit(1);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) != pid)
    if (errno != EINTR)
      throw Exception(errno_error(errno, "waitpid"));
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

std::string Fault::name() const {
  switch (kind) {
    case FaultKind::fail:
      return point + " fail";
    case FaultKind::throw_error:
      return point + " throw";
    case FaultKind::kill:
      return point + " kill";
    case FaultKind::stop:
      break;
  }
  return point + " stop";
}

const std::vector<Fault>& FaultMenu::of(Moment moment) const {
  switch (moment) {
    case Moment::creation:
      return creation;
    case Moment::opening:
      return opening;
    case Moment::running:
      break;
  }
  return running;
}

Faults::Faults(FaultMenu menu, std::uint64_t seed)
    // A prime beside the lengths of the lists: seeds that follow each other begin far apart.
    : menu_(std::move(menu)), turns_{7 * seed, 7 * seed, 7 * seed} {}

bool Faults::is_chosen(const std::string& point) const {
  return std::any_of(chosen_.begin(), chosen_.end(),
                     [&](const Chosen& chosen) { return chosen.fault.point == point; });
}

std::optional<Fault> Faults::choose(Moment moment, std::uint64_t skip) {
  const std::vector<Fault>& faults = menu_.of(moment);
  std::uint64_t& turn = turns_[static_cast<std::size_t>(moment)];
  for (std::size_t tries = 0; tries < faults.size(); ++tries) {
    const Fault& fault = faults[turn++ % faults.size()];
    if (is_chosen(fault.point))
      continue;
    chosen_.push_back({fault, moment, skip, FaultPoints::fired(fault.point)});
    return fault;
  }
  return std::nullopt;
}

void Faults::enter(Moment moment) {
  rest();
  for (const Chosen& chosen : chosen_)
    if (chosen.moment == moment && chosen.fault.kind != FaultKind::kill)
      FaultPoints::arm(chosen.fault.point,
                       {.kind = chosen.fault.kind, .skip = chosen.skip, .times = 1})
          .value_or_throw();
}

void Faults::rest() {
  FaultPoints::disarm_all();
}

void Faults::drop(Moment moment) {
  std::erase_if(chosen_, [&](const Chosen& chosen) { return chosen.moment == moment; });
}

bool Faults::die_in(std::string_view prefix, const std::function<void()>& work) {
  const auto kill = std::find_if(chosen_.begin(), chosen_.end(), [&](const Chosen& chosen) {
    return chosen.fault.kind == FaultKind::kill && chosen.fault.point.starts_with(prefix);
  });
  if (kill == chosen_.end() || !is_killed_at(kill->fault.point, work))
    return false;
  killed_.push_back(std::move(kill->fault));
  chosen_.erase(kill);
  return true;
}

std::vector<Fault> Faults::take_fired() {
  std::vector<Fault> fired = std::exchange(killed_, {});
  std::erase_if(chosen_, [&](const Chosen& chosen) {
    if (FaultPoints::fired(chosen.fault.point) == chosen.fired_before)
      return false;
    FaultPoints::disarm(chosen.fault.point);
    fired.push_back(chosen.fault);
    return true;
  });
  return fired;
}

}  // namespace troupe::simulation
