#pragma once

#include <troupe/actors/detail/worker_control.hpp>
#include <troupe/actors/protocol.hpp>
#include <troupe/base/error.hpp>
#include <troupe/runtime/process/exit_status.hpp>
#include <troupe/serialization/value_codec.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/type_id.hpp>

/// The messages between actors, and how they look on a wire.
///
/// In one process they travel as they are. Between processes the user's data (configurations,
/// metrics) is one string made by `encode_map`, because CAF's own way is several times slower and
/// sets no bounds. Floating point numbers travel as their bits: NaN and infinities arrive as sent.
namespace troupe::detail {

/// Everything that two ends must agree about: names, numbers and fields of all messages.
std::string protocol_text();
/// The same as a number, compared in the hello.
uint64_t protocol_hash();

/// The first message of a worker. Its layout never changes, so that any two versions can tell each
/// other that they do not fit.
struct WorkerHello {
  uint64_t protocol = 0;  ///< `protocol_hash()` of the sender
  std::string version;    ///< for people
  int64_t pid = 0;
  caf::actor control;  ///< the worker's control actor
};

/// The answer to `WorkerHello`.
struct WorkerWelcome {
  WorkerSetup setup;
  caf::actor controller;  ///< where results go
};

struct Ping {
  uint64_t number = 0;
};

struct Pong {
  uint64_t number = 0;
  UserProgress progress;
};

// -- within one process only --------------------------------------------------------------------

/// Controller to agent: start a worker and look after it.
struct StartOrder {
  StartWorker start;
  std::string experiment_name;
  Duration step_timeout{0};
  Duration setup_timeout{0};
  bool log_to_file = false;
};

class UserThread;

/// The agent's answer to `StartOrder`: where the worker's orders go.
struct Route {
  caf::actor keeper;
  std::shared_ptr<UserThread> thread;  ///< of a worker in this process, else none
};

/// A worker process ended.
struct ProcessEnded {
  ExitStatus status;
};

/// The store cannot go on.
struct StoreFailed {
  Error error{ErrorCode::internal, ""};
};

// -- inspection ---------------------------------------------------------------------------------

// CAF's type of a name differs between its versions: each can be made from a literal.

template <class Inspector, std::size_t N>
auto number_field(Inspector& f, const char (&name)[N], double& x) {
  return f.field(
      name, [&x] { return std::bit_cast<uint64_t>(x); },
      [&x](uint64_t bits) {
        x = std::bit_cast<double>(bits);
        return true;
      });
}

/// Values beyond `last` are refused.
template <class Inspector, std::size_t N, class Enum>
auto enum_field(Inspector& f, const char (&name)[N], Enum& x, Enum last) {
  return f.field(
      name, [&x] { return static_cast<uint8_t>(x); },
      [&x, last](uint8_t number) {
        if (number > static_cast<uint8_t>(last))
          return false;
        x = static_cast<Enum>(number);
        return true;
      });
}

template <class Inspector, std::size_t N>
auto duration_field(Inspector& f, const char (&name)[N], Duration& x) {
  return f.field(
      name, [&x] { return int64_t{x.count()}; },
      [&x](int64_t ns) {
        x = Duration(ns);
        return true;
      });
}

/// Whoever sends a map has checked its limits (`check_limits`).
template <class Inspector, std::size_t N>
auto map_field(Inspector& f, const char (&name)[N], Map& x) {
  return f.field(
      name, [&x] { return encode_map(x); },
      [&x](const std::string& bytes) {
        Result<Map> map = decode_map(bytes);
        if (map)
          x = std::move(map).value();
        return map.has_value();
      });
}

template <class Inspector>
bool inspect(Inspector& f, CancelCall& x) {
  return f.object(x).fields(f.field("call", x.call), f.field("reason", x.reason));
}

template <class Inspector>
bool inspect(Inspector& f, WorkerHello& x) {
  return f.object(x).fields(f.field("protocol", x.protocol), f.field("version", x.version),
                            f.field("pid", x.pid), f.field("control", x.control));
}

template <class Inspector>
bool inspect(Inspector& f, WorkerSetup& x) {
  return f.object(x).fields(
      f.field("worker", x.worker.value), f.field("experiment_name", x.experiment_name),
      number_field(f, "cpus", x.cpus), f.field("memory_bytes", x.memory_bytes));
}

template <class Inspector>
bool inspect(Inspector& f, WorkerWelcome& x) {
  return f.object(x).fields(f.field("setup", x.setup), f.field("controller", x.controller));
}

template <class Inspector>
bool inspect(Inspector& f, Ping& x) {
  return f.object(x).fields(f.field("number", x.number));
}

template <class Inspector>
bool inspect(Inspector& f, UserProgress& x) {
  return f.object(x).fields(enum_field(f, "activity", x.activity, UserActivity::ended),
                            f.field("calls", x.calls), f.field("step", x.step),
                            duration_field(f, "running", x.running), f.field("trial", x.trial),
                            f.field("failure", x.failure));
}

template <class Inspector>
bool inspect(Inspector& f, Pong& x) {
  return f.object(x).fields(f.field("number", x.number), f.field("progress", x.progress));
}

}  // namespace troupe::detail

namespace troupe {

template <class Inspector>
bool inspect(Inspector& f, TrialKey& x) {
  return f.object(x).fields(f.field("trial", x.trial.value), f.field("attempt", x.attempt));
}

template <class Inspector>
bool inspect(Inspector& f, CheckpointRef& x) {
  return f.object(x).fields(f.field("number", x.number), f.field("iteration", x.iteration),
                            detail::number_field(f, "time_total_s", x.time_total_s),
                            f.field("bytes", x.bytes), f.field("directory", x.directory),
                            f.field("digest", x.digest));
}

template <class Inspector>
bool inspect(Inspector& f, WorkerStarted& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("pid", x.pid),
                            f.field("host", x.host));
}

template <class Inspector>
bool inspect(Inspector& f, TrialStarted& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key),
                            f.field("iteration", x.iteration), f.field("checkpoint", x.checkpoint),
                            f.field("damaged", x.damaged), f.field("note", x.note));
}

template <class Inspector>
bool inspect(Inspector& f, ResetRefused& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key));
}

template <class Inspector>
bool inspect(Inspector& f, Reported& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key),
                            f.field("message", x.message), f.field("iteration", x.iteration),
                            detail::map_field(f, "metrics", x.metrics), f.field("done", x.done),
                            f.field("wants_checkpoint", x.wants_checkpoint),
                            f.field("checkpoint", x.checkpoint));
}

template <class Inspector>
bool inspect(Inspector& f, CheckpointSaved& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key),
                            f.field("checkpoint", x.checkpoint));
}

template <class Inspector>
bool inspect(Inspector& f, TrialEnded& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key),
                            f.field("returned", x.returned), f.field("reusable", x.reusable));
}

template <class Inspector>
bool inspect(Inspector& f, TrialFailed& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key),
                            f.field("message", x.message), f.field("storage_full", x.storage_full),
                            f.field("permanent", x.permanent));
}

template <class Inspector>
bool inspect(Inspector& f, WorkerExited& x) {
  return f.object(x).fields(f.field("worker", x.worker.value),
                            detail::enum_field(f, "kind", x.kind, FailureKind::start),
                            f.field("message", x.message));
}

template <class Inspector>
bool inspect(Inspector& f, StopRequested& x) {
  return f.object(x).fields(f.field("reason", x.reason));
}

template <class Inspector>
bool inspect(Inspector& f, ResourceRequest& x) {
  return f.object(x).fields(detail::number_field(f, "cpus", x.cpus),
                            f.field("memory_bytes", x.memory_bytes));
}

template <class Inspector>
bool inspect(Inspector& f, StartWorker& x) {
  return f.object(x).fields(f.field("worker", x.worker.value),
                            detail::enum_field(f, "isolation", x.isolation, Isolation::thread),
                            f.field("resources", x.resources));
}

template <class Inspector>
bool inspect(Inspector& f, RunTrial& x) {
  return f.object(x).fields(
      f.field("worker", x.worker.value), f.field("key", x.key), f.field("trainable", x.trainable),
      detail::map_field(f, "config", x.config), f.field("trial_name", x.trial_name),
      f.field("trial_dir", x.trial_dir), f.field("reset", x.reset),
      f.field("next_checkpoint", x.next_checkpoint), f.field("checkpoints", x.checkpoints));
}

template <class Inspector>
bool inspect(Inspector& f, Answer& x) {
  return f.object(x).fields(
      f.field("worker", x.worker.value), f.field("key", x.key), f.field("message", x.message),
      detail::enum_field(f, "verdict", x.verdict, Verdict::pause), f.field("save", x.save));
}

template <class Inspector>
bool inspect(Inspector& f, StopTrial& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("key", x.key),
                            f.field("save", x.save));
}

template <class Inspector>
bool inspect(Inspector& f, StopWorker& x) {
  return f.object(x).fields(f.field("worker", x.worker.value), f.field("at_once", x.at_once));
}

template <class Inspector>
bool inspect(Inspector& f, DeleteCheckpoint& x) {
  return f.object(x).fields(f.field("trial", x.trial.value), f.field("trial_dir", x.trial_dir),
                            f.field("checkpoint", x.checkpoint));
}

}  // namespace troupe

// Numbers travel on the wire: append only, never remove, never reorder. The offset leaves room for
// the messages of a service that Troupe is embedded in.
CAF_BEGIN_TYPE_ID_BLOCK(troupe_actors, caf::first_custom_type_id + 1000)

CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::WorkerHello))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::WorkerWelcome))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::Ping))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::Pong))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::CancelCall))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::WorkerStarted))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::TrialStarted))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::ResetRefused))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::Reported))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::CheckpointSaved))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::TrialEnded))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::TrialFailed))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::WorkerExited))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::StopRequested))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::StartWorker))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::RunTrial))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::Answer))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::StopTrial))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::StopWorker))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::DeleteCheckpoint))
// Within one process.
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::StartOrder))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::Route))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::ProcessEnded))
CAF_ADD_TYPE_ID(troupe_actors, (troupe::detail::StoreFailed))
CAF_ADD_ATOM(troupe_actors, troupe::detail, look_after_atom)
CAF_ADD_ATOM(troupe_actors, troupe::detail, store_news_atom)
CAF_ADD_ATOM(troupe_actors, troupe::detail, tick_due_atom)
CAF_ADD_ATOM(troupe_actors, troupe::detail, thread_ended_atom)
CAF_ADD_ATOM(troupe_actors, troupe::detail, give_up_atom)
CAF_ADD_ATOM(troupe_actors, troupe::detail, thread_abandoned_atom)
CAF_ADD_TYPE_ID(troupe_actors, (troupe::Computed))

CAF_END_TYPE_ID_BLOCK(troupe_actors)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::detail::StartOrder)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::detail::Route)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::detail::ProcessEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::detail::StoreFailed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::Computed)
