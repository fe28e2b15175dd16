#include <troupe/actors/controller_core.hpp>

#include <functional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

/// A loop that returns what the test put there.
class FakeLoop : public Loop {
public:
  Result<Step> next{Step{}};
  bool is_finished = false;
  std::optional<TimePoint> deadline;
  std::vector<Event> seen;
  std::function<void()> during;

  Result<Step> start(TimePoint, int64_t) override { return take(); }
  Result<Step> handle(const Event& event) override {
    seen.push_back(event);
    if (during)
      during();
    return take();
  }
  bool finished() const override { return is_finished; }
  std::optional<TimePoint> next_deadline() const override { return deadline; }

private:
  Result<Step> take() { return std::exchange(next, Result<Step>(Step{})); }
};

class FakeSink : public ControllerCore::Sink {
public:
  bool room = true;
  uint64_t last = 10;
  std::optional<Error> refuse;
  std::vector<std::string> done;

  bool has_room() const override { return room; }
  Result<Sequence> submit(std::vector<WriteSet> writes) override {
    if (refuse)
      return *refuse;
    last += writes.size();
    return Sequence(last);
  }
  void execute(Command command) override {
    if (const auto* start = std::get_if<StartWorker>(&command)) {
      done.push_back("start " + to_string(start->worker));
    } else if (const auto* stop = std::get_if<StopWorker>(&command)) {
      done.push_back((stop->at_once ? "kill " : "stop ") + to_string(stop->worker));
    } else if (const auto* answer = std::get_if<Answer>(&command)) {
      done.push_back("answer " + std::to_string(answer->message));
    } else if (const auto* remove = std::get_if<DeleteCheckpoint>(&command)) {
      done.push_back("delete " + std::to_string(remove->checkpoint.number));
    }
  }
  std::vector<std::string> take_done() { return std::exchange(done, {}); }
};

using Done = std::vector<std::string>;

struct Fixture {
  FakeLoop loop;
  FakeSink sink;
  ControllerCore core{loop, sink, Sequence(10)};

  static Step step(std::size_t writes, std::vector<Command> accepted,
                   std::vector<Command> durable = {}) {
    Step step;
    step.writes.resize(writes);
    step.when_accepted = std::move(accepted);
    step.when_durable = std::move(durable);
    return step;
  }
  void start_with_worker() {
    loop.next = step(1, {StartWorker{WorkerId(1), Isolation::process, {}}});
    core.start({}, 0);
    core.on_accepted(Sequence(11));
    CHECK(sink.take_done() == Done{"start 1"});
  }
  void feed(EventBody body) { core.handle({{}, 0, std::move(body)}); }
  static Reported report(uint64_t message) {
    Reported report;
    report.worker = WorkerId(1);
    report.message = message;
    return report;
  }
  static Answer answer(uint64_t message) { return {WorkerId(1), {}, message, {}, {}}; }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "commands wait until what they follow from is accepted") {
  start_with_worker();
  loop.next = step(2, {answer(1)});
  feed(report(1));
  loop.next = step(1, {answer(2)});
  feed(report(2));
  CHECK(sink.take_done().empty());
  core.on_accepted(Sequence(12));
  CHECK(sink.take_done().empty());
  core.on_accepted(Sequence(13));
  CHECK(sink.take_done() == Done{"answer 1"});
  core.on_accepted(Sequence(14));
  CHECK(sink.take_done() == Done{"answer 2"});
}

TEST_CASE_FIXTURE(Fixture, "irreversible commands wait until it is durable") {
  start_with_worker();
  DeleteCheckpoint remove;
  remove.checkpoint.number = 4;
  loop.next = step(1, {answer(1)}, {remove});
  feed(report(1));
  core.on_accepted(Sequence(12));
  CHECK(sink.take_done() == Done{"answer 1"});
  core.on_durable(Sequence(11));
  CHECK(sink.take_done().empty());
  core.on_durable(Sequence(12));
  CHECK(sink.take_done() == Done{"delete 4"});
}

TEST_CASE_FIXTURE(Fixture, "a step without writes keeps its place in the order") {
  start_with_worker();
  loop.next = step(1, {answer(1)});
  feed(report(1));
  loop.next = step(0, {answer(2)});
  feed(report(2));
  CHECK(sink.take_done().empty());
  core.on_accepted(Sequence(12));
  CHECK(sink.take_done() == Done{"answer 1", "answer 2"});
  loop.next = step(0, {answer(3)});
  feed(report(3));
  CHECK(sink.take_done() == Done{"answer 3"});
}

TEST_CASE_FIXTURE(Fixture, "events wait, in order, while the store has no room") {
  start_with_worker();
  sink.room = false;
  feed(report(1));
  sink.room = true;
  feed(report(2));
  CHECK(loop.seen.empty());
  core.on_accepted(Sequence(11));
  REQUIRE(loop.seen.size() == 2);
  CHECK(std::get<Reported>(loop.seen[0].body).message == 1);
}

TEST_CASE_FIXTURE(Fixture, "events of workers that are not there are dropped and counted") {
  start_with_worker();
  Reported stranger = report(1);
  stranger.worker = WorkerId(2);
  feed(stranger);
  CHECK(loop.seen.empty());
  feed(WorkerExited{WorkerId(1), FailureKind::user, ""});
  feed(WorkerExited{WorkerId(1), FailureKind::user, "again"});
  feed(report(1));
  CHECK(loop.seen.size() == 1);
  CHECK(core.counters().stale_events == 3);
  CHECK(core.counters().process_workers == 1);
}

TEST_CASE_FIXTURE(Fixture, "it is finished when all is said, done, durable, and nobody is left") {
  start_with_worker();
  loop.next = step(1, {});
  feed(WorkerExited{WorkerId(1), FailureKind::user, ""});
  loop.is_finished = true;
  CHECK_FALSE(core.finished());
  core.on_accepted(Sequence(12));
  CHECK_FALSE(core.finished());
  core.on_durable(Sequence(12));
  CHECK(core.finished());
}

TEST_CASE_FIXTURE(Fixture, "an error of the loop stops the workers and waits for the journal") {
  start_with_worker();
  loop.next = step(1, {answer(1)});
  feed(report(1));
  loop.next = Error(ErrorCode::internal, "broken");
  feed(report(2));
  CHECK(sink.take_done() == Done{"stop 1"});
  core.on_accepted(Sequence(12));
  CHECK(sink.take_done().empty());  // nothing new is begun
  CHECK(core.error()->message() == "broken");
  feed(WorkerExited{WorkerId(1), FailureKind::user, ""});
  CHECK_FALSE(core.finished());
  core.on_durable(Sequence(12));
  CHECK(core.finished());
  CHECK_FALSE(core.next_deadline());
}

TEST_CASE_FIXTURE(Fixture, "what a loop throws is an error of the loop") {
  start_with_worker();
  loop.during = [] { throw std::runtime_error("searcher of a user"); };
  feed(report(1));
  REQUIRE(core.error());
  CHECK(core.error()->message().find("searcher of a user") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "an error of the store does not wait for the journal") {
  start_with_worker();
  loop.next = step(1, {answer(1)});
  feed(report(1));
  core.store_failed(Error(ErrorCode::io, "disk"));
  core.store_failed(Error(ErrorCode::io, "disk again"));
  CHECK(sink.take_done() == Done{"stop 1"});
  feed(WorkerExited{WorkerId(1), FailureKind::user, ""});
  CHECK(core.finished());
  CHECK(core.error()->message() == "disk");
}

TEST_CASE_FIXTURE(Fixture, "a refused submission is an error of the store") {
  sink.refuse = Error(ErrorCode::failed_precondition, "stopped");
  loop.next = step(1, {StartWorker{WorkerId(1), Isolation::process, {}}});
  core.start({}, 0);
  CHECK(core.finished());
  CHECK(sink.take_done().empty());
  CHECK(core.error()->message() == "stopped");
}

TEST_CASE_FIXTURE(Fixture, "giving up after an error kills what is still there") {
  start_with_worker();
  core.fail(Error(ErrorCode::internal, "broken"));
  CHECK(sink.take_done() == Done{"stop 1"});
  core.fail(Error(ErrorCode::cancelled, "destroyed"), true);
  CHECK(sink.take_done() == Done{"kill 1"});
  CHECK(core.error()->message() == "broken");
}
