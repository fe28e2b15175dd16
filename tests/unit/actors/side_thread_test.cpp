#include <troupe/actors/detail/side_thread.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::detail {
namespace {

constexpr auto deadline = std::chrono::seconds(30);

TEST_CASE("tasks run one after the other, in order, each followed by its end") {
  std::vector<int> order;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  SideThread thread("test");
  for (int i = 0; i < 5; ++i)
    thread.post(
        [&order, gate, i] {
          gate.wait();
          order.push_back(i);
        },
        [&order, i] { order.push_back(10 + i); });
  CHECK_FALSE(thread.drain(std::chrono::milliseconds(1)));
  go.set_value();
  REQUIRE(thread.drain(deadline));
  CHECK(order == std::vector<int>{0, 10, 1, 11, 2, 12, 3, 13, 4, 14});
}

/// Tells when the last task that holds it is gone.
struct Held {
  std::promise<void> gone;
  ~Held() { gone.set_value(); }
};

TEST_CASE("nobody waits for a task that runs when its owner goes, or hears of it") {
  auto running = std::make_shared<Held>();
  auto waiting = std::make_shared<Held>();
  auto running_gone = running->gone.get_future();
  auto waiting_gone = waiting->gone.get_future();
  const auto heard = std::make_shared<int>(0);
  std::promise<void> started;
  std::promise<void> go;
  {
    SideThread thread("test");
    thread.post(
        [&started, gate = go.get_future().share(), held = std::move(running)] {
          started.set_value();
          gate.wait();
        },
        [heard] { ++*heard; });
    thread.post([held = std::move(waiting)] {}, [heard] { ++*heard; });
    REQUIRE(started.get_future().wait_for(deadline) == std::future_status::ready);
  }
  CHECK(waiting_gone.wait_for(deadline) == std::future_status::ready);
  CHECK(running_gone.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  go.set_value();
  REQUIRE(running_gone.wait_for(deadline) == std::future_status::ready);
  CHECK(*heard == 0);
}

TEST_CASE("a task may be the last one that holds the owner of the thread") {
  struct Owner {
    SideThread thread{"test"};
    std::promise<void> gone;
    ~Owner() { gone.set_value(); }
  };
  auto owner = std::make_shared<Owner>();
  auto gone = owner->gone.get_future();
  Owner& it = *owner;
  std::promise<void> go;
  it.thread.post([gate = go.get_future().share()] { gate.wait(); }, [held = std::move(owner)] {});
  go.set_value();
  CHECK(gone.wait_for(deadline) == std::future_status::ready);
}

}  // namespace
}  // namespace troupe::detail
