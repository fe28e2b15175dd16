#include <troupe/tune/report/csv.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::tune;

namespace {

namespace fs = std::filesystem;

struct TempDir {
  fs::path path = fs::temp_directory_path() / ("troupe_csv_" + std::to_string(::getpid()));
  TempDir() { fs::create_directories(path); }
  ~TempDir() { fs::remove_all(path); }
};

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("fields are quoted only where they must be") {
  CHECK(csv_record(std::vector<std::string>{"a", "b c", ""}) == "a,b c,\n");
  CHECK(csv_record(std::vector<std::string>{"a,b", "say \"x\"", "two\nlines"}) ==
        "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

TEST_CASE("what was written is read back") {
  const std::vector<std::string> fields{"a,b", "say \"x\"", "two\nlines", "", "plain"};
  const std::string text = csv_record(fields) + "next,";
  std::string_view rest = text;
  const auto record = take_csv_record(rest);
  REQUIRE(record.has_value());
  CHECK(*record == fields);
  CHECK(rest == "next,");
  CHECK_FALSE(take_csv_record(rest).has_value());
}

TEST_CASE("a wider file keeps its records and gets empty fields") {
  const TempDir dir;
  const fs::path path = dir.path / "progress.csv";
  write(path, "a,b\n1,2\n3,\"4\n5\"\n");
  REQUIRE(widen_csv(path, std::vector<std::string>{"c", "d/e"}).has_value());
  CHECK(read(path) == "a,b,c,d/e\n1,2,,\n3,\"4\n5\",,\n");
}

TEST_CASE("a last record without its end does not survive widening") {
  const TempDir dir;
  const fs::path path = dir.path / "progress.csv";
  write(path, "a,b\n1,2\n3,");
  REQUIRE(widen_csv(path, std::vector<std::string>{"c"}).has_value());
  CHECK(read(path) == "a,b,c\n1,2,\n");
}

TEST_CASE("records longer than the copy buffer are widened whole") {
  const TempDir dir;
  const fs::path path = dir.path / "progress.csv";
  const std::string wide(200'000, 'x');
  write(path, "a\n" + wide + "\n");
  REQUIRE(widen_csv(path, std::vector<std::string>{"b"}).has_value());
  CHECK(read(path) == "a,b\n" + wide + ",\n");
}

TEST_CASE("a file that is not there is an error that names it") {
  const TempDir dir;
  const Status status = widen_csv(dir.path / "none.csv", std::vector<std::string>{"c"});
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code() == ErrorCode::not_found);
  CHECK(status.error().message().find("none.csv") != std::string::npos);
}
