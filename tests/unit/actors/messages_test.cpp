#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/system_config.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/byte_buffer.hpp>
#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::detail;

namespace {

struct TypesFirst {
  TypesFirst() { init_all_types(); }
};
struct Wire : TypesFirst {
  SystemConfig config{1};
  caf::actor_system system{config};
};

template <class T>
caf::byte_buffer bytes_of(caf::actor_system& system, T& value) {
  caf::byte_buffer buffer;
  caf::binary_serializer sink{system, buffer};
  REQUIRE(sink.apply(value));
  return buffer;
}

template <class T>
bool read(caf::actor_system& system, const caf::byte_buffer& buffer, T& value) {
  caf::binary_deserializer source{system, buffer};
  return source.apply(value);
}

template <class T>
T through_wire(caf::actor_system& system, T value) {
  const caf::byte_buffer buffer = bytes_of(system, value);
  T copy;
  REQUIRE(read(system, buffer, copy));
  return copy;
}

}  // namespace

TEST_CASE_FIXTURE(Wire, "numbers that are not finite arrive as they were sent") {
  CheckpointRef ref{3, 7, -std::numeric_limits<double>::infinity(), 5, "checkpoint_000003", "d"};
  CHECK(through_wire(system, ref) == ref);
  Reported report;
  report.metrics = {{"nan", std::nan("")},
                    {"inf", std::numeric_limits<double>::infinity()},
                    {"big", std::numeric_limits<int64_t>::min()},
                    {"nested", Map{{"list", List{1, "a"}}}}};
  report.checkpoint = ref;
  report.message = 9;
  const Reported copy = through_wire(system, report);
  CHECK(copy.metrics == report.metrics);
  CHECK(copy.checkpoint == ref);
  CHECK(copy.message == 9);
  CHECK_FALSE(copy.done);
}

TEST_CASE_FIXTURE(Wire, "orders arrive as they were sent") {
  RunTrial order{WorkerId(1),
                 {TrialId(2), 3},
                 "t",
                 {{"x", 1.0}},
                 "n",
                 "/d",
                 true,
                 4,
                 {{1, 2, 3.0, 4, "c", "d"}, {}}};
  const RunTrial copy = through_wire(system, order);
  CHECK(copy.key == order.key);
  CHECK(copy.config == order.config);
  CHECK(copy.checkpoints == order.checkpoints);
  const Answer answer = through_wire(system, Answer{WorkerId(1), {}, 5, Verdict::pause, 6});
  CHECK(answer.verdict == Verdict::pause);
  CHECK(answer.save == 6);
}

TEST_CASE_FIXTURE(Wire, "a message cut short or with an impossible value is refused") {
  Answer answer{WorkerId(1), {TrialId(2), 3}, 5, static_cast<Verdict>(9), std::nullopt};
  caf::byte_buffer buffer = bytes_of(system, answer);
  CHECK_FALSE(read(system, buffer, answer));

  Reported report;
  report.metrics = {{"loss", 0.5}};
  buffer = bytes_of(system, report);
  for (std::size_t size = 0; size < buffer.size(); ++size) {
    caf::byte_buffer part(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(read(system, part, report));
  }
}

TEST_CASE_FIXTURE(Wire, "the numbers of message types are append only") {
  const std::vector<std::string> names{"troupe::detail::WorkerHello",
                                       "troupe::detail::WorkerWelcome",
                                       "troupe::detail::Ping",
                                       "troupe::detail::Pong",
                                       "troupe::detail::CancelCall",
                                       "troupe::WorkerStarted",
                                       "troupe::TrialStarted",
                                       "troupe::ResetRefused",
                                       "troupe::Reported",
                                       "troupe::CheckpointSaved",
                                       "troupe::TrialEnded",
                                       "troupe::TrialFailed",
                                       "troupe::WorkerExited",
                                       "troupe::StopRequested",
                                       "troupe::StartWorker",
                                       "troupe::RunTrial",
                                       "troupe::Answer",
                                       "troupe::StopTrial",
                                       "troupe::StopWorker",
                                       "troupe::DeleteCheckpoint"};
  auto number = static_cast<unsigned>(caf::id_block::troupe_actors::begin);
  for (const std::string& name : names) {
    CHECK(protocol_text().find(std::to_string(number++) + ' ' + name + '\n') != std::string::npos);
  }
}

TEST_CASE("the protocol hash covers every field by name") {
  const std::string text = protocol_text();
  for (const char* field : {"wants_checkpoint", "time_total_s", "next_checkpoint", "at_once",
                            "damaged", "running", "experiment_name", "reason"}) {
    CHECK_MESSAGE(text.find(field) != std::string::npos, field);
  }
  CHECK(text.find("not inspectable") == std::string::npos);
  CHECK(protocol_hash() == protocol_hash());
  CHECK(protocol_hash() != 0);
}
