#include <troupe/runtime/process/detail/output_text.hpp>

#include <string>

#include <doctest/doctest.h>

using namespace troupe::detail;

TEST_CASE("colours and titles of terminals are dropped from output") {
  CHECK(clean_output("\x1b[1;31mred\x1b[0m text") == "red text");
  CHECK(clean_output("\x1b]0;title\atext") == "text");
  CHECK(clean_output("cut \x1b[1;3") == "cut ");
  CHECK(clean_output("cut \x1b") == "cut ");
}

TEST_CASE("a carriage return starts a line, so that progress bars stay readable") {
  CHECK(clean_output("10%\r20%\r\ndone") == "10%\n20%\ndone");
}

TEST_CASE("output becomes valid UTF-8 without control characters") {
  CHECK(clean_output("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xad\ttab") ==
        "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xad\ttab");
  CHECK(clean_output("\xff\xc3|\xe2\x82|\xed\xa0\x80|") == "??|??|???|");
  CHECK(clean_output(std::string("a\0b\x01\x7f", 5)) == "ab");
}

TEST_CASE("the last lines that fit are indented") {
  CHECK(indent_last_lines("a\nb\n\nc\n", 100) == "  a\n  b\n  c");
  CHECK(indent_last_lines("first\nsecond\nthird", 20) == "  second\n  third");
  CHECK(indent_last_lines("", 100).empty());
  CHECK(indent_last_lines("\n\n", 100).empty());
}

TEST_CASE("of a single long line the end is kept, cut between characters") {
  CHECK(indent_last_lines("0123456789", 8) == "  56789");
  CHECK(indent_last_lines("\xe2\x82\xac\xe2\x82\xac", 8) == "  \xe2\x82\xac");
}
