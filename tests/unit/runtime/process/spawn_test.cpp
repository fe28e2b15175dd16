#include <troupe/runtime/process/detail/spawn.hpp>

#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace troupe;
using detail::prepare_spawn;

TEST_CASE("additions replace variables of the same name and keep the others") {
  ProcessSpec spec;
  spec.environment = {{"NAME", "new"}, {"MORE", "1"}};
  const auto prepared = prepare_spawn(spec, {"NAME=old", "NAMES=kept", "OTHER=kept"});
  REQUIRE(prepared);
  const auto& environment = prepared->first.environment;
  const std::vector<std::string> expected{
      "NAMES=kept", "OTHER=kept", "NAME=new", "MORE=1",
      std::string(parent_pid_variable) + '=' + std::to_string(::getpid())};
  CHECK(environment == expected);
}

TEST_CASE("the name of the program is the caller's choice") {
  const auto by_default = prepare_spawn({.executable = "/bin/true", .arguments = {"a"}}, {});
  REQUIRE(by_default);
  CHECK(by_default->first.arguments == std::vector<std::string>{"/bin/true", "a"});
  const auto named = prepare_spawn({.executable = "/bin/true", .name = "worker 3"}, {});
  REQUIRE(named);
  CHECK(named->first.arguments == std::vector<std::string>{"worker 3"});
}

TEST_CASE("a specification that exec could not express is refused") {
  const auto code = [](const ProcessSpec& spec) { return prepare_spawn(spec, {}).error().code(); };
  CHECK(code({.executable = ""}) == ErrorCode::invalid_argument);
  CHECK(code({.arguments = {std::string("a\0b", 3)}}) == ErrorCode::invalid_argument);
  CHECK(code({.environment = {{"A=B", "c"}}}) == ErrorCode::invalid_argument);
  CHECK(code({.environment = {{"", "c"}}}) == ErrorCode::invalid_argument);
}

TEST_CASE("the child's descriptors stay clear of the numbers they will be given") {
  const auto prepared = prepare_spawn({.socket = true, .inherit = {0, 1}}, {});
  REQUIRE(prepared);
  const auto& child = prepared->first;
  CHECK(child.output.get() >= 6);
  CHECK(child.socket.get() >= 6);
  for (const auto& file : child.inherit)
    CHECK(file.get() >= 6);
}

TEST_CASE("a descriptor that is not open cannot be inherited") {
  CHECK(prepare_spawn({.inherit = {9999}}, {}).error().message().find("9999") != std::string::npos);
}
