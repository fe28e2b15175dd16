#include <troupe/actors/detail/computer.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace troupe::detail {
namespace {

constexpr auto deadline = std::chrono::seconds(30);

/// Waits until it is let go, then leaves its number.
class Numbered final : public Computation {
public:
  Numbered(int number, std::shared_ptr<std::vector<int>> ran, std::shared_future<void> go)
      : number_(number), ran_(std::move(ran)), go_(std::move(go)) {}
  ~Numbered() override { gone_.set_value(); }
  void run() noexcept override {
    started_.set_value();
    go_.wait();
    ran_->push_back(number_);
  }
  std::future<void> started() { return started_.get_future(); }
  std::future<void> gone() { return gone_.get_future(); }

private:
  int number_;
  std::shared_ptr<std::vector<int>> ran_;
  std::shared_future<void> go_;
  std::promise<void> started_;
  std::promise<void> gone_;
};

TEST_CASE("computations run one after the other, in order, and come back") {
  const auto ran = std::make_shared<std::vector<int>>();
  std::promise<void> go;
  const auto gate = go.get_future().share();
  std::promise<void> all;
  std::atomic<int> back{0};
  Computer computer;
  for (int i = 0; i < 5; ++i)
    computer.post(std::make_shared<Numbered>(i, ran, gate), [&](auto computation) {
      if (computation != nullptr && ++back == 5)
        all.set_value();
    });
  go.set_value();
  REQUIRE(all.get_future().wait_for(deadline) == std::future_status::ready);
  CHECK(*ran == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("nobody waits for a computation that runs when the computer goes, or hears of it") {
  const auto ran = std::make_shared<std::vector<int>>();
  const auto heard = std::make_shared<std::atomic<int>>(0);
  std::promise<void> go;
  const auto gate = go.get_future().share();
  auto first = std::make_shared<Numbered>(1, ran, gate);
  auto second = std::make_shared<Numbered>(2, ran, gate);
  auto started = first->started();
  auto first_gone = first->gone();
  auto second_gone = second->gone();
  {
    Computer computer;
    const auto hear = [heard](auto) { ++*heard; };
    computer.post(std::exchange(first, nullptr), hear);
    computer.post(std::exchange(second, nullptr), hear);
    REQUIRE(started.wait_for(deadline) == std::future_status::ready);
  }
  CHECK(second_gone.wait_for(deadline) == std::future_status::ready);
  go.set_value();
  REQUIRE(first_gone.wait_for(deadline) == std::future_status::ready);
  CHECK(*ran == std::vector<int>{1});
  CHECK(*heard == 0);
}

}  // namespace
}  // namespace troupe::detail
