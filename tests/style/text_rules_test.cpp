#include <string>

#include <doctest/doctest.h>

#include "rules.hpp"

using namespace troupe::style;

namespace {

template <class Rule>
std::size_t count(Rule rule, const std::string& path, const std::string& text) {
  Violations found;
  rule(parse(path, text), found);
  return found.size();
}

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

}  // namespace

TEST_CASE("a line of 101 columns is found, one of 100 letters of two bytes is not") {
  CHECK(count(check_lines, "a.cpp", std::string(101, 'a')) == 1);
  CHECK(count(check_lines, "a.cpp", repeat("\xC3\xA4", 100)) == 0);
}

TEST_CASE("tabs, spaces at the end and leftover work are found") {
  CHECK(count(check_lines, "a.cpp", "\tint a;\n") == 1);
  CHECK(count(check_lines, "a.cpp", "int a; \n") == 1);
  CHECK(count(check_lines, "a.cpp", "int a;\r\n") == 1);
  CHECK(count(check_lines, "a.cpp",
              "// TO"
              "DO: later\n") == 1);
  CHECK(count(check_lines, "a.cpp",
              "// FIX"
              "ME\n") == 1);
  CHECK(count(check_lines, "a.cpp",
              "int FIX"
              "MES; // TO"
              "DOS\n") == 0);
}

TEST_CASE("a file of 601 lines is found, one of 600 is not") {
  CHECK(count(check_lengths, "a.cpp", repeat("int a;\n", 601)) == 1);
  CHECK(count(check_lengths, "a.cpp", repeat("int a;\n", 600)) == 0);
}

TEST_CASE("a function of 71 lines is found, one of 70 is not") {
  const auto function = [](std::size_t lines) {
    return "namespace a {\nclass B {\nint f(int x) const {\n" +
           repeat("  if (x) { g(); }\n", lines - 2) + "}\n};\n}\n";
  };
  CHECK(count(check_lengths, "a.cpp", function(71)) == 1);
  CHECK(count(check_lengths, "a.cpp", function(70)) == 0);
}

TEST_CASE("a long class, namespace or table is no long function") {
  const std::string body = repeat("  int a;\n", 100);
  CHECK(count(check_lengths, "a.cpp", "namespace a {\n" + body + "}\n") == 0);
  CHECK(count(check_lengths, "a.cpp", "struct A : B<int> {\n" + body + "};\n") == 0);
  CHECK(count(check_lengths, "a.cpp", "const A a = {\n" + repeat("  f(1),\n", 100) + "};\n") == 0);
}

TEST_CASE("a long constructor with braces in its initialisers is found") {
  CHECK(count(check_lengths, "a.cpp",
              "A::A(int x) : a_{x}, b_{2} {\n" + repeat("  f();\n", 80) + "}\n") == 1);
}

TEST_CASE("a banned call is found where it is banned, with its replacement") {
  Violations found;
  check_banned(parse("troupe/tune/a.cpp", "int f() { return std::rand(); }\n"), found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].line == 1);
  CHECK(found[0].message.find("troupe/base/random.hpp") != std::string::npos);
}

TEST_CASE("each banned call is found") {
  for (const char* code : {"std::random_device d;",
                           "int a = rand();",
                           "srand(1);",
                           "fork();",
                           "if (::fork() == 0)",
                           "vfork();",
                           "system(\"ls\");",
                           "return system(\"ls\");",
                           "std::system(c);",
                           "popen(c, m);",
                           "sprintf(b, f);",
                           "std::sprintf(b, f);",
                           "vsprintf(b, f, a);",
                           "strcpy(a, b);",
                           "std::strcat(a, b);",
                           "using namespace std;",
                           "catch (...) {}",
                           "std::cout << 1;",
                           "std::chrono::steady_clock::now();",
                           "system_clock::now();",
                           "high_resolution_clock::now()"}) {
    CAPTURE(code);
    CHECK(count(check_banned, "troupe/tune/a.cpp", code) == 1);
  }
  for (const char* code : {"std::this_thread::sleep_for(1s);", "usleep(1);", "sleep(1);",
                           "nanosleep(&t, 0);", "std::this_thread::sleep_until(t);"}) {
    CAPTURE(code);
    CHECK(count(check_banned, "tests/unit/a.cpp", code) == 1);
  }
}

TEST_CASE("what only looks like a banned call is let through") {
  for (const char* code :
       {"self->system().spawn();", "caf::actor_system system(config);", "snprintf(b, n, f);",
        "my_rand();", "auto& system() const;", "// fork()", "log(\"fork()\");", "context.fork();",
        "Rng::rand();", "using namespace std::chrono_literals;", "return spawn(system(), x);"}) {
    CAPTURE(code);
    CHECK(count(check_banned, "troupe/actors/a.cpp", code) == 0);
  }
}

TEST_CASE("a ban ends where its folders end") {
  CHECK(count(check_banned, "troupe/apps/a.cpp", "std::cout << 1;") == 0);
  CHECK(count(check_banned, "troupe/tune/report/a.cpp", "std::cout << 1;") == 0);
  CHECK(count(check_banned, "examples/a.cpp", "std::cout << 1;") == 0);
  CHECK(count(check_banned, "troupe/base/clock.cpp", "steady_clock::now();") == 0);
  CHECK(count(check_banned, "tests/support/a.cpp", "sleep_for(1ms);") == 0);
  CHECK(count(check_banned, "tests/support/a.cpp", "fork();") == 0);
  CHECK(count(check_banned, "benchmarks/a.cpp", "steady_clock::now();") == 0);
}

TEST_CASE("an exception counts with a reason and for its own call only") {
  const auto check = [](const std::string& line) {
    return count(check_banned, "tests/unit/a.cpp", line);
  };
  CHECK(check("sleep_for(1s);  // style: allow(sleep_for) the step is meant to hang") == 0);
  CHECK(check("usleep(1);  // style: allow(usleep) the step is meant to hang") == 0);
  CHECK(check("sleep_for(1s);  // style: allow(sleep_for)") == 1);
  CHECK(check("sleep_for(1s);  // style: allow(usleep) the step is meant to hang") == 1);
}

TEST_CASE("a header without a guard, or that opens a namespace, is found") {
  CHECK(count(check_header, "a.hpp", "// About a.\n#pragma once\n") == 0);
  CHECK(count(check_header, "a.hpp", "#include <string>\n#pragma once\n") == 1);
  CHECK(count(check_header, "a.hpp", "") == 1);
  CHECK(count(check_header, "a.hpp", "#pragma once\nusing namespace troupe;\n") == 1);
  CHECK(count(check_header, "a.cpp", "using namespace troupe;\n") == 0);
}
