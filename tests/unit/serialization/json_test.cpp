#include <troupe/serialization/json.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

std::string json_error(std::string_view text, const JsonLimits& limits = {}) {
  const auto result = parse_json(text, limits);
  return result ? "parsed: " + to_json(*result) : result.error().message();
}

ErrorCode json_code(std::string_view text, const JsonLimits& limits = {}) {
  return parse_json(text, limits).error().code();
}

void check_text(const Value& value, const std::string& text) {
  CHECK(to_json(value) == text);
  const auto back = parse_json(text);
  REQUIRE_MESSAGE(back.has_value(), text);
  CHECK(*back == value);
}

}  // namespace

TEST_CASE("values and their text") {
  check_text(nullptr, "null");
  check_text(true, "true");
  check_text(1, "1");
  check_text(1.0, "1.0");
  check_text(-0.0, "-0.0");
  check_text(0.1, "0.1");
  check_text(1e21, "1e+21");
  check_text(std::numeric_limits<std::int64_t>::max(), "9223372036854775807");
  check_text(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808");
  check_text(9007199254740993, "9007199254740993");
  check_text(std::numeric_limits<double>::denorm_min(), "5e-324");
  check_text("", R"("")");
  check_text("a\"\\\n\x01\x7f\xc3\xa9", "\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa9\"");
  check_text(std::string("nul\0!", 5), "\"nul\\u0000!\"");
  check_text(List{}, "[]");
  check_text(Map{}, "{}");
  check_text(Map{{"b", List{1, 2.0}}, {"a", Map{{"x", nullptr}}}},
             R"({"a":{"x":null},"b":[1,2.0]})");
}

TEST_CASE("what JSON has no word for keeps its meaning") {
  check_text(std::nan(""), R"({"$double":"nan"})");
  check_text(inf, R"({"$double":"inf"})");
  check_text(-inf, R"({"$double":"-inf"})");
  check_text("\xff\x00z", R"({"$bytes":"ff"})");
  check_text(std::string("\xc3\x28"), R"({"$bytes":"c328"})");
  check_text(Map{{"\xff", 1}, {"ok", 2}}, R"({"ok":2,"$bytes:ff":1})");
}

TEST_CASE("keys of users that look like ours survive") {
  check_text(Map{{"$double", "nan"}}, R"({"$$double":"nan"})");
  check_text(Map{{"$bytes", "ff"}}, R"({"$$bytes":"ff"})");
  check_text(Map{{"$", 1}, {"$$x", 2}, {"$bytes:ff", 3}}, R"({"$$":1,"$$$x":2,"$$bytes:ff":3})");
}

TEST_CASE("the pretty style reads back the same") {
  const Map map{{"a", List{1, Map{{"b", inf}}}}, {"e", List{}}, {"f", Map{}}};
  const std::string text = to_json(map, JsonStyle::pretty);
  CHECK(text ==
        "{\n  \"a\": [\n    1,\n    {\n      \"b\": {\"$double\": \"inf\"}\n    }\n  ],\n"
        "  \"e\": [],\n  \"f\": {}\n}");
  CHECK(*parse_json(text) == Value(map));
}

TEST_CASE("other spellings of numbers and strings are read") {
  CHECK(*parse_json(" \t\r\n1E2 ") == Value(100.0));
  CHECK(*parse_json("-0") == Value(0));
  CHECK(*parse_json("1e-400") == Value(0.0));
  CHECK(*parse_json(R"("\u00e9\ud83d\ude00\/")") == Value("\xc3\xa9\xf0\x9f\x98\x80/"));
}

TEST_CASE("integers and doubles that do not fit are refused, not rounded") {
  CHECK(json_error("9223372036854775808").find("9223372036854775808 does not fit 64 bits") !=
        std::string::npos);
  CHECK(json_error("[-9223372036854775809]").find("does not fit 64 bits") != std::string::npos);
  CHECK(json_error("18446744073709551616").find("does not fit 64 bits") != std::string::npos);
  CHECK(json_error("1e999").find("number overflow") != std::string::npos);
}

TEST_CASE("errors name line and column") {
  CHECK(json_error("{\n  \"a\": tru\n}").starts_with("JSON line 2, column 11: "));
  CHECK(json_error("[1, 2").starts_with("JSON line 1, column 5: syntax error"));
  CHECK(json_error("").starts_with("JSON line 1, column 1: "));
  CHECK(json_error("{\"a\": 1,\n \"b\": 2,\n \"a\": 3}") ==
        "JSON line 3, column 4: the key 'a' is given twice");
  CHECK(json_error("[0,\n[1,\n@]]").starts_with("JSON line 3, column 1: "));
}

TEST_CASE("text that is not JSON is refused") {
  for (const char* text : {"nan",     "NaN",       "Infinity", "01",        "1.",          ".5",
                           "+1",      "'a'",       "{a:1}",    "[1,]",      "{\"a\":1,}",  "1 2",
                           "// c\n1", "/* c */ 1", "\"\x01\"", "\"\\x41\"", "\"\\ud800\"", "[",
                           "]",       "{\"a\"}",   "tru",      "\xff"})
    CHECK_MESSAGE(json_code(text) == ErrorCode::corrupt, text);
}

TEST_CASE("bytes that are not UTF-8 are refused with a readable message") {
  const std::string message = json_error("\"a\xff\"");
  CHECK(message.find("UTF-8") != std::string::npos);
  CHECK(message.find('\xff') == std::string::npos);
}

TEST_CASE("a key that is the same after unescaping comes twice") {
  CHECK(json_error(R"({"a":1,"\u0061":2})").find("'a' is given twice") != std::string::npos);
  CHECK(json_error(R"({"$bytes:ff":1,"$bytes:ff":2})").find("is given twice") != std::string::npos);
}

TEST_CASE("reserved keys are refused unless they are exactly right") {
  CHECK(json_error(R"({"$schema":1})").find("write \"$$schema\"") != std::string::npos);
  for (const char* text : {R"({"$double":"NaN"})", R"({"$double":1})", R"({"$double":"nan","a":1})",
                           R"({"a":1,"$double":"nan"})", R"({"$bytes":"f"})", R"({"$bytes":"FF"})",
                           R"({"$bytes":"61"})", R"({"$bytes":5})", R"({"$bytes:61":1})",
                           R"({"$bytes:zz":1})", R"({"$double":{"$double":"nan"}})"})
    CHECK_MESSAGE(json_code(text) == ErrorCode::corrupt, text);
}

TEST_CASE("limits: length, depth and entries") {
  CHECK(json_code("[1]", {.max_bytes = 2}) == ErrorCode::resource_exhausted);
  CHECK(json_code("[[[1]]]", {.max_depth = 2}) == ErrorCode::resource_exhausted);
  CHECK(parse_json("[[1]]", {.max_depth = 2}).has_value());
  CHECK(json_code("[1,2,3]", {.max_entries = 2}) == ErrorCode::resource_exhausted);
  CHECK(json_code(R"({"a":1,"b":2,"c":3})", {.max_entries = 2}) == ErrorCode::resource_exhausted);
  CHECK(json_code(std::string(1'000'000, '[')) == ErrorCode::resource_exhausted);
}
