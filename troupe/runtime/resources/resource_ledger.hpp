#pragma once

#include <troupe/base/result.hpp>
#include <troupe/runtime/resources/resources.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

/// Who holds what of a fixed capacity. A plain value without clock or lock, so that a decision
/// machine can keep one inside its state. CPUs are counted in steps of 1/10000, so that ten times
/// 0.1 is exactly 1.
class ResourceLedger {
public:
  /// `memory_bytes` 0: memory is not counted.
  explicit ResourceLedger(ResourceRequest capacity);

  /// Errors: invalid_argument for negative, not finite or absurd numbers.
  static Status check(const ResourceRequest& request);

  /// Could it ever be granted? The text names the resource, what is asked and the total; nothing:
  /// yes.
  std::optional<std::string> impossible(const ResourceRequest& request) const;
  /// Can it be granted now?
  bool fits(const ResourceRequest& request) const;
  /// Why not now, naming the resource, asked, free and total; nothing when it fits.
  std::optional<std::string> why_not(const ResourceRequest& request) const;
  /// How many more equal requests fit now (at most `at_most`).
  uint64_t how_many_fit(const ResourceRequest& request, uint64_t at_most) const;

  /// Takes it; false and unchanged when it does not fit.
  [[nodiscard]] bool acquire(const ResourceRequest& request);
  /// Gives back what was acquired. Giving back more than is held is a defect: failed_precondition,
  /// unchanged.
  Status release(const ResourceRequest& request);

  ResourceRequest capacity() const;
  ResourceRequest free() const;
  bool idle() const { return used_cpu_ == 0 && used_memory_ == 0; }

  friend bool operator==(const ResourceLedger&, const ResourceLedger&) = default;

private:
  int64_t total_cpu_ = 0;  ///< in 1/10000
  int64_t used_cpu_ = 0;
  uint64_t total_memory_ = 0;
  uint64_t used_memory_ = 0;
  bool counts_memory_ = false;
};

}  // namespace troupe
