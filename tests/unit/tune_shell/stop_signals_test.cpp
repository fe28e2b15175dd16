#include <troupe/base/error.hpp>
#include <troupe/base/fault_point.hpp>
#include <troupe/tune/detail/stop_signals.hpp>

#include <atomic>
#include <csignal>
#include <string>

#include <doctest/doctest.h>

using troupe::tune::detail::StopSignals;

namespace {

std::atomic<int> handled{0};
void count_signal(int) {
  ++handled;
}

using Handler = void (*)(int);

Handler handler_of(int number) {
  struct sigaction action {};
  ::sigaction(number, nullptr, &action);
  return action.sa_handler;
}

}  // namespace

TEST_CASE("the first signal is told, and the next one has its default action") {
  std::signal(SIGINT, SIG_DFL);  // a job in the background begins with it ignored
  std::atomic<int> told{0};
  std::string name;
  StopSignals signals([&](const char* which) {
    name = which;
    told = 1;
    told.notify_all();
  });
  CHECK((handler_of(SIGPIPE) == SIG_IGN));
  std::raise(SIGTERM);
  told.wait(0);
  CHECK(name == "SIGTERM");
  CHECK((handler_of(SIGTERM) == SIG_DFL));
  CHECK((handler_of(SIGINT) == SIG_DFL));
}

TEST_CASE("what was installed before comes back") {
  std::signal(SIGINT, count_signal);
  handled = 0;
  {
    StopSignals signals([](const char*) {});
    CHECK((handler_of(SIGINT) != count_signal));
  }
  CHECK((handler_of(SIGINT) == count_signal));
  CHECK((handler_of(SIGPIPE) == SIG_DFL));
  std::raise(SIGINT);
  CHECK(handled == 1);
  std::signal(SIGINT, SIG_DFL);
}

TEST_CASE("whoever could not be installed is forgotten, and the next one is installed") {
  std::signal(SIGTERM, SIG_DFL);
  {
    const troupe::ScopedFault fault("tune.stop_signals.open", {});
    CHECK_THROWS_AS(StopSignals([](const char*) {}), troupe::Exception);
  }
  CHECK((handler_of(SIGTERM) == SIG_DFL));
  const StopSignals signals([](const char*) {});
  CHECK((handler_of(SIGTERM) != SIG_DFL));
}

TEST_CASE("a signal that was ignored stays ignored") {
  std::signal(SIGINT, SIG_IGN);
  {
    StopSignals signals([](const char*) {});
    CHECK((handler_of(SIGINT) == SIG_IGN));
    CHECK((handler_of(SIGTERM) != SIG_IGN));
  }
  std::signal(SIGINT, SIG_DFL);
}

TEST_CASE("several listeners hear the same signal") {
  std::atomic<int> told{0};
  const auto tell = [&](const char*) {
    ++told;
    told.notify_all();
  };
  StopSignals first(tell);
  StopSignals second(tell);
  std::raise(SIGINT);
  told.wait(0);
  told.wait(1);
  CHECK(told == 2);
}

TEST_CASE("signals can be listened for again and again") {
  std::signal(SIGINT, SIG_DFL);  // a job in the background begins with it ignored
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> told{0};
    StopSignals signals([&](const char*) {
      told = 1;
      told.notify_all();
    });
    std::raise(SIGINT);
    told.wait(0);
  }
  CHECK((handler_of(SIGINT) == SIG_DFL));
}
