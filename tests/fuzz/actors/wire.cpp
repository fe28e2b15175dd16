// The messages of a worker process. The first byte says which one the rest is taken for: any bytes
// are either a message that is written and read back the same, or refused.
#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/system_config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <caf/actor_system.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/byte_buffer.hpp>

namespace {

using namespace troupe;

struct TypesFirst {
  TypesFirst() { detail::init_all_types(); }
};
struct Wire : TypesFirst {
  detail::SystemConfig config{1};
  caf::actor_system system{config};
};

template <class Message>
void try_message(caf::actor_system& system, const void* data, std::size_t size) {
  Message message;
  caf::binary_deserializer source{system, data, size};
  if (!source.apply(message))
    return;
  caf::byte_buffer first;
  caf::binary_serializer sink{system, first};
  if (!sink.apply(message))
    std::abort();
  Message same;
  caf::binary_deserializer again{system, first.data(), first.size()};
  caf::byte_buffer second;
  caf::binary_serializer last{system, second};
  if (!again.apply(same) || !last.apply(same) || first != second)
    std::abort();
}

using Try = void (*)(caf::actor_system&, const void*, std::size_t);

/// In the order of their numbers on the wire.
constexpr Try messages[] = {try_message<detail::WorkerHello>,
                            try_message<detail::WorkerWelcome>,
                            try_message<detail::Ping>,
                            try_message<detail::Pong>,
                            try_message<detail::CancelCall>,
                            try_message<WorkerStarted>,
                            try_message<TrialStarted>,
                            try_message<ResetRefused>,
                            try_message<Reported>,
                            try_message<CheckpointSaved>,
                            try_message<TrialEnded>,
                            try_message<TrialFailed>,
                            try_message<WorkerExited>,
                            try_message<StopRequested>,
                            try_message<StartWorker>,
                            try_message<RunTrial>,
                            try_message<Answer>,
                            try_message<StopTrial>,
                            try_message<StopWorker>,
                            try_message<DeleteCheckpoint>};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Never destroyed: its threads would outlive what CAF keeps for the whole program.
  static Wire& wire = *new Wire;
  if (size > 0 && data[0] < std::size(messages))
    messages[data[0]](wire.system, data + 1, size - 1);
  return 0;
}
