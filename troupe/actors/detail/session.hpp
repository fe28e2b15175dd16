#pragma once

#include <troupe/actors/session.hpp>

#include <optional>

/// The trial that runs on this thread, behind the functions of session.hpp.
namespace troupe::detail {

class Session {
public:
  virtual ~Session() = default;

  /// See `troupe::report`. `checkpoint` may be null.
  virtual void report(Metrics metrics, const Checkpoint* checkpoint) = 0;
  virtual std::optional<Checkpoint> checkpoint() const = 0;
  virtual const TrialContext& context() const = 0;
  virtual bool should_stop() const = 0;
};

/// Makes `session` the one of this thread as long as the object lives.
class ScopedSession {
public:
  explicit ScopedSession(Session& session);
  ~ScopedSession();
  ScopedSession(const ScopedSession&) = delete;
  ScopedSession& operator=(const ScopedSession&) = delete;

private:
  Session* previous_;
};

}  // namespace troupe::detail
