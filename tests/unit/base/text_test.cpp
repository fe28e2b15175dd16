#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/detail/json_text.hpp>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace troupe::detail;

TEST_CASE("edit distance counts inserts, deletes, changes and swaps of neighbours") {
  CHECK(edit_distance("loss", "loss", 10) == 0);
  CHECK(edit_distance("los", "loss", 10) == 1);
  CHECK(edit_distance("lsos", "loss", 10) == 1);
  CHECK(edit_distance("", "abc", 10) == 3);
  CHECK(edit_distance("kitten", "sitting", 10) == 3);
  CHECK(edit_distance("kitten", "sitting", 2) == 2);
}

TEST_CASE("close matches are close, and the closest comes first") {
  const std::vector<std::string> names{"accuracy", "loss", "losses", "x"};
  CHECK(close_matches("los", names) == std::vector<std::string>{"loss"});
  CHECK(close_matches("lossed", names) == std::vector<std::string>{"losses", "loss"});
  CHECK(close_matches("something else", names).empty());
  CHECK(did_you_mean("los", names) == " (did you mean 'loss'?)");
  CHECK(did_you_mean("qqqqqq", names).empty());
  CHECK(close_matches("y", names).empty());
}

TEST_CASE("UTF-8 is valid exactly as Unicode says") {
  for (const char* good : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                           "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80"})
    CHECK(is_valid_utf8(good));
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "a\xff", "\xf0\x9f\x98"})
    CHECK_FALSE(is_valid_utf8(bad));
}

TEST_CASE("JSON strings escape what must be and keep the rest") {
  std::string out;
  append_json_string(out, std::string_view("a\"\\\n\r\t\0\x1f\x7f\xc3\xa9\xff/", 13));
  CHECK(out == "\"a\\\"\\\\\\n\\r\\t\\u0000\\u001f\\u007f\xc3\xa9\xef\xbf\xbd/\"");
}

TEST_CASE("JSON doubles are shortest, exact and never look like integers") {
  const auto text = [](double v) {
    std::string out;
    append_json_double(out, v);
    return out;
  };
  CHECK(text(1.0) == "1.0");
  CHECK(text(-0.0) == "-0.0");
  CHECK(text(0.1) == "0.1");
  CHECK(text(1e300) == "1e+300");
  CHECK(text(123456789.0) == "123456789.0");
  for (const double v : {std::numeric_limits<double>::denorm_min(),
                         std::numeric_limits<double>::max(), 1.0 / 3, 5e-324, 9007199254740993.0})
    CHECK(std::strtod(text(v).c_str(), nullptr) == v);
}

TEST_CASE("error messages show any byte") {
  CHECK(printable("a\n\xff") == "a\\x0a\\xff");
  CHECK(printable("abcdef", 3) == "abc...");
}
