#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/csv.hpp>
#include <troupe/tune/report/result_files.hpp>

#include <fstream>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::tune;

namespace {

namespace fs = std::filesystem;

/// A journal that knows some trials.
class FakeSource : public TrialSource {
public:
  FakeSource() : root_(fs::temp_directory_path() / ("troupe_files_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~FakeSource() override { fs::remove_all(root_); }

  TrialFileInfo info(TrialId id) const {
    return {.id = id,
            .name = "T_" + trial_id_text(id),
            .dir = root_ / trial_id_text(id),
            .config = {{"x", id.value}}};
  }
  Result<TrialFileInfo> trial(TrialId id) override { return info(id); }
  Status results(TrialId id, uint64_t last,
                 const std::function<Status(const ResultLine&)>& visit) override {
    ++reads;
    for (const ResultLine& line : accepted[id]) {
      if (line.iteration > last)
        break;
      TROUPE_RETURN_IF_ERROR(visit(line));
    }
    return ok();
  }

  ResultLine accept(TrialId id, Metrics metrics) {
    std::vector<ResultLine>& lines = accepted[id];
    lines.push_back(
        {.iteration = lines.size() + 1, .wall_ms = 1000, .metrics = std::move(metrics)});
    return lines.back();
  }

  std::map<TrialId, std::vector<ResultLine>> accepted;
  int reads = 0;

private:
  fs::path root_;
};

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

void append(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

std::vector<int64_t> iterations(const fs::path& result_json) {
  std::vector<int64_t> found;
  std::istringstream in(read(result_json));
  for (std::string line; std::getline(in, line);) {
    const auto parsed = parse_json(line);
    REQUIRE_MESSAGE(parsed.has_value(), line);
    found.push_back(parsed->as_map().at("training_iteration").as_int());
  }
  return found;
}

using Rows = std::vector<std::vector<std::string>>;
Rows rows(const fs::path& progress_csv) {
  const std::string text = read(progress_csv);
  std::string_view rest = text;
  Rows found;
  while (auto record = take_csv_record(rest))
    found.push_back(*record);
  CHECK(rest.empty());
  return found;
}

const TrialId id{7};

/// A trial with three results in its files, as a driver left it.
void write_three(FakeSource& source) {
  ResultFiles files(source);
  REQUIRE(files.trial_created(source.info(id)).has_value());
  for (int i = 1; i <= 3; ++i)
    REQUIRE(files.result(id, source.accept(id, {{"loss", i}})));
  REQUIRE(files.failure(id, 17, 1000, "it broke"));
  files.flush();
}

void check_four(FakeSource& source) {
  const fs::path dir = source.info(id).dir;
  CHECK(iterations(dir / "result.json") == std::vector<int64_t>{1, 2, 3, 4});
  CHECK(rows(dir / "progress.csv").size() == 5);
}

}  // namespace

TEST_CASE("a trial gets its files") {
  FakeSource source;
  write_three(source);
  const fs::path dir = source.info(id).dir;
  CHECK(read(dir / "params.json") == "{\n  \"x\": 7\n}\n");
  CHECK(iterations(dir / "result.json") == std::vector<int64_t>{1, 2, 3});
  CHECK(rows(dir / "progress.csv").size() == 4);
  CHECK(read(dir / "error.txt").find("Failure # 1 (occurred at ") == 0);
}

TEST_CASE("a result or failure that comes again is not written again") {
  FakeSource source;
  write_three(source);
  ResultFiles files(source);
  for (const ResultLine& line : source.accepted[id])
    REQUIRE(files.result(id, line));
  REQUIRE(files.failure(id, 17, 1000, "it broke"));
  REQUIRE(files.result(id, source.accept(id, {{"loss", 4}})));
  REQUIRE(files.failure(id, 40, 1000, "again"));
  files.flush();
  check_four(source);
  CHECK(source.reads == 0);
  CHECK(last_error(read(source.info(id).dir / "error.txt")).number == 2);
}

TEST_CASE("a line that a crash cut off is written anew") {
  FakeSource source;
  write_three(source);
  append(source.info(id).dir / "result.json", "{\"config\":{\"x\":7},\"lo");
  append(source.info(id).dir / "progress.csv", "4,");
  ResultFiles files(source);
  REQUIRE(files.result(id, source.accept(id, {{"loss", 4}})));
  files.flush();
  check_four(source);
}

TEST_CASE("files that lack results are made again from the journal") {
  FakeSource source;
  write_three(source);
  SUBCASE("both files are gone") {
    fs::remove(source.info(id).dir / "result.json");
    fs::remove(source.info(id).dir / "progress.csv");
  }
  SUBCASE("one file is gone") {
    fs::remove(source.info(id).dir / "result.json");
  }
  SUBCASE("one is behind") {
    append(source.info(id).dir / "result.json", "{\"training_iteration\":4}\n");
  }
  SUBCASE("one holds rubbish") {
    append(source.info(id).dir / "result.json", "rubbish\n");
  }
  ResultFiles files(source);
  REQUIRE(files.result(id, source.accept(id, {{"loss", 4}})));
  files.flush();
  check_four(source);
  CHECK(source.reads >= 1);
}

TEST_CASE("a new metric becomes a new column and earlier rows read as empty") {
  FakeSource source;
  write_three(source);
  ResultFiles files(source);
  REQUIRE(files.result(id, source.accept(id, {{"loss", 4}, {"acc", 0.5}})));
  REQUIRE(files.result(id, source.accept(id, {{"late", "a,b"}})));
  files.flush();
  const Rows found = rows(source.info(id).dir / "progress.csv");
  REQUIRE(found.size() == 6);
  const auto& header = found.front();
  CHECK(header[header.size() - 2] == "acc");
  CHECK(header.back() == "late");
  for (const auto& row : found)
    CHECK(row.size() == header.size());
  CHECK(found[3].back().empty());
  CHECK(found[4][header.size() - 2] == "0.5");
  CHECK(found[5].back() == "a,b");
}

TEST_CASE("much pending text is written by itself and in order") {
  FakeSource source;
  ResultFiles files(source, 1000);
  REQUIRE(files.trial_created(source.info(id)));
  for (int i = 0; i < 500; ++i)
    REQUIRE(files.result(id, source.accept(id, {{"loss", i}})));
  CHECK_FALSE(iterations(source.info(id).dir / "result.json").empty());
  files.flush();
  CHECK(iterations(source.info(id).dir / "result.json").size() == 500);
}

TEST_CASE("starting over drops what the files hold") {
  FakeSource source;
  write_three(source);
  source.accepted[id].clear();  // the machine lost power, and the journal its tail
  ResultFiles files(source);
  REQUIRE(files.start_over(id));
  REQUIRE(files.result(id, source.accept(id, {{"loss", 10}})));
  files.flush();
  CHECK(iterations(source.info(id).dir / "result.json") == std::vector<int64_t>{1});
  CHECK_FALSE(fs::exists(source.info(id).dir / "error.txt"));
}

TEST_CASE("a trial whose folder can not be written is caught up later, the others are not held") {
  FakeSource source;
  const TrialId other{8};
  ResultFiles files(source);
  REQUIRE(files.trial_created(source.info(id)));
  REQUIRE(files.trial_created(source.info(other)));
  const fs::path dir = source.info(id).dir;
  fs::create_directory(dir / "result.json");  // in the way
  REQUIRE(files.result(id, source.accept(id, {{"loss", 1}})));
  REQUIRE(files.result(other, source.accept(other, {{"loss", 1}})));
  files.flush();
  CHECK(files.incomplete() == 1);
  CHECK(files.reason().find("result.json") != std::string::npos);
  CHECK(iterations(source.info(other).dir / "result.json") == std::vector<int64_t>{1});

  REQUIRE(files.result(id, source.accept(id, {{"loss", 2}})));
  files.trial_ended(id);
  files.flush();
  files.retry();
  CHECK(files.incomplete() == 1);

  fs::remove(dir / "result.json");
  files.retry();
  CHECK(files.incomplete() == 0);
  CHECK(iterations(dir / "result.json") == std::vector<int64_t>{1, 2});
  CHECK(rows(dir / "progress.csv").size() == 3);
}

TEST_CASE("a folder that somebody removed is made again") {
  FakeSource source;
  write_three(source);
  ResultFiles files(source);
  REQUIRE(files.result(id, source.accept(id, {{"loss", 4}})));
  fs::remove_all(source.info(id).dir);
  files.flush();
  files.retry();
  check_four(source);
  CHECK(fs::exists(source.info(id).dir / "params.json"));
}
