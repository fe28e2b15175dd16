#include <troupe/actors/detail/keeper.hpp>
#include <troupe/actors/detail/messages.hpp>
#include <troupe/actors/detail/meta_objects.hpp>
#include <troupe/actors/detail/system_config.hpp>
#include <troupe/actors/embed.hpp>

#include <cstdlib>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/init_global_meta_objects.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <tests/integration/actors/fixture.hpp>
#include <tests/support/child_program.hpp>
#include <unistd.h>

using namespace troupe;
using namespace troupe::testing;

namespace {

/// How a worker process behaves before it becomes one; see troupe_test_start.
class WorkerStarts {
public:
  explicit WorkerStarts(const char* how) { ::setenv("TROUPE_TEST_WORKER", how, 1); }
  ~WorkerStarts() { ::unsetenv("TROUPE_TEST_WORKER"); }
};

Outcome start_badly(RuntimeOptions options) {
  Stage stage(options);
  stage.add("Counter");
  REQUIRE(stage.play());
  return stage.loop.outcomes[0];
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

std::size_t open_files() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder))
    ++count;
  ::closedir(folder);
  return count;
}

}  // namespace

TEST_CASE("a worker that never says hello is given up at its deadline") {
  const WorkerStarts how("hangs");
  RuntimeOptions options = hasty();
  options.worker_start_timeout = std::chrono::milliseconds(700);
  const Outcome outcome = start_badly(options);
  CHECK(outcome.kind == FailureKind::start);
  CHECK(has(outcome.message, "did not say hello within 700 ms"));
  CHECK(has(outcome.message, "troupe::run"));
}

TEST_CASE("a worker that ends before its hello shows what it printed") {
  const WorkerStarts how("crashes");
  const Outcome outcome = start_badly({});
  CHECK(outcome.kind == FailureKind::start);
  CHECK(has(outcome.message, "ended before it said hello"));
  CHECK(has(outcome.message, "troupe::run"));
  CHECK(has(outcome.message, "called exit(2)"));
  CHECK(has(outcome.message, "unknown option --troupe-worker"));
}

TEST_CASE("a program that makes a runtime instead of running its worker is no fork bomb") {
  const WorkerStarts how("forgets");
  const Outcome outcome = start_badly({});
  CHECK(outcome.kind == FailureKind::start);
  CHECK(has(outcome.message, "called exit(64)"));
  CHECK(has(outcome.message, "main() made a Runtime instead of running the worker"));
}

TEST_CASE("a worker of another protocol is refused") {
  detail::init_all_types();
  detail::SystemConfig config{1};
  caf::actor_system system{config};
  ProcessSpawner spawner;
  caf::scoped_actor self{system};
  detail::StartOrder order;
  order.start = {WorkerId(5), Isolation::process, {}};
  const caf::actor keeper = detail::spawn_process_keeper(
      system, spawner,
      {"here", "", std::chrono::seconds(30), std::chrono::seconds(30), std::chrono::seconds(1)},
      order, caf::actor_cast<caf::actor>(self));
  // The real worker needs milliseconds to come up.
  self->send(keeper, detail::WorkerHello{1, "9.9.9", 1, caf::actor_cast<caf::actor>(self)});
  self->receive(
      [](const WorkerExited& exited) {
        CHECK(exited.worker == WorkerId(5));
        CHECK(exited.kind == FailureKind::start);
        CHECK(has(exited.message, "another protocol than this process (Troupe 9.9.9"));
      },
      caf::after(std::chrono::seconds(60)) >> [] { FAIL("the keeper says nothing"); });
}

TEST_CASE("a service runs trials on its own actor system") {
  detail::init_all_types();
  caf::actor_system_config config;
  embed::configure(config);
  config.set("caf.middleman.app-identifiers", std::vector<std::string>{"a-service"});
  caf::actor_system system{config};
  for (const Isolation isolation : {Isolation::process, Isolation::thread}) {
    Runtime runtime(system);
    MemoryJournal journal;
    ScriptLoop loop;
    loop.isolation = isolation;
    ScratchFolder scratch("embedded");
    ScriptLoop::TrialScript script;
    script.trainable = "Counter";
    script.trial_dir = scratch.path().string();
    loop.trials.push_back(script);
    Controller controller(runtime, loop, journal, {});
    REQUIRE(controller.wait_for(long_enough));
    CHECK(loop.outcomes[0].ended == "stopped");
  }
}

TEST_CASE("an actor system without the I/O module is refused") {
  detail::init_all_types();
  caf::actor_system_config config;
  caf::actor_system system{config};
  CHECK_THROWS_AS(Runtime runtime(system), Exception);
}

TEST_CASE("two experiments share a runtime, each with its own workers") {
  Stage stage;
  stage.add("Counter", {{"start", 100}}).stop_after = 200;
  ScriptLoop other;
  other.trials = stage.loop.trials;
  other.trials[0].config = {{"start", 500}};
  MemoryJournal other_journal;
  Controller first(stage.runtime, stage.loop, stage.journal, {});
  Controller second(stage.runtime, other, other_journal, {});
  REQUIRE(first.wait_for(long_enough));
  REQUIRE(second.wait_for(long_enough));
  CHECK(stage.loop.outcomes[0].results.back().at("value").as_int() == 300);
  CHECK(other.outcomes[0].results.back().at("value").as_int() == 700);
}

TEST_CASE("workers leave no open files behind") {
  Stage stage;
  for (int i = 0; i < 3; ++i)
    stage.add("Counter");
  REQUIRE(stage.play());
  const std::size_t before = open_files();
  auto trials = stage.loop.trials;
  stage.loop = ScriptLoop();
  for (int i = 0; i < 10; ++i) {
    stage.loop.trials.insert(stage.loop.trials.end(), trials.begin(), trials.end());
  }
  REQUIRE(stage.play());
  CHECK(open_files() <= before + 2);
}

TEST_CASE("workers of a driver that is killed die with it") {
  ScratchFolder scratch("killed_driver");
  const std::string fifo = (scratch.path() / "fifo").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const FileDescriptor announced = open_file(fifo, O_RDWR).value_or_throw();
  ProcessSpawner spawner;
  const Process driver = spawner.spawn({.arguments = {"--drive", fifo}}).value_or_throw();
  pollfd waiting{announced.get(), POLLIN, 0};
  REQUIRE(::poll(&waiting, 1, 60'000) == 1);
  char text[32] = "";
  REQUIRE(::read(announced.get(), text, sizeof text - 1) > 0);
  const ProcessWatch worker(std::atoi(text));
  CHECK_FALSE(worker.ended(0));
  REQUIRE(driver.wait(Duration::zero()).error().code() == ErrorCode::deadline_exceeded);
  // Not through the spawner, which would kill the whole group: as an operator does it.
  ::kill(driver.pid(), SIGKILL);
  CHECK(worker.ended());
}

TEST_CASE("options that cannot work are refused") {
  RuntimeOptions options;
  options.stop_grace = Duration::zero();
  CHECK_THROWS_AS(Runtime runtime(options), Exception);
  options = {};
  options.cpus = -1;
  CHECK_THROWS_AS(Runtime runtime(options), Exception);
  options = {};
  CHECK(Runtime(options).cpus() >= 1);
}
