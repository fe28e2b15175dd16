#pragma once

#include <troupe/base/result.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Named places in production code where a test can make the call fail, or the process die.
///
/// They are compiled into every build, off by default, and cost one relaxed load when off. Every
/// point of the binary is listed by `FaultPoints::list()` whether or not it was ever reached, so
/// that a test can kill a program at each of them in turn. Name: "folder.operation.moment".
///
///     Status Store::commit(const Batch& batch) {
///       TROUPE_FAULT_POINT("store.commit.before_write");   // returns the injected error
///       ...
///
/// In a program: TROUPE_FAULTS="store.commit.before_write=kill@3;link.send=fail:p=0.1,seed=7".
/// `troupe::run` arms it, and so does each worker process; each process counts its own hits.
namespace troupe {

enum class FaultKind : std::uint8_t {
  fail,         ///< returns Error(unavailable) naming the point
  throw_error,  ///< throws Exception with that error
  kill,         ///< SIGKILL to this process: nothing runs after it
  stop,         ///< SIGSTOP to this process: it hangs until somebody continues or kills it
};

/// What an armed point does. It lets `skip` hits pass, then acts on each following hit with
/// probability `probability`, at most `times` times (0: without end).
struct FaultAction {
  FaultKind kind = FaultKind::fail;
  std::uint64_t skip = 0;
  double probability = 1.0;
  std::uint64_t seed = 0;
  std::uint64_t times = 0;
};

/// The points of this process. All functions are safe to call from any thread.
class FaultPoints {
public:
  /// Arms a point; replaces what was armed there. not_found (with close matches) when this binary
  /// has no such point, invalid_argument when the probability is outside (0, 1].
  static Status arm(std::string_view name, FaultAction action);
  static void disarm(std::string_view name);
  static void disarm_all();
  /// The names of all points in this binary (and loaded plugins), sorted, each once.
  [[nodiscard]] static std::vector<std::string> list();
  /// How often the point was reached since it was armed; 0 when it is not armed.
  [[nodiscard]] static std::uint64_t hits(std::string_view name);
  /// How often the point acted in this process, however often it was armed and disarmed.
  [[nodiscard]] static std::uint64_t fired(std::string_view name);

  /// Arms what a text asks for: `name=kind[@n][:option=value,...]` joined by ';'. kind is fail,
  /// throw, kill or stop; `@n` acts from the n-th hit on (from 1); options are p, seed, times,
  /// skip. Nothing is armed when any part is wrong; the error names the part.
  static Status arm_from_text(std::string_view text);
  /// The same from the environment variable TROUPE_FAULTS; nothing to do when it is not set.
  /// Programs call it at the start of main.
  static Status arm_from_environment();
};

/// Arms a point for a scope; throws Exception when there is no such point. For tests.
class ScopedFault {
public:
  ScopedFault(std::string_view name, FaultAction action) : name_(name) {
    FaultPoints::arm(name, action).value_or_throw();
  }
  ~ScopedFault() { FaultPoints::disarm(name_); }
  ScopedFault(const ScopedFault&) = delete;
  ScopedFault& operator=(const ScopedFault&) = delete;

private:
  std::string name_;
};

namespace detail {

inline std::atomic<std::uint32_t> armed_fault_points{0};

/// Adds the name to the list of points; returns true.
bool register_fault_point(const char* name);
/// The slow way, when any point is armed.
Status hit_fault_point(const char* name);

/// One per point: a static member of a template is initialised at start even when the function that
/// mentions it never runs.
template <class Tag>
struct FaultPointRegistration {
  static inline const bool registered = register_fault_point(Tag::name());
};

template <class Tag>
inline Status fault_point() {
  (void)&FaultPointRegistration<Tag>::registered;
  if (armed_fault_points.load(std::memory_order_relaxed) == 0) [[likely]]
    return ok();
  return hit_fault_point(Tag::name());
}

}  // namespace detail
}  // namespace troupe

/// The point as an expression of type `Status`, for code that handles the error itself.
#define TROUPE_FAULT_STATUS(point_name)                          \
  ([]() -> ::troupe::Status {                                    \
    struct Tag {                                                 \
      static constexpr const char* name() { return point_name; } \
    };                                                           \
    return ::troupe::detail::fault_point<Tag>();                 \
  }())

/// A statement in a function that returns Status or Result: returns the injected error.
#define TROUPE_FAULT_POINT(point_name) TROUPE_RETURN_IF_ERROR(TROUPE_FAULT_STATUS(point_name))

/// A statement for functions that return something else: throws the injected error.
#define TROUPE_FAULT_POINT_THROW(point_name) TROUPE_CHECK_OK(TROUPE_FAULT_STATUS(point_name))
