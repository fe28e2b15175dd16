#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/detail/fault_text.hpp>
#include <troupe/base/fault_point.hpp>
#include <troupe/base/random.hpp>

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include <signal.h>
#include <unistd.h>

namespace troupe {
namespace {

struct Armed {
  FaultAction action;
  std::uint64_t hits = 0;
  std::uint64_t fired = 0;
};

struct Registry {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
  std::map<std::string, Armed, std::less<>> armed;
  std::map<std::string, std::uint64_t, std::less<>> fired;

  void count_armed() {
    detail::armed_fault_points.store(static_cast<std::uint32_t>(armed.size()),
                                     std::memory_order_relaxed);
  }
};

// Never destroyed: points are reached until the last static destructor has run.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

Status check(const Registry& all, std::string_view name, const FaultAction& action) {
  if (!all.names.contains(name)) {
    const std::vector<std::string> names(all.names.begin(), all.names.end());
    return Error(ErrorCode::not_found, "this program has no fault point '" + std::string(name) +
                                           "'" + detail::did_you_mean(name, names));
  }
  if (!(action.probability > 0 && action.probability <= 1))
    return Error(ErrorCode::invalid_argument,
                 "fault point '" + std::string(name) + "': the probability must be above 0 and " +
                     "at most 1, not " + std::to_string(action.probability));
  return ok();
}

bool acts(Armed& armed) {
  const FaultAction& action = armed.action;
  const std::uint64_t hit = armed.hits++;
  if (hit < action.skip)
    return false;
  if (action.times != 0 && armed.fired >= action.times)
    return false;
  if (action.probability < 1 &&
      !Random(action.seed, hit, RandomPurpose::fault_injection).chance(action.probability))
    return false;
  ++armed.fired;
  return true;
}

}  // namespace

Status FaultPoints::arm(std::string_view name, FaultAction action) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  TROUPE_RETURN_IF_ERROR(check(all, name, action));
  all.armed.insert_or_assign(std::string(name), Armed{action});
  all.count_armed();
  return ok();
}

void FaultPoints::disarm(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.armed.find(name); found != all.armed.end())
    all.armed.erase(found);
  all.count_armed();
}

void FaultPoints::disarm_all() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.armed.clear();
  all.count_armed();
}

std::vector<std::string> FaultPoints::list() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return {all.names.begin(), all.names.end()};
}

std::uint64_t FaultPoints::hits(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.armed.find(name);
  return found == all.armed.end() ? 0 : found->second.hits;
}

std::uint64_t FaultPoints::fired(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.fired.find(name);
  return found == all.fired.end() ? 0 : found->second;
}

Status FaultPoints::arm_from_text(std::string_view text) {
  TROUPE_TRY(faults, detail::parse_faults(text));
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& [name, action] : faults)
    TROUPE_RETURN_IF_ERROR(check(all, name, action));
  for (const auto& [name, action] : faults)
    all.armed.insert_or_assign(name, Armed{action});
  all.count_armed();
  return ok();
}

Status FaultPoints::arm_from_environment() {
  const char* text = std::getenv("TROUPE_FAULTS");
  if (text == nullptr)
    return ok();
  return arm_from_text(text).with_context("environment variable TROUPE_FAULTS");
}

namespace detail {

bool register_fault_point(const char* name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.names.emplace(name);
  return true;
}

Status hit_fault_point(const char* name) {
  Registry& all = registry();
  FaultKind kind = FaultKind::fail;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.armed.find(std::string_view(name));
    if (found == all.armed.end() || !acts(found->second))
      return ok();
    kind = found->second.action.kind;
    ++all.fired[found->first];
  }
  Error error(ErrorCode::unavailable, "fault point '" + std::string(name) + "' was told to fail");
  switch (kind) {
    case FaultKind::fail:
      return error;
    case FaultKind::throw_error:
      throw Exception(std::move(error));
    case FaultKind::kill:
      ::kill(::getpid(), SIGKILL);
      std::abort();
    case FaultKind::stop:
      ::kill(::getpid(), SIGSTOP);
      return ok();
  }
  return ok();
}

}  // namespace detail
}  // namespace troupe
