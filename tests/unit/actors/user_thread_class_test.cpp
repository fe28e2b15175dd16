#include <troupe/actors/registry.hpp>
#include <troupe/actors/session.hpp>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>
#include <tests/unit/actors/peer.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

std::atomic<int> alive{0};
std::atomic<int> cleaned_up{0};
std::atomic<bool> step_runs{false};
std::atomic<bool> call_runs{false};

/// Counts; misbehaves where its configuration says so.
class Probe : public Trainable {
public:
  Probe() { ++alive; }
  ~Probe() override { --alive; }
  void setup(const Config& config) override {
    config_ = config;
    wait_in("setup");
    if (asks("throw_in_setup"))
      throw std::runtime_error("no simulator");
  }
  Metrics step() override {
    ++count_;
    ++of_object_;
    if (asks("throw_in_step"))
      throw 7;
    if (asks("wait")) {
      step_runs = true;
      while (!should_stop())
        std::this_thread::yield();
    }
    if (asks("report"))
      report({{"x", 1}});
    if (asks("too_large"))
      return {{"text", std::string(9 << 20, 'x')}};
    Metrics metrics{{"count", count_}, {"of_object", of_object_}};
    if (asks("done"))
      metrics["done"] = true;
    if (asks("should_checkpoint"))
      metrics["should_checkpoint"] = true;
    if (asks("own_times"))
      metrics["time_this_iter_s"] = 2.5, metrics["timestamp"] = 17;
    if (asks("context")) {
      metrics["context"] = get_context().experiment_name + "/" + get_context().trial_name;
      metrics["so_far"] = get_context().iteration;
    }
    return metrics;
  }
  void save_checkpoint(const std::filesystem::path& folder) override {
    wait_in("save_checkpoint");
    if (asks("throw_in_save"))
      throw std::runtime_error("disk on fire");
    std::ofstream(folder / "count") << count_;
  }
  void load_checkpoint(const std::filesystem::path& folder) override {
    wait_in("load_checkpoint");
    if (asks("throw_in_load"))
      throw std::runtime_error("cannot parse");
    std::ifstream(folder / "count") >> count_;
  }
  bool reset_config(const Config& config) override {
    config_ = config;
    wait_in("reset_config");
    if (asks("throw_in_reset"))
      throw std::runtime_error("stuck");
    count_ = 0;
    return !asks("refuse");
  }
  void cleanup() override {
    ++cleaned_up;
    wait_in("cleanup");
    if (asks("throw_in_cleanup"))
      throw std::runtime_error("never mind");
  }

private:
  bool asks(const char* key) const { return config_.contains(key); }
  /// Until it is asked to return, where the configuration names the call.
  void wait_in(const char* call) const {
    if (config_.get_or("wait_in", "").as_string() != call)
      return;
    call_runs = true;
    while (!should_stop())
      std::this_thread::yield();
    if (asks("throw_when_asked"))
      throw std::runtime_error("interrupted");
  }

  Config config_;
  int64_t count_ = 0;
  int64_t of_object_ = 0;
};
TROUPE_TRAINABLE(Probe);

class Plain : public Trainable {
public:
  Metrics step() override { return {{"x", 1}}; }
};
TROUPE_TRAINABLE(Plain);

/// Two checkpoints, of the iterations 1 and 2, newest first.
std::vector<CheckpointRef> two_checkpoints(Peer& peer) {
  std::vector<CheckpointRef> refs;
  peer.mailbox().post(peer.order("Probe"));
  peer.expect<TrialStarted>();
  for (uint32_t number = 0; number < 2; ++number) {
    peer.answer(peer.expect<Reported>(), number == 1 ? Verdict::stop : Verdict::go_on, number);
    refs.insert(refs.begin(), peer.expect<CheckpointSaved>().checkpoint);
  }
  peer.expect<TrialEnded>();
  return refs;
}

}  // namespace

TEST_CASE("a class trainable is set up, stepped, told to stop, and cleaned up at the end") {
  cleaned_up = 0;
  {
    Peer peer;
    peer.mailbox().post(peer.order("Probe", {{"context", true}}));
    const auto started = peer.expect<TrialStarted>();
    CHECK(started.iteration == 0);
    CHECK_FALSE(started.checkpoint);
    Reported report = peer.expect<Reported>();
    CHECK(report.message == 1);
    CHECK(report.iteration == 1);
    CHECK_FALSE(report.done);
    CHECK(report.metrics.at("count").as_int() == 1);
    CHECK(report.metrics.at("training_iteration").as_int() == 1);
    CHECK(report.metrics.at("timestamp").as_int() > 1'600'000'000);
    CHECK(report.metrics.at("timestamp").as_int() < 100'000'000'000);
    CHECK(report.metrics.at("context").as_string() == "experiment/Probe_0");
    CHECK(report.metrics.at("so_far").as_int() == 0);
    peer.answer(report);
    report = peer.expect<Reported>();
    CHECK(report.metrics.at("so_far").as_int() == 1);
    peer.answer(report, Verdict::stop);
    const auto ended = peer.expect<TrialEnded>();
    CHECK_FALSE(ended.returned);
    CHECK(ended.reusable);
    CHECK(alive == 1);
    CHECK(cleaned_up == 0);
    CHECK(peer.thread().join_for(std::chrono::seconds(60)));
    CHECK(peer.wait_end() == "orderly");
  }
  CHECK(alive == 0);
  CHECK(cleaned_up == 1);
}

TEST_CASE("done and should_checkpoint are passed on, own times are kept and summed up") {
  Peer peer;
  peer.mailbox().post(
      peer.order("Probe", {{"done", true}, {"should_checkpoint", true}, {"own_times", true}}));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>());
  const auto second = peer.expect<Reported>();
  CHECK(second.done);
  CHECK(second.wants_checkpoint);
  CHECK(second.metrics.at("time_this_iter_s").as_double() == 2.5);
  CHECK(second.metrics.at("time_total_s").as_double() == 5.0);
  CHECK(second.metrics.at("timestamp").as_int() == 17);
}

TEST_CASE("a checkpoint is saved before the next step and restored with its iteration and time") {
  Peer peer;
  const auto refs = two_checkpoints(peer);
  CHECK(refs[0].iteration == 2);
  CHECK(refs[0].number == 1);
  RunTrial again = peer.order("Probe", {}, 1);
  again.checkpoints = refs;
  peer.mailbox().post(again);
  const auto started = peer.expect<TrialStarted>();
  CHECK(started.iteration == 2);
  CHECK(started.checkpoint == 1);
  CHECK(started.damaged.empty());
  const auto report = peer.expect<Reported>();
  CHECK(report.iteration == 3);
  CHECK(report.message == 1);
  CHECK(report.metrics.at("count").as_int() == 3);
  CHECK(report.metrics.at("time_total_s").as_double() >= refs[0].time_total_s);
}

TEST_CASE("a damaged checkpoint is passed over and said so") {
  Peer peer;
  const auto refs = two_checkpoints(peer);
  std::ofstream(peer.folder() / refs[0].directory / "count") << "9";
  RunTrial again = peer.order("Probe", {}, 1);
  again.checkpoints = refs;
  peer.mailbox().post(again);
  const auto started = peer.expect<TrialStarted>();
  CHECK(started.iteration == 1);
  CHECK(started.checkpoint == 0);
  CHECK(started.damaged == std::vector<uint32_t>{1});
  CHECK(started.note.find("count") != std::string::npos);
}

TEST_CASE("without a whole checkpoint the trial starts from nothing and says so") {
  Peer peer;
  const auto refs = two_checkpoints(peer);
  for (const auto& ref : refs)
    std::filesystem::remove_all(peer.folder() / ref.directory);
  RunTrial again = peer.order("Probe", {}, 1);
  again.checkpoints = refs;
  peer.mailbox().post(again);
  const auto started = peer.expect<TrialStarted>();
  CHECK(started.iteration == 0);
  CHECK(started.damaged == std::vector<uint32_t>{1, 0});
  CHECK(peer.expect<Reported>().iteration == 1);
}

TEST_CASE("a whole checkpoint that user code cannot load fails the trial") {
  Peer peer;
  const auto refs = two_checkpoints(peer);
  RunTrial again = peer.order("Probe", {{"throw_in_load", true}}, 1);
  again.checkpoints = refs;
  peer.mailbox().post(again);
  CHECK(peer.expect<TrialFailed>().message ==
        "load_checkpoint of " + refs[0].directory + " failed: std::runtime_error: cannot parse");
}

TEST_CASE("a reused object is reset instead of set up, and another trainable replaces it") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe"));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop);
  peer.expect<TrialEnded>();

  RunTrial next = peer.order("Probe", {}, 1);
  next.reset = true;
  peer.mailbox().post(next);
  peer.expect<TrialStarted>();
  auto report = peer.expect<Reported>();
  CHECK(report.metrics.at("count").as_int() == 1);
  CHECK(report.metrics.at("of_object").as_int() == 2);
  peer.answer(report, Verdict::pause);
  peer.expect<TrialEnded>();

  cleaned_up = 0;
  next = peer.order("Plain", {}, 2);
  next.reset = true;
  peer.mailbox().post(next);
  peer.expect<TrialStarted>();
  CHECK(cleaned_up == 1);
  CHECK(alive == 0);
  CHECK(peer.expect<Reported>().metrics.at("x").as_int() == 1);
}

TEST_CASE("a refused reset is no failure") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe"));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop);
  peer.expect<TrialEnded>();
  RunTrial next = peer.order("Probe", {{"refuse", true}}, 1);
  next.reset = true;
  peer.mailbox().post(next);
  CHECK(peer.expect<ResetRefused>().key.trial == TrialId(1));
}

TEST_CASE("what user code throws fails the trial with the place, the type and the text") {
  const std::pair<const char*, std::string> cases[] = {
      {"throw_in_setup", "setup failed: std::runtime_error: no simulator"},
      {"throw_in_step",
       "step 1 failed: an exception of type int was thrown (not derived from std::exception)"},
      {"report",
       "step 1 failed: failed_precondition: troupe::report is for function trainables: a "
       "class returns its metrics from step(), and asks for a checkpoint with "
       "{\"should_checkpoint\", true}"},
  };
  for (const auto& [what, message] : cases) {
    Peer peer;
    peer.mailbox().post(peer.order("Probe", {{what, true}}));
    if (std::string(what) != "throw_in_setup")
      peer.expect<TrialStarted>();
    const auto failed = peer.expect<TrialFailed>();
    CHECK(failed.message == message);
    CHECK_FALSE(failed.storage_full);
    CHECK(alive == 0);
    // The thread is there for another trial all the same.
    peer.mailbox().post(peer.order("Probe", {}, 1));
    peer.expect<TrialStarted>();
  }
}

TEST_CASE("failures while saving, resetting and cleaning up are told or survived") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe", {{"throw_in_save", true}}));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop, 0);
  CHECK(peer.expect<TrialFailed>().message ==
        "save_checkpoint failed: std::runtime_error: disk on fire");

  peer.mailbox().post(peer.order("Plain", {}, 1));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop, 1);
  CHECK(peer.expect<TrialFailed>().message.find("override save_checkpoint") != std::string::npos);

  peer.mailbox().post(peer.order("Probe", {{"throw_in_cleanup", true}}, 2));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop);
  peer.expect<TrialEnded>();
  RunTrial next = peer.order("Probe", {{"throw_in_reset", true}}, 3);
  next.reset = true;
  peer.mailbox().post(next);
  CHECK(peer.expect<TrialFailed>().message == "reset_config failed: std::runtime_error: stuck");
}

TEST_CASE("metrics beyond the limits fail the trial instead of the store") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe", {{"too_large", true}}));
  peer.expect<TrialStarted>();
  const auto failed = peer.expect<TrialFailed>();
  CHECK(failed.message.find("resource_exhausted") == 0);
  CHECK(failed.permanent);
}

TEST_CASE("an unknown trainable fails its trial and names the known ones") {
  Peer peer;
  peer.mailbox().post(peer.order("Prob"));
  const std::string message = peer.expect<TrialFailed>().message;
  CHECK(message.find("no trainable 'Prob'") == 0);
  CHECK(message.find("Probe") != std::string::npos);
}

TEST_CASE("a trial that is told to stop ends after the running step, whose result is dropped") {
  Peer peer;
  step_runs = false;
  peer.mailbox().post(peer.order("Probe", {{"wait", true}}));
  peer.expect<TrialStarted>();
  while (!step_runs)
    std::this_thread::yield();
  const auto progress = peer.mailbox().progress();
  CHECK(progress.activity == detail::UserActivity::step);
  CHECK(progress.step == 1);
  peer.mailbox().post(StopTrial{WorkerId(1), {TrialId(0), 0}, 5});
  CHECK_FALSE(peer.expect<TrialEnded>().returned);
  CHECK_FALSE(std::filesystem::exists(peer.folder() / "checkpoint_000005"));
}

TEST_CASE("a trial that waits for its answer can be told to stop instead") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe"));
  peer.expect<TrialStarted>();
  peer.expect<Reported>();
  peer.mailbox().post(StopTrial{WorkerId(1), {TrialId(0), 1}, std::nullopt});  // another attempt
  peer.mailbox().post(StopTrial{WorkerId(1), {TrialId(0), 0}, std::nullopt});
  peer.expect<TrialEnded>();
  CHECK(peer.nothing_said());
}

TEST_CASE("answers of other attempts and to other messages are not taken") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe"));
  peer.expect<TrialStarted>();
  Reported report = peer.expect<Reported>();
  Reported other = report;
  other.key.attempt = 1;
  peer.answer(other, Verdict::stop);
  other = report;
  other.message = 2;
  peer.answer(other, Verdict::stop);
  peer.answer(report);
  CHECK(peer.expect<Reported>().iteration == 2);
}

TEST_CASE("a cancelled step fails its trial with the reason, a late cancel does nothing") {
  Peer peer;
  step_runs = false;
  peer.mailbox().post(peer.order("Probe", {{"wait", true}}));
  peer.expect<TrialStarted>();
  while (!step_runs)
    std::this_thread::yield();
  const uint64_t call = peer.mailbox().progress().calls;
  peer.mailbox().cancel({call - 1, "another call"});
  peer.mailbox().cancel({call, "step 1 took too long"});
  CHECK(peer.expect<TrialFailed>().message == "step 1 took too long");
}

TEST_CASE("each call that is cancelled fails its trial with the reason, and leaves nothing half") {
  for (const std::string call : {"setup", "reset_config", "load_checkpoint", "save_checkpoint"}) {
    for (const bool throws : {false, true}) {
      CAPTURE(call);
      CAPTURE(throws);
      Peer peer;
      RunTrial order = peer.order("Probe", {{"wait_in", call}}, 1);
      if (throws)
        order.config["throw_when_asked"] = true;
      order.next_checkpoint = 2;
      order.reset = call == "reset_config";
      if (call == "load_checkpoint")
        order.checkpoints = two_checkpoints(peer);
      if (call == "reset_config") {
        peer.mailbox().post(peer.order("Probe"));
        peer.expect<TrialStarted>();
        peer.answer(peer.expect<Reported>(), Verdict::stop);
        peer.expect<TrialEnded>();
      }
      call_runs = false;
      peer.mailbox().post(order);
      if (call == "save_checkpoint") {
        peer.expect<TrialStarted>();
        peer.answer(peer.expect<Reported>(), Verdict::go_on, 2);
      }
      while (!call_runs)
        std::this_thread::yield();
      const auto progress = peer.mailbox().progress();
      CHECK(progress.trial == order.key);
      peer.mailbox().cancel({progress.calls, "it took too long"});
      const std::string message = peer.expect<TrialFailed>().message;
      CHECK(message.find("it took too long") == 0);
      if (!throws)
        CHECK(message == "it took too long");
      CHECK_FALSE(std::filesystem::exists(peer.folder() / "checkpoint_000002"));
      CHECK(alive == 0);
    }
  }
}

TEST_CASE("a cleanup that is cancelled and returns does not fail the trial after it") {
  Peer peer;
  peer.mailbox().post(peer.order("Probe", {{"wait_in", "cleanup"}}));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop);
  peer.expect<TrialEnded>();
  call_runs = false;
  peer.mailbox().post(peer.order("Plain", {}, 1));
  while (!call_runs)
    std::this_thread::yield();
  peer.mailbox().cancel({peer.mailbox().progress().calls, "it took too long"});
  peer.expect<TrialStarted>();
  CHECK_FALSE(peer.mailbox().stop_asked());
  CHECK(peer.expect<Reported>().iteration == 1);
}

TEST_CASE("an abandoned thread is heard of no more and ends when its call returns") {
  step_runs = false;
  Peer peer;
  peer.mailbox().post(peer.order("Probe", {{"wait", true}}));
  peer.expect<TrialStarted>();
  while (!step_runs)
    std::this_thread::yield();
  peer.thread().abandon();
  while (alive > 0)
    std::this_thread::yield();
  CHECK(peer.nothing_said());
}
