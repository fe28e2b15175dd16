#include <doctest/doctest.h>

#include "source_file.hpp"

using namespace troupe::style;

TEST_CASE("comments and literals are no code, and columns are kept") {
  const SourceFile file = parse("a.cpp",
                                "int a = 1'000; // rand(\n"
                                "auto s = \"fork( \\\" rand(\"; int b;\n"
                                "/* rand(\n"
                                "   fork( */ int c;\n"
                                "auto r = R\"x(system( \" )x\"; char d = '\"'; int e;\n");
  REQUIRE(file.code.size() == 5);
  CHECK(file.code[0] == "int a = 1'000;         ");
  CHECK(file.code[1] == "auto s = \"              \"; int b;");
  CHECK(file.code[2] == "        ");
  CHECK(file.code[3] == "            int c;");
  CHECK(file.code[4] == "auto r = R\"x(          )x\"; char d = ' '; int e;");
  CHECK(file.lines[0].ends_with("// rand("));
}

TEST_CASE("the path of an include is found in both forms") {
  CHECK(include_of("#include <troupe/base/error.hpp>").path == "troupe/base/error.hpp");
  CHECK(include_of("#include \"a.hpp\"").path == "a.hpp");
  CHECK(include_of("#include \"a.hpp\"").quoted);
  CHECK(include_of("#include_next").path.empty());
  CHECK(include_of("int include = 1;").path.empty());
}
