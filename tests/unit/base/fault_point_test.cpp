#include <troupe/base/fault_point.hpp>

#include <algorithm>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;

namespace {

Status guarded() {
  TROUPE_FAULT_POINT("test.guarded");
  return ok();
}

Result<int> with_value() {
  TROUPE_FAULT_POINT("test.with_value");
  return 5;
}

int throwing() {
  TROUPE_FAULT_POINT_THROW("test.throwing");
  return 6;
}

// Never called: it must be listed all the same.
[[maybe_unused]] Status never_reached() {
  TROUPE_FAULT_POINT("test.never_reached");
  return ok();
}

int failures(int calls) {
  int failed = 0;
  for (int i = 0; i < calls; ++i)
    if (!guarded())
      ++failed;
  return failed;
}

// The wait status of a child that runs `body`.
int status_of_child(const std::function<void()>& body, int wait_flags = 0) {
  const pid_t child =
      ::fork();  // style: allow(fork) the child must have this binary's fault points
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, wait_flags) == child);
  if (WIFSTOPPED(status)) {
    ::kill(child, SIGKILL);
    int ignored = 0;
    ::waitpid(child, &ignored, 0);
  }
  return status;
}

std::string text_error(const std::string& text) {
  const Status status = FaultPoints::arm_from_text(text);
  return status ? "" : status.error().message();
}

struct DisarmAtEnd {
  ~DisarmAtEnd() { FaultPoints::disarm_all(); }
};

}  // namespace

TEST_CASE("points do nothing until armed") {
  CHECK(guarded().is_ok());
  CHECK(*with_value() == 5);
  CHECK(throwing() == 6);
  CHECK(FaultPoints::hits("test.guarded") == 0);
}

TEST_CASE("all points are listed, reached or not, each once and sorted") {
  const auto names = FaultPoints::list();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"test.guarded", "test.never_reached", "test.throwing", "test.with_value",
                           "file.write_atomically.before_rename"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
}

TEST_CASE("an armed point fails with an error that names it") {
  const ScopedFault fault("test.guarded", {});
  const Status status = guarded();
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.error().code() == ErrorCode::unavailable);
  CHECK(status.error().message().find("'test.guarded'") != std::string::npos);
  CHECK(*with_value() == 5);
}

TEST_CASE("a point in a function with a value returns the error as its result") {
  const ScopedFault fault("test.with_value", {});
  CHECK_FALSE(with_value());
}

TEST_CASE("throwing works where nothing can be returned, and as a kind") {
  const ScopedFault fault("test.throwing", {});
  CHECK_THROWS_AS(throwing(), Exception);
  const ScopedFault other("test.guarded", {.kind = FaultKind::throw_error});
  CHECK_THROWS_AS(static_cast<void>(guarded()), Exception);
}

TEST_CASE("skip and times bound which hits act") {
  const std::uint64_t before = FaultPoints::fired("test.guarded");
  const ScopedFault fault("test.guarded", {.skip = 2, .times = 3});
  CHECK(failures(2) == 0);
  CHECK(failures(3) == 3);
  CHECK(failures(5) == 0);
  CHECK(FaultPoints::hits("test.guarded") == 10);
  CHECK(FaultPoints::fired("test.guarded") == before + 3);
}

TEST_CASE("how often a point acted is known after it was disarmed") {
  const std::uint64_t before = FaultPoints::fired("test.with_value");
  for (const std::uint64_t skip : {0, 1}) {
    const ScopedFault fault("test.with_value", {.skip = skip});
    CHECK(with_value().has_value() == (skip > 0));
  }
  CHECK(FaultPoints::fired("test.with_value") == before + 1);
  CHECK(FaultPoints::fired("test.never_reached") == 0);
}

TEST_CASE("a probability acts on its share of hits, the same ones for a seed") {
  const auto pattern = [](std::uint64_t seed) {
    const ScopedFault fault("test.guarded", {.probability = 0.25, .seed = seed});
    std::string bits;
    for (int i = 0; i < 400; ++i)
      bits += guarded() ? '0' : '1';
    return bits;
  };
  const std::string first = pattern(7);
  CHECK(first == pattern(7));
  CHECK(first != pattern(8));
  const auto acted = std::count(first.begin(), first.end(), '1');
  CHECK((acted > 60 && acted < 140));
}

TEST_CASE("arming an unknown point names the close ones, a bad probability is refused") {
  const Status unknown = FaultPoints::arm("test.gaurded", {});
  REQUIRE_FALSE(unknown.is_ok());
  CHECK(unknown.error().code() == ErrorCode::not_found);
  CHECK(unknown.error().message().find("did you mean 'test.guarded'") != std::string::npos);
  for (const double p : {0.0, -1.0, 1.5})
    CHECK(FaultPoints::arm("test.guarded", {.probability = p}).error().code() ==
          ErrorCode::invalid_argument);
}

TEST_CASE("kill ends the process with SIGKILL at the hit asked for") {
  const int status = status_of_child([] {
    if (!FaultPoints::arm_from_text("test.guarded=kill@2"))
      ::_exit(3);
    if (!guarded())
      ::_exit(4);
    if (!guarded())
      ::_exit(5);
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("stop halts the process until somebody else decides") {
  const int status = status_of_child(
      [] {
        if (!FaultPoints::arm("test.guarded", {.kind = FaultKind::stop}))
          ::_exit(3);
        static_cast<void>(guarded());
      },
      WUNTRACED);
  REQUIRE(WIFSTOPPED(status));
  CHECK(WSTOPSIG(status) == SIGSTOP);
}

TEST_CASE("a text arms several points with their options") {
  const DisarmAtEnd disarm;
  REQUIRE(text_error(" test.guarded = fail@3 : times=1 ; test.with_value=fail:p=0.5,seed=9;") ==
          "");
  CHECK(failures(2) == 0);
  CHECK(failures(4) == 1);
  int failed = 0;
  for (int i = 0; i < 100; ++i)
    if (!with_value())
      ++failed;
  CHECK((failed > 20 && failed < 80));
}

TEST_CASE("a wrong text arms nothing and the error names the part") {
  const DisarmAtEnd disarm;
  CHECK(text_error("test.guarded").find("name=kind is missing") != std::string::npos);
  CHECK(text_error("test.guarded=explode").find("unknown kind 'explode'") != std::string::npos);
  CHECK(text_error("test.guarded=fail@0").find("counted from 1") != std::string::npos);
  CHECK(text_error("test.guarded=fail@x").find("'@x'") != std::string::npos);
  CHECK(text_error("test.guarded=fail:p=often").find("'often' is not a number") !=
        std::string::npos);
  CHECK(text_error("test.guarded=fail:when=now").find("no option 'when'") != std::string::npos);
  CHECK(text_error("test.guarded=fail:p=2").find("at most 1") != std::string::npos);
  CHECK(text_error("test.guarded=fail;test.nowhere=fail").find("'test.nowhere'") !=
        std::string::npos);
  CHECK(failures(3) == 0);
}

TEST_CASE("the environment variable is read and named in errors") {
  const DisarmAtEnd disarm;
  ::unsetenv("TROUPE_FAULTS");
  CHECK(FaultPoints::arm_from_environment().is_ok());
  ::setenv("TROUPE_FAULTS", "test.guarded=fail", 1);
  CHECK(FaultPoints::arm_from_environment().is_ok());
  CHECK(failures(1) == 1);
  ::setenv("TROUPE_FAULTS", "nonsense", 1);
  CHECK(FaultPoints::arm_from_environment().error().message().starts_with(
      "environment variable TROUPE_FAULTS: "));
  ::unsetenv("TROUPE_FAULTS");
}
