#include <troupe/tune/report/text.hpp>

#include <limits>

#include <doctest/doctest.h>

using namespace troupe::tune;

TEST_CASE("width counts what a terminal shows, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xC3\xA9") == 1);                  // e acute
  CHECK(display_width("e\xCC\x81") == 1);                 // e and a combining accent
  CHECK(display_width("\xE6\x97\xA5\xE6\x9C\xAC") == 4);  // two wide characters
  CHECK(display_width("\xFF\xFE") == 2);                  // not UTF-8
}

TEST_CASE("text that would move the cursor is made harmless") {
  CHECK(terminal_safe("a\x1b[2Jb\nc\td") == "a?[2Jb?c?d");
  CHECK(terminal_safe("\xC2\x9B"
                      "31m") == "?31m");  // C1 control sequence introducer
  CHECK(terminal_safe("\xE2\x80\xAE"
                      "x") == "?x");  // right-to-left override
  CHECK(terminal_safe("ok \xC3\xA9") == "ok \xC3\xA9");
  CHECK(terminal_safe("bad \xC3") == "bad ?");
}

TEST_CASE("a text that is too long is cut at a character and says so") {
  CHECK(fit_text("abcdef", 6) == "abcdef");
  CHECK(fit_text("abcdefg", 6) == "abc...");
  CHECK(fit_text("abcdefg", 3) == "abc");
  CHECK(fit_text("abc", 0).empty());
  CHECK(fit_text("\xE6\x97\xA5\xE6\x9C\xAC\xE6\x97\xA5", 5) == "\xE6\x97\xA5...");
}

TEST_CASE("one line of a message holds the last line of the output that it ends with") {
  CHECK(one_line("no such file") == "no such file");
  CHECK(one_line("first\nsecond") == "first");
  CHECK(one_line("called exit(1); last output:\n  one\n  two\n") ==
        "called exit(1); last output: two");
  CHECK(one_line(std::string(8000, 'x')) == std::string(397, 'x') + "...");
  CHECK(one_line("called exit(1); last output:") == "called exit(1); last output:");
}

TEST_CASE("numbers are short and never lose their sign or kind") {
  CHECK(short_number(0.1) == "0.1");
  CHECK(short_number(1234567) == "1.23457e+06");
  CHECK(short_number(3.14159265, 4) == "3.142");
  CHECK(short_number(-0.00000012) == "-1.2e-07");
  CHECK(short_number(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(short_number(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("durations are read in two units") {
  CHECK(duration_text(0.04) == "0 s");
  CHECK(duration_text(0.44) == "0.4 s");
  CHECK(duration_text(9.96) == "10 s");
  CHECK(duration_text(59.6) == "1 min");
  CHECK(duration_text(200) == "3 min 20 s");
  CHECK(duration_text(7500) == "2 h 5 min");
  CHECK(duration_text(349200) == "4 d 1 h");
  CHECK(duration_text(-3) == "0 s");
  CHECK(duration_text(std::numeric_limits<double>::quiet_NaN()) == "0 s");
  CHECK(duration_text(std::numeric_limits<double>::infinity()).find(" d") != std::string::npos);
}

TEST_CASE("sizes are read in binary units") {
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(std::uint64_t{2} << 30) == "2 GiB");
}

TEST_CASE("a table aligns its columns and ends no line in blanks") {
  const TextTable table{.header = {"name", "loss"},
                        .align = {Align::left, Align::right},
                        .rows = {{"a", "0.5"}, {"long name", "12"}, {"short row"}},
                        .max_cell_width = 20};
  CHECK(render_table(table, 80) ==
        "name       loss\n"
        "---------  ----\n"
        "a           0.5\n"
        "long name    12\n"
        "short row\n");
}

TEST_CASE("a table that is too wide cuts its widest cells, then leaves columns out") {
  const TextTable table{.header = {"name", "config", "loss"},
                        .align = {},
                        .rows = {{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbb", "0.5"}},
                        .max_cell_width = 20};
  CHECK(render_table(table, 24) ==
        "name      config    loss\n"
        "--------  --------  ----\n"
        "aaaaa...  bbbbb...  0.5\n");
  CHECK(least_table_width(table) == 24);
  CHECK(render_table(table, 23) ==
        "name      config   ...\n"
        "--------  --------\n"
        "aaaaa...  bbbbb...\n");
}
