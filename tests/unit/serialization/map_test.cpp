#include <troupe/serialization/value.hpp>

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

Metrics step(double x) {
  return {{"loss", (x - 3) * (x - 3)}, {"done", true}};
}

Map sample() {
  return {{"a", {{"b", 1}, {"c/d", 2}}},
          {"a/b", "exact"},
          {"l", List{10, List{11, Map{{"x", 12}}}}},
          {"empty", Map{}}};
}

template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.error();
  }
  FAIL("nothing was thrown");
  return Error(ErrorCode::internal, "");
}

}  // namespace

TEST_CASE("maps are written in braces and come out sorted") {
  const Metrics metrics = step(5);
  CHECK(metrics.at("loss").as_double() == 4.0);
  CHECK(metrics.keys() == std::vector<std::string>{"done", "loss"});
  std::string keys;
  for (const auto& [key, value] : metrics)
    keys += key + ' ';
  CHECK(keys == "done loss ");
  const Map one{{"a", "b"}};
  CHECK(one.at("a").as_string() == "b");
  const Map none = {};
  CHECK(none.empty());
}

TEST_CASE("a key given twice is refused") {
  CHECK(error_of([] {
          Map{{"a", 1}, {"b", 2}, {"a", 3}};
        }).message() == "the key 'a' is given twice");
  CHECK_FALSE(Map::from_entries({{"x", 1}, {"x", 1}}));
}

TEST_CASE("an exact key wins over a path") {
  Map map = sample();
  CHECK(map.at("a/b").as_string() == "exact");
  CHECK(map.erase("a/b"));
  CHECK(map.at("a/b").as_int() == 1);
}

TEST_CASE("paths reach into maps and lists, also past keys with a slash") {
  const Map map = sample();
  CHECK(map.at("a/c/d").as_int() == 2);
  CHECK(map.at("l/0").as_int() == 10);
  CHECK(map.at("l/1/0").as_int() == 11);
  CHECK(map.at("l/1/1/x").as_int() == 12);
  for (const char* path : {"", "/", "a/", "/a", "a//b", "l/2", "l/", "l/00", "l/-1", "l/+0",
                           "l/0/0", "a/b/c", "l/1/1/y", "l/18446744073709551616"})
    CHECK_FALSE(map.contains(path));
  const Map odd{{"", {{"x", 1}}}, {"a/", 2}};
  CHECK(odd.at("/x").as_int() == 1);
  CHECK(odd.at("a/").as_int() == 2);
}

TEST_CASE("where a path splits in several ways the longest first key wins, then the others") {
  const Map map{{"a", {{"b/c", 1}, {"b", {{"d", 2}}}}}, {"a/b", {{"c", 3}}}};
  CHECK(map.at("a/b/c").as_int() == 3);
  CHECK(map.at("a/b/d").as_int() == 2);
}

TEST_CASE("a missing key names what is close and what is there") {
  const Map map{{"loss", 1}, {"accuracy", 2}, {"env", {{"reward", 3}}}};
  CHECK(error_of([&] { static_cast<void>(map.at("los")); }).message() ==
        "no key 'los' (did you mean 'loss'?); present: accuracy, env, loss");
  CHECK(error_of([&] { static_cast<void>(map.at("env/rewrad")); })
            .message()
            .find("did you mean 'env/reward'") != std::string::npos);
  CHECK(error_of([&] { static_cast<void>(map.at("los")); }).code() == ErrorCode::not_found);
  CHECK(error_of([] { static_cast<void>(Map().at("x")); }).message() ==
        "no key 'x'; there are no keys at all");
}

TEST_CASE("the message about a missing key stays short for a big map") {
  Map map;
  for (int i = 0; i < 5000; ++i)
    map["key" + std::to_string(i)] = i;
  const Error error = error_of([&] { static_cast<void>(map.at(std::string(10'000, 'q'))); });
  CHECK(error.message().size() < 1000);
  CHECK(error.message().ends_with("and 4980 more"));
}

TEST_CASE("operator[] takes the key as it is and starts with null") {
  Map map;
  CHECK(map["a/b"].is_null());
  map["a/b"] = 1;
  map["a"] = Map{{"b", 2}};
  CHECK(map.size() == 2);
  CHECK(map.find_key("a/b")->as_int() == 1);
  CHECK(map.find_key("a/b/c") == nullptr);
}

TEST_CASE("set replaces what find finds") {
  Map map = sample();
  map.set("a/b", 5);
  CHECK(map.find_key("a/b")->as_int() == 5);
  CHECK(map.at("a").as_map().at("b").as_int() == 1);
  map.set("a/c/d", 6);
  CHECK(map.at("a").as_map().find_key("c/d")->as_int() == 6);
  map.set("l/1/1/x", 7);
  CHECK(map.at("l/1/1/x").as_int() == 7);
}

TEST_CASE("set makes the maps that are missing, below those there are") {
  Map map = sample();
  map.set("new/deep/er", 1);
  CHECK(map.at("new").as_map().at("deep").as_map().at("er").as_int() == 1);
  map.set("a/x/y", 2);
  CHECK(map.at("a").as_map().at("x").as_map().at("y").as_int() == 2);
  map.set("l/1/1/y", 3);
  CHECK(map.at("l/1/1").as_map().size() == 2);
  Value& place = map.set("plain", 4);
  place = 5;
  CHECK(map.at("plain").as_int() == 5);
}

TEST_CASE("set refuses to go through a scalar or beyond a list, and changes nothing") {
  Map map = sample();
  const Map before = map;
  CHECK(error_of([&] { map.set("l/0/x", 1); }).code() == ErrorCode::failed_precondition);
  CHECK(error_of([&] { map.set("l/2", 1); }).code() == ErrorCode::out_of_range);
  CHECK(error_of([&] { map.set("l/x", 1); }).message().find("no index of a list of 2") !=
        std::string::npos);
  CHECK(error_of([&] { map.set("a/b/c", 1); }).message().find("there is a string") !=
        std::string::npos);
  CHECK(map == before);
}

TEST_CASE("erase removes what find finds, except elements of lists") {
  Map map = sample();
  CHECK(map.erase("a/c/d"));
  CHECK_FALSE(map.contains("a/c/d"));
  CHECK(map.erase("l/1/1/x"));
  CHECK(map.at("l/1/1").as_map().empty());
  CHECK_FALSE(map.erase("l/0"));
  CHECK_FALSE(map.erase("nothing"));
  CHECK(map.erase("l"));
  CHECK_FALSE(map.contains("l"));
}

TEST_CASE("get_or falls back only where nothing is") {
  const Map map = sample();
  CHECK(map.get_or("a/c/d", 9).as_int() == 2);
  CHECK(map.get_or("a/z", 9).as_int() == 9);
}

TEST_CASE("merge: entries of the other win, order is kept") {
  Map map{{"a", 1}, {"c", 3}, {"e", 5}};
  map.merge({{"b", 2}, {"c", 33}, {"f", 6}});
  CHECK(map == Map{{"a", 1}, {"b", 2}, {"c", 33}, {"e", 5}, {"f", 6}});
  map.merge({});
  CHECK(map.size() == 5);
}

TEST_CASE("flatten dissolves maps; lists and empty maps stay; the shallower name wins") {
  CHECK(sample().flatten() == Map{{"a/b", "exact"},
                                  {"a/c/d", 2},
                                  {"empty", Map{}},
                                  {"l", List{10, List{11, Map{{"x", 12}}}}}});
  const Map clash{{"a", {{"b", {{"c", "deep"}}}, {"b/c", "middle"}}}};
  CHECK(clash.flatten() == Map{{"a/b/c", "middle"}});
}

TEST_CASE("what at finds in a flat map is what it finds in the nested one") {
  const Map map = sample();
  for (const auto& [path, value] : map.flatten())
    CHECK(map.at(path) == value);
}
