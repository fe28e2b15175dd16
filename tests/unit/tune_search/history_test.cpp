#include <troupe/tune/search/detail/history.hpp>

#include <cmath>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

History example() {
  History history;
  for (std::uint32_t i = 0; i < 5; ++i)
    history.begin(TrialId(i), {i / 10.0, std::nan("")}, 100 + i % 4);
  const auto end = [&](std::uint32_t trial, double loss, Observation::State state, double excess) {
    Observation& o = *history.find(TrialId(trial));
    o.losses = {loss};
    o.step = trial + 1;
    o.set_excess({excess, -1});
    history.finish(o, state);
  };
  end(0, 3, Observation::State::complete, 0);
  end(1, 1, Observation::State::complete, 0.5);
  end(2, 0, Observation::State::pruned, 0);
  end(3, 2, Observation::State::complete, -3);
  return history;
}

TEST_CASE("a history counts what is over, what runs, and what is different") {
  const History history = example();
  CHECK(history.size() == 5);
  CHECK(history.over() == 4);
  CHECK(history.running() == 1);
  CHECK(history.distinct() == 4);
  CHECK(history.seen(103));
  CHECK(!history.seen(104));
}

TEST_CASE("the best observation is complete and feasible") {
  CHECK(example().best()->trial == TrialId(3));
  CHECK(History().best() == nullptr);
}

TEST_CASE("a violation is the sum of what constraints exceed, NaN exceeds everything") {
  Observation o;
  o.set_excess({-5, 0.25, 0.5});
  CHECK(o.violation == 0.75);
  CHECK(!o.feasible());
  o.set_excess({std::nan("")});
  CHECK(o.violation == infinity);
  CHECK(o.excess[0] == infinity);
}

TEST_CASE("a saved history reads back equal") {
  const History history = example();
  History back;
  REQUIRE(back.restore(history.save(), 2).has_value());
  CHECK(back.save() == history.save());
  CHECK(back.over() == 4);
  CHECK(back.distinct() == 4);
  CHECK(back.find(TrialId(1))->violation == 0.5);
}

TEST_CASE("a running trial may turn out to lie elsewhere, one that is over may not") {
  History history = example();
  history.amend(TrialId(4), {0.9, 0.5}, 555);
  CHECK(history.find(TrialId(4))->point == Point{0.9, 0.5});
  CHECK(history.seen(555));
  CHECK(history.seen(100));  // trial 0 has it, too
  history.amend(TrialId(4), {0.9, 0.25}, 556);
  CHECK_FALSE(history.seen(555));
  history.amend(TrialId(1), {0.5, 0.5}, 777);
  CHECK_FALSE(history.seen(777));
  history.amend(TrialId(9), {0.5, 0.5}, 778);
  CHECK(history.size() == 5);
  History back;
  REQUIRE(back.restore(history.save(), 2).has_value());
  CHECK(back.distinct() == history.distinct());
}

TEST_CASE("damaged histories are refused and change nothing") {
  const Value good = example().save();
  List no_point = good.as_list();
  no_point[1].as_list().pop_back();
  List twice = good.as_list();
  twice.push_back(twice[0]);
  List bad_state = good.as_list();
  bad_state[0].as_list()[1] = 9;
  History history = example();
  for (const Value& bad :
       {Value(), Value(3), Value(List{1}), Value(no_point), Value(twice), Value(bad_state)}) {
    const Status status = history.restore(bad, 2);
    REQUIRE(!status.has_value());
    CHECK(status.error().code() == ErrorCode::corrupt);
  }
  CHECK(!history.restore(good, 3).has_value());
  CHECK(history.save() == good);
}

}  // namespace
}  // namespace troupe::tune::detail
