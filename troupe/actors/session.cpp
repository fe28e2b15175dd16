#include <troupe/actors/detail/session.hpp>
#include <troupe/actors/session.hpp>
#include <troupe/base/error.hpp>

#include <utility>

namespace troupe {

namespace {

thread_local detail::Session* current = nullptr;

detail::Session& session(const char* function) {
  if (current)
    return *current;
  throw Exception(ErrorCode::failed_precondition,
                  std::string("troupe::") + function +
                      " was called where no trial runs: call it from the trainable, on the thread "
                      "that Troupe called the trainable on");
}

}  // namespace

namespace detail {

ScopedSession::ScopedSession(Session& session) : previous_(std::exchange(current, &session)) {}

ScopedSession::~ScopedSession() {
  current = previous_;
}

}  // namespace detail

Checkpoint Checkpoint::from_directory(std::filesystem::path directory) {
  return Checkpoint(std::move(directory));
}

void report(Metrics metrics) {
  session("report").report(std::move(metrics), nullptr);
}

void report(Metrics metrics, const Checkpoint& checkpoint) {
  session("report").report(std::move(metrics), &checkpoint);
}

std::optional<Checkpoint> get_checkpoint() {
  return session("get_checkpoint").checkpoint();
}

const TrialContext& get_context() {
  return session("get_context").context();
}

bool should_stop() {
  return session("should_stop").should_stop();
}

}  // namespace troupe
