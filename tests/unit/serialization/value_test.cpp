#include <troupe/base/limits.hpp>
#include <troupe/serialization/value.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

static_assert(!std::is_convertible_v<char, Value>);
static_assert(!std::is_convertible_v<int*, Value>);
static_assert(!std::is_convertible_v<ValueType, Value>);
static_assert(std::is_nothrow_move_constructible_v<Value>);
static_assert(sizeof(Value) <= 40);

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

std::string error_of(const Value& value, void (*access)(const Value&)) {
  try {
    access(value);
  } catch (const Exception& exception) {
    CHECK(exception.code() == ErrorCode::failed_precondition);
    return exception.error().message();
  }
  return "";
}

}  // namespace

TEST_CASE("each C++ type becomes the value type one expects") {
  CHECK(Value().is_null());
  CHECK(Value(nullptr).is_null());
  CHECK(Value(true).is_bool());
  CHECK(Value(1).is_int());
  CHECK(Value(std::uint8_t{1}).is_int());
  CHECK(Value(std::size_t{1}).is_int());
  CHECK(Value(1.0f).is_double());
  CHECK(Value("x").is_string());
  CHECK(Value(std::string_view("x")).is_string());
  CHECK(Value(List{1, "x"}).is_list());
  CHECK(Value(Map{{"a", 1}}).is_map());
  const Value nested = Map{{"a", {{"b", 1}, {"c", {{"d", 2}}}}}};
  CHECK(nested.as_map().at("a/c/d").as_int() == 2);
}

TEST_CASE("1, 1.0, true and \"1\" are four different values") {
  const List values{1, 1.0, true, "1"};
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values.size(); ++j)
      CHECK((values[i] == values[j]) == (i == j));
}

TEST_CASE("identity: NaN is itself, the zeros differ") {
  CHECK(Value(not_a_number) == Value(-not_a_number));
  CHECK(Value(0.0) != Value(-0.0));
  CHECK(Value(0.5) == Value(0.5));
}

TEST_CASE("the order is total: by type, then by content") {
  const List ascending{nullptr,
                       false,
                       true,
                       std::numeric_limits<std::int64_t>::min(),
                       0,
                       7,
                       -inf,
                       -1.5,
                       -0.0,
                       0.0,
                       5e-324,
                       2.0,
                       inf,
                       not_a_number,
                       "",
                       "a",
                       "ab",
                       "b",
                       List{},
                       List{1},
                       List{1, 2},
                       List{2},
                       Map{},
                       Map{{"a", 1}},
                       Map{{"a", 1}, {"b", 0}},
                       Map{{"a", 2}},
                       Map{{"b", 0}}};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK((ascending[i] <=> ascending[j]) == (i <=> j));
    }
}

TEST_CASE("values are keys of a std::map") {
  std::map<Value, int> counts;
  for (const Value& v : List{1, 1.0, not_a_number, 1, not_a_number, "1"})
    ++counts[v];
  CHECK(counts.size() == 4);
  CHECK(counts[not_a_number] == 2);
}

TEST_CASE("accessors give the content; an int is accepted as a double") {
  CHECK(Value(true).as_bool());
  CHECK(Value(-5).as_int() == -5);
  CHECK(Value(2.5).as_double() == 2.5);
  CHECK(Value(3).as_double() == 3.0);
  CHECK(Value("text").as_string() == "text");
  Value list = List{1};
  list.as_list().push_back(2);
  CHECK(list.as_list().size() == 2);
  CHECK(*Value(3).get_if<std::int64_t>() == 3);
  CHECK(Value(3).get_if<double>() == nullptr);
}

TEST_CASE("a wrong access names what was expected and what was found") {
  CHECK(error_of(3.5, [](const Value& v) { static_cast<void>(v.as_int()); }) ==
        "expected an int, found double 3.5");
  CHECK(error_of("abc", [](const Value& v) { static_cast<void>(v.as_double()); }) ==
        "expected a double, found string \"abc\"");
  CHECK(error_of(Value(), [](const Value& v) { static_cast<void>(v.as_string()); }) ==
        "expected a string, found null");
  CHECK(error_of(Map{{"a", 1}}, [](const Value& v) { static_cast<void>(v.as_list()); }) ==
        "expected a list, found map of 1 entries");
  CHECK(error_of(1, [](const Value& v) { static_cast<void>(v.as_bool()); }) ==
        "expected a bool, found int 1");
}

TEST_CASE("integers beyond 64 bits signed are refused, not wrapped") {
  constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
  CHECK(Value(limit).as_int() == std::numeric_limits<std::int64_t>::max());
  CHECK_THROWS_AS(Value(limit + 1), Exception);
}

TEST_CASE("a null pointer is not a string") {
  const char* none = nullptr;
  CHECK_THROWS_AS(Value{none}, Exception);
}

TEST_CASE("values print as JSON") {
  std::ostringstream out;
  out << Value(List{1, 1.0, "x", nullptr}) << ' ' << Map{{"b", true}, {"a", 2}};
  CHECK(out.str() == R"([1,1.0,"x",null] {"a":2,"b":true})");
}

TEST_CASE("limits: what can not be stored is named") {
  Value deep = 1;
  for (std::size_t i = 0; i < limits::max_value_depth; ++i)
    deep = List{std::move(deep)};
  CHECK(check_limits(deep).is_ok());
  deep = List{std::move(deep)};
  CHECK(check_limits(deep).error().code() == ErrorCode::resource_exhausted);

  const std::string long_key(limits::max_key_bytes + 1, 'k');
  const Map map{{"outer", {{"list", List{Map{{long_key, 1}}}}}}};
  const Status status = check_limits(map);
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.error().message().starts_with("'outer/list/0/kkk"));
  CHECK(check_limits(Map{{std::string(limits::max_key_bytes, 'k'), 1}}).is_ok());
}
