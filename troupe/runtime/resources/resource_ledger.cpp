#include <troupe/runtime/resources/resource_ledger.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace troupe {

namespace {

constexpr double cpu_steps = 10'000;
constexpr double max_cpus = 1e6;

int64_t to_steps(double cpus) {
  return std::llround(cpus * cpu_steps);
}
double to_cpus(int64_t steps) {
  return static_cast<double>(steps) / cpu_steps;
}

std::string cpus_text(int64_t steps) {
  return to_string(ResourceRequest{.cpus = to_cpus(steps), .memory_bytes = 0});
}

}  // namespace

ResourceLedger::ResourceLedger(ResourceRequest capacity)
    : total_cpu_(to_steps(std::clamp(capacity.cpus, 0.0, max_cpus))),
      total_memory_(capacity.memory_bytes),
      counts_memory_(capacity.memory_bytes != 0) {}

Status ResourceLedger::check(const ResourceRequest& request) {
  // Also false for NaN.
  if (request.cpus >= 0 && request.cpus <= max_cpus) {
    if (request.cpus == 0 || to_steps(request.cpus) > 0)
      return ok();
    return Error(ErrorCode::invalid_argument,
                 "a trial asks for less than 0.0001 CPUs; ask for 0 or for more");
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", request.cpus);
  return Error(ErrorCode::invalid_argument, "a trial asks for " + std::string(text.data()) +
                                                " CPUs; it must be a number from 0 to 1000000");
}

std::optional<std::string> ResourceLedger::impossible(const ResourceRequest& request) const {
  if (const int64_t asked = to_steps(request.cpus); asked > total_cpu_) {
    return "a trial asks for " + cpus_text(asked) + ", but there is a total of " +
           cpus_text(total_cpu_);
  }
  if (counts_memory_ && request.memory_bytes > total_memory_) {
    return "a trial asks for " + format_bytes(request.memory_bytes) +
           " of memory, but there is a total of " + format_bytes(total_memory_);
  }
  return std::nullopt;
}

bool ResourceLedger::fits(const ResourceRequest& request) const {
  return how_many_fit(request, 1) == 1;
}

std::optional<std::string> ResourceLedger::why_not(const ResourceRequest& request) const {
  if (auto never = impossible(request))
    return never;
  if (const int64_t asked = to_steps(request.cpus); asked > total_cpu_ - used_cpu_) {
    return "waits for CPUs: asks for " + cpus_text(asked) + ", " +
           cpus_text(total_cpu_ - used_cpu_) + " of " + cpus_text(total_cpu_) + " are free";
  }
  if (counts_memory_ && request.memory_bytes > total_memory_ - used_memory_) {
    return "waits for memory: asks for " + format_bytes(request.memory_bytes) + ", " +
           format_bytes(total_memory_ - used_memory_) + " of " + format_bytes(total_memory_) +
           " are free";
  }
  return std::nullopt;
}

uint64_t ResourceLedger::how_many_fit(const ResourceRequest& request, uint64_t at_most) const {
  uint64_t count = at_most;
  if (const int64_t asked = to_steps(request.cpus); asked > 0)
    count = std::min(count, static_cast<uint64_t>((total_cpu_ - used_cpu_) / asked));
  if (counts_memory_ && request.memory_bytes > 0)
    count = std::min(count, (total_memory_ - used_memory_) / request.memory_bytes);
  return count;
}

bool ResourceLedger::acquire(const ResourceRequest& request) {
  if (!fits(request))
    return false;
  used_cpu_ += to_steps(request.cpus);
  if (counts_memory_)
    used_memory_ += request.memory_bytes;
  return true;
}

Status ResourceLedger::release(const ResourceRequest& request) {
  const int64_t cpu = to_steps(request.cpus);
  const uint64_t memory = counts_memory_ ? request.memory_bytes : 0;
  if (cpu > used_cpu_ || memory > used_memory_) {
    return Error(ErrorCode::failed_precondition,
                 "resources given back that were not taken: " + to_string(request));
  }
  used_cpu_ -= cpu;
  used_memory_ -= memory;
  return ok();
}

ResourceRequest ResourceLedger::capacity() const {
  return {.cpus = to_cpus(total_cpu_), .memory_bytes = total_memory_};
}

ResourceRequest ResourceLedger::free() const {
  return {.cpus = to_cpus(total_cpu_ - used_cpu_), .memory_bytes = total_memory_ - used_memory_};
}

}  // namespace troupe
