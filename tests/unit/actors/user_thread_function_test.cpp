#include <troupe/actors/registry.hpp>
#include <troupe/actors/session.hpp>

#include <fstream>
#include <stdexcept>
#include <thread>

#include <doctest/doctest.h>
#include <tests/unit/actors/peer.hpp>

using namespace troupe;
using namespace troupe::testing;

namespace {

Metrics counts(const Config& config) {
  int64_t n = 0;
  if (const auto checkpoint = get_checkpoint()) {
    std::ifstream(checkpoint->directory() / "n") >> n;
  }
  while (n < config.at("until").as_int()) {
    ++n;
    const auto folder = get_context().trial_dir / "scratch";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "n") << n;
    report({{"n", n}}, Checkpoint::from_directory(folder));
  }
  if (config.contains("last"))
    return {{"last", n}};
  return {};
}
TROUPE_TRAINABLE_FUNCTION(counts);

double number(const Config&) {
  return 2.5;
}
TROUPE_TRAINABLE_FUNCTION(number);

void silent(const Config&) {}
TROUPE_TRAINABLE_FUNCTION(silent);

/// Catches everything that report throws, and goes on.
void stubborn(const Config&) {
  for (int i = 0; i < 3; ++i) {
    try {
      report({{"i", i}});
    } catch (...) {
    }
  }
}
TROUPE_TRAINABLE_FUNCTION(stubborn);

void throws(const Config&) {
  report({{"x", 1}});
  throw std::out_of_range("no more data");
}
TROUPE_TRAINABLE_FUNCTION(throws);

/// Reports too much; told to be modest it thinks again.
void boasts(const Config& config) {
  try {
    report({{"blob", std::string(9 << 20, 'x')}});
  } catch (const Exception&) {
    if (!config.contains("modest"))
      throw;
  }
  report({{"x", 1}});
  throw std::runtime_error("and then failed");
}
TROUPE_TRAINABLE_FUNCTION(boasts);

void saves_nothing(const Config&) {
  report({{"x", 1}}, Checkpoint::from_directory("/nonexistent/folder"));
}
TROUPE_TRAINABLE_FUNCTION(saves_nothing);

}  // namespace

TEST_CASE("a function reports with checkpoints, and what it returns is one more result") {
  Peer peer;
  RunTrial order = peer.order("counts", {{"until", 2}, {"last", true}});
  order.next_checkpoint = 7;
  peer.mailbox().post(order);
  peer.expect<TrialStarted>();
  auto report = peer.expect<Reported>();
  REQUIRE(report.checkpoint);
  CHECK(report.checkpoint->number == 7);
  CHECK(report.checkpoint->iteration == 1);
  peer.answer(report);
  report = peer.expect<Reported>();
  CHECK(report.checkpoint->number == 8);
  peer.answer(report);
  report = peer.expect<Reported>();
  CHECK(report.metrics.at("last").as_int() == 2);
  CHECK(report.iteration == 3);
  CHECK_FALSE(report.checkpoint);
  peer.answer(report, Verdict::stop);
  CHECK(peer.expect<TrialEnded>().returned);
}

TEST_CASE("a function goes on from its checkpoint") {
  Peer peer;
  peer.mailbox().post(peer.order("counts", {{"until", 1}}));
  peer.expect<TrialStarted>();
  auto report = peer.expect<Reported>();
  const CheckpointRef saved = *report.checkpoint;
  peer.answer(report, Verdict::pause);
  CHECK_FALSE(peer.expect<TrialEnded>().returned);

  RunTrial order = peer.order("counts", {{"until", 2}}, 1);
  order.checkpoints = {saved};
  order.next_checkpoint = 1;
  peer.mailbox().post(order);
  CHECK(peer.expect<TrialStarted>().iteration == 1);
  report = peer.expect<Reported>();
  CHECK(report.metrics.at("n").as_int() == 2);
  CHECK(report.iteration == 2);
  peer.answer(report);
  CHECK(peer.expect<TrialEnded>().returned);
}

TEST_CASE("a function may return a number or nothing") {
  Peer peer;
  peer.mailbox().post(peer.order("number"));
  peer.expect<TrialStarted>();
  const auto report = peer.expect<Reported>();
  CHECK(report.metrics.at("_metric").as_double() == 2.5);
  peer.answer(report);
  CHECK(peer.expect<TrialEnded>().returned);
  peer.mailbox().post(peer.order("silent", {}, 1));
  peer.expect<TrialStarted>();
  CHECK(peer.expect<TrialEnded>().returned);
}

TEST_CASE("a function that swallows the order to stop is told again at every report") {
  Peer peer;
  peer.mailbox().post(peer.order("stubborn"));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>(), Verdict::stop);
  CHECK_FALSE(peer.expect<TrialEnded>().returned);
  CHECK(peer.nothing_said());
}

TEST_CASE("what a function throws fails its trial") {
  Peer peer;
  peer.mailbox().post(peer.order("throws"));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>());
  CHECK(peer.expect<TrialFailed>().message == "step 2 failed: std::out_of_range: no more data");
}

TEST_CASE(
    "a result that cannot be sent fails its trial for good, what a function throws does not") {
  Peer peer;
  peer.mailbox().post(peer.order("boasts"));
  peer.expect<TrialStarted>();
  const auto failed = peer.expect<TrialFailed>();
  CHECK(failed.permanent);
  CHECK(failed.message.find("report") != std::string::npos);
  peer.mailbox().post(peer.order("boasts", {{"modest", true}}, 1));
  peer.expect<TrialStarted>();
  peer.answer(peer.expect<Reported>());
  CHECK_FALSE(peer.expect<TrialFailed>().permanent);
}

TEST_CASE("a checkpoint that cannot be copied is an error at the call") {
  Peer peer;
  peer.mailbox().post(peer.order("saves_nothing"));
  peer.expect<TrialStarted>();
  CHECK(peer.expect<TrialFailed>().message.find("/nonexistent/folder") != std::string::npos);
}

TEST_CASE("the session belongs to the thread of the trial") {
  CHECK_THROWS_AS(report({{"x", 1}}), Exception);
  CHECK_THROWS_AS((void)get_context(), Exception);
  CHECK_THROWS_AS((void)get_checkpoint(), Exception);
  CHECK_THROWS_AS((void)should_stop(), Exception);
}
