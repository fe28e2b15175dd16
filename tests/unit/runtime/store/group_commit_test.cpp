#include <troupe/runtime/store/group_commit.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using std::chrono::milliseconds;

namespace {

struct Fixture {
  VirtualClock clock;
  GroupCommit group{{.records = 64, .delay = milliseconds(5)}};

  void accept(std::size_t records) { group.accepted(records, clock.now()); }
  bool due() const { return group.due(clock.now()); }
};

}  // namespace

TEST_CASE("nothing is synced while nothing waits") {
  Fixture fixture;
  fixture.clock.advance(std::chrono::hours(1));
  CHECK_FALSE(fixture.due());
  CHECK_FALSE(fixture.group.deadline());
  fixture.accept(0);
  fixture.group.hurry();
  CHECK_FALSE(fixture.due());
}

TEST_CASE("a group is synced when its first record has waited long enough") {
  Fixture fixture;
  fixture.accept(1);
  CHECK(fixture.group.deadline() == fixture.clock.now() + milliseconds(5));
  fixture.clock.advance(milliseconds(4));
  fixture.accept(1);
  CHECK_FALSE(fixture.due());
  fixture.clock.advance(milliseconds(1));
  CHECK(fixture.due());
}

TEST_CASE("a full group is synced at once") {
  Fixture fixture;
  fixture.accept(63);
  CHECK_FALSE(fixture.due());
  fixture.accept(1);
  CHECK(fixture.due());
  CHECK(*fixture.group.deadline() <= fixture.clock.now());
}

TEST_CASE("what comes during a sync is a new group with its own time") {
  Fixture fixture;
  fixture.accept(64);
  fixture.group.sync_started();
  CHECK_FALSE(fixture.due());
  CHECK(fixture.group.waiting() == 0);
  fixture.clock.advance(milliseconds(4));
  fixture.accept(1);
  CHECK(fixture.group.deadline() == fixture.clock.now() + milliseconds(5));
  CHECK_FALSE(fixture.due());
}

TEST_CASE("somebody who waits makes a group due, and only that one") {
  Fixture fixture;
  fixture.accept(1);
  fixture.group.hurry();
  CHECK(fixture.due());
  fixture.group.sync_started();
  fixture.accept(1);
  CHECK_FALSE(fixture.due());
}
