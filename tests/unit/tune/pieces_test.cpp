#include <troupe/tune/detail/naming.hpp>
#include <troupe/tune/detail/retention.hpp>
#include <troupe/tune/detail/trial_table.hpp>
#include <troupe/tune/detail/turn_order.hpp>
#include <troupe/tune/detail/worker_pool.hpp>

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::tune::detail {
namespace {

CheckpointRow checkpoint(std::uint32_t number, std::uint64_t iteration,
                         std::optional<double> score = {}) {
  return {.ref = {.number = number, .iteration = iteration}, .score = score};
}

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("by age the oldest checkpoints go") {
  const std::vector<CheckpointRow> rows{checkpoint(0, 2), checkpoint(1, 4), checkpoint(2, 6)};
  CHECK(checkpoints_to_delete(rows, 2, false, Mode::max) == Numbers{0});
  CHECK(checkpoints_to_delete(rows, 3, false, Mode::max) == Numbers{});
  CHECK(checkpoints_to_delete(rows, std::nullopt, false, Mode::max) == Numbers{});
}

TEST_CASE("by score the worst go, but never the newest") {
  const std::vector<CheckpointRow> rows{checkpoint(0, 1, 0.9), checkpoint(1, 2, 0.5),
                                        checkpoint(2, 3, 0.1)};
  CHECK(checkpoints_to_delete(rows, 1, true, Mode::max) == Numbers{1});
  CHECK(checkpoints_to_delete(rows, 1, true, Mode::min) == Numbers{0, 1});
}

TEST_CASE("NaN and missing scores rank below minus infinity, among equals the newer is better") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double worst = -std::numeric_limits<double>::infinity();
  const std::vector<CheckpointRow> rows{checkpoint(0, 1, worst), checkpoint(1, 2, nan),
                                        checkpoint(2, 3), checkpoint(3, 4, 1.0),
                                        checkpoint(4, 5, 1.0)};
  CHECK(checkpoints_to_delete(rows, 4, true, Mode::max) == Numbers{1});
  CHECK(checkpoints_to_delete(rows, 2, true, Mode::max) == Numbers{0, 1, 2});
  CHECK(checkpoints_to_delete(rows, 1, true, Mode::max) == Numbers{0, 1, 2, 3});
}

TEST_CASE("the newest checkpoint is that of the highest iteration") {
  const std::vector<CheckpointRow> rows{checkpoint(0, 8), checkpoint(3, 4), checkpoint(1, 8)};
  CHECK(newest_checkpoint(rows)->ref.number == 1);
  CHECK(newest_checkpoint({}) == nullptr);
}

TEST_CASE("a folder is named after what was varied") {
  const Config config{
      {"lr", 0.00123456}, {"layers", 3}, {"net", Map{{"act", "re/lu, x"}}}, {"flag", true}};
  CHECK(trial_name("My::Model", TrialId(3)) == "My__Model_00003");
  CHECK(trial_name("M", TrialId(1234567)) == "M_1234567");
  CHECK(trial_tag({"flag", "layers", "lr", "net/act"}, config) ==
        "flag=true,layers=3,lr=0.001235,act=re_lu__x");
  CHECK(trial_dir("M_00003", "") == "M_00003");
  CHECK(trial_dir("M_00003", std::string(300, 'x')).size() == 130);
}

TEST_CASE("the turn goes round over the occupied slots") {
  TurnOrder turns;
  CHECK(!turns.turn());
  for (std::uint32_t trial = 0; trial < 3; ++trial)
    CHECK(turns.enter(TrialId(trial)) == trial);
  CHECK(turns.turn() == TrialId(0));
  turns.spoke(0);
  CHECK(turns.turn() == TrialId(1));
  turns.leave(1);
  CHECK(turns.turn() == TrialId(2));
  turns.spoke(2);
  CHECK(turns.turn() == TrialId(0));
  CHECK(turns.enter(TrialId(9)) == 1);
  turns.spoke(0);
  CHECK(turns.turn() == TrialId(9));
}

TEST_CASE("queues keep their order and a trial can go to the front") {
  TrialTable table;
  for (std::uint32_t id = 0; id < 4; ++id)
    table.add({.id = TrialId(id)});
  const TrialTable::View view(table, Duration{0});
  CHECK(view.first_pending() == TrialId(0));
  table.set_state(*table.find(TrialId(0)), TrialState::running);
  table.give_worker(*table.find(TrialId(0)), WorkerId(1));
  CHECK(view.first_pending() == TrialId(1));
  CHECK(table.running() == 1);
  table.take_worker(*table.find(TrialId(0)));
  CHECK(table.orphans().size() == 1);
  table.put_first(*table.find(TrialId(0)));
  CHECK(view.first_pending() == TrialId(0));
  table.set_state(*table.find(TrialId(1)), TrialState::paused);
  CHECK(view.first_paused() == TrialId(1));
  CHECK(view.is_paused(TrialId(1)));
  table.remove(TrialId(0));
  CHECK(view.first_pending() == TrialId(2));
  CHECK(table.running() == 0);
}

TEST_CASE("an idle worker is found by its resources, and a leaving one is no longer there") {
  WorkerPool pool;
  const ResourceRequest one{.cpus = 1};
  const ResourceRequest two{.cpus = 2};
  pool.start(pool.next_id(), one, TrialId(0));
  pool.start(pool.next_id(), two, TrialId(1));
  CHECK(!pool.find_idle(one));
  pool.release(WorkerId(1));
  pool.release(WorkerId(2));
  CHECK(pool.find_idle(two) == WorkerId(2));
  pool.let_go(WorkerId(2));
  CHECK(!pool.find_idle(two));
  CHECK(pool.is_leaving(WorkerId(2)));
  pool.exited(WorkerId(2));
  pool.exited(WorkerId(1));
  CHECK(pool.empty());
  CHECK(pool.next_id() == WorkerId(3));
}

}  // namespace
}  // namespace troupe::tune::detail
