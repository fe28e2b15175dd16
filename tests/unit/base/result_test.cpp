#include <troupe/base/result.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

Result<int> half(int n) {
  if (n % 2 != 0)
    return Error(ErrorCode::invalid_argument, std::to_string(n) + " is odd");
  return n / 2;
}

Result<int> quarter(int n) {
  TROUPE_TRY(once, half(n));
  TROUPE_TRY(twice, half(once));
  return twice;
}

Status check_even(int n) {
  TROUPE_RETURN_IF_ERROR(half(n));
  return ok();
}

}  // namespace

TEST_CASE("a result holds a value or an error") {
  CHECK(half(4).has_value());
  CHECK(*half(4) == 2);
  CHECK_FALSE(half(3));
  CHECK(half(3).error().message() == "3 is odd");
}

TEST_CASE("TROUPE_TRY gives the value or returns the error") {
  CHECK(*quarter(8) == 2);
  CHECK(quarter(6).error().message() == "3 is odd");
  CHECK(quarter(5).error().message() == "5 is odd");
}

TEST_CASE("TROUPE_RETURN_IF_ERROR passes success and returns errors") {
  CHECK(check_even(2).is_ok());
  CHECK(check_even(1).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("at the public surface an error becomes an exception") {
  CHECK(half(8).value_or_throw() == 4);
  CHECK_THROWS_WITH_AS(half(7).value_or_throw(), "invalid_argument: 7 is odd", Exception);
  CHECK_THROWS_AS(check_even(1).value_or_throw(), Exception);
  CHECK_NOTHROW(check_even(2).value_or_throw());
  const auto checked = [](int n) { TROUPE_CHECK_OK(check_even(n)); };
  CHECK_THROWS_AS(checked(1), Exception);
  CHECK_NOTHROW(checked(2));
}

TEST_CASE("values that only move go through") {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  auto result = make();
  std::unique_ptr<int> owned = result.take();
  CHECK(*owned == 5);
  const auto pass = [&]() -> Result<int> {
    TROUPE_TRY(pointer, make());
    return *pointer;
  };
  CHECK(*pass() == 5);
}

TEST_CASE("the value of a temporary outlives it") {
  const auto make = []() -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"a text that is too long to lie inside of the string itself"};
  };
  for (const std::string& text : make().value())
    CHECK(text.size() > 40);
  for (const std::string& text : *make())
    CHECK(text.size() > 40);
  static_assert(!std::is_reference_v<decltype(make().value())>);
  static_assert(!std::is_reference_v<decltype(*make())>);
}

TEST_CASE("a result is made of what converts to its value") {
  const Result<std::string> text = "literal";
  CHECK(*text == "literal");
  CHECK(text->size() == 7);
  const Result<double> number = 3;
  CHECK(*number == 3.0);
}

TEST_CASE("value_or replaces only an error") {
  CHECK(half(4).value_or(9) == 2);
  CHECK(half(5).value_or(9) == 9);
}

TEST_CASE("with_context touches errors only") {
  CHECK(half(3).with_context("halving").error().message() == "halving: 3 is odd");
  CHECK(*half(4).with_context("halving") == 2);
  CHECK(check_even(3).with_context("check").error().message() == "check: 3 is odd");
  CHECK(check_even(4).with_context("check").is_ok());
}
