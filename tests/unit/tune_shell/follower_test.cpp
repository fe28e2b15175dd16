#include <troupe/base/file.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/experiment_follower.hpp>
#include <troupe/tune/experiment_reader.hpp>
#include <troupe/tune/search/space.hpp>

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/unit/tune_shell/story.hpp"

using namespace troupe;
using namespace troupe::tune;
using namespace troupe::tune::testing;

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  return read_file(path, 1 << 20).value_or(std::string());
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Follows what there is, to the end.
Status follow(const JournalReader& journal, const fs::path& dir) {
  ExperimentFollower follower(journal, dir, true, nullptr);
  return follower.finish(nullptr);
}

/// All result files of the story's trials as one text.
std::string all_files(const fs::path& dir) {
  std::string text;
  for (const char* trial : {"Quadratic_00000", "Quadratic_00001"})
    for (const char* file : {"params.json", "result.json", "progress.csv", "error.txt"})
      text += std::string(file) + ":\n" + read(dir / trial / file);
  return text;
}

/// What the files say when nothing disturbs the follower.
std::string expected() {
  const troupe::testing::ScratchFolder dir("follower");
  MemoryJournal journal;
  Story story(journal);
  tell(story);
  REQUIRE(follow(journal, dir.path()));
  return all_files(dir.path());
}

}  // namespace

TEST_CASE("the files of a trial hold its results, each once") {
  const troupe::testing::ScratchFolder dir("follower");
  MemoryJournal journal;
  Story story(journal);
  tell(story);
  REQUIRE(follow(journal, dir.path()));
  const fs::path first = dir.path() / "Quadratic_00000";
  CHECK(lines(read(first / "result.json")) == 2);
  CHECK(lines(read(first / "progress.csv")) == 3);
  CHECK(read(first / "progress.csv").find(",late\n") != std::string::npos);
  CHECK(read(first / "error.txt").empty());
  CHECK(read(dir.path() / "Quadratic_00001" / "error.txt").find("Failure # 1 (") == 0);
  CHECK(read(first / "params.json") == "{\n  \"x\": 1.5\n}\n");
}

TEST_CASE("a follower that is killed after any event goes on without loss or repetition") {
  const std::string whole = expected();
  MemoryJournal journal;
  Story story(journal);
  tell(story);
  const uint64_t events = journal.watermarks().accepted.value;
  for (uint64_t cut = 0; cut <= events; ++cut) {
    CAPTURE(cut);
    const troupe::testing::ScratchFolder dir("follower");
    REQUIRE(follow(journal, dir.path()));
    // As if the note had not been written for a while: the files are ahead of it.
    auto note = parse_json(read(dir.path() / "result_files.json"));
    REQUIRE(note.has_value());
    note->as_map()["sequence"] = cut;
    REQUIRE(write_file_atomically(dir.path() / "result_files.json", to_json(*note)));
    REQUIRE(follow(journal, dir.path()));
    CHECK(all_files(dir.path()) == whole);
  }
}

TEST_CASE("files of another boot or store are made again") {
  const std::string whole = expected();
  const troupe::testing::ScratchFolder dir("follower");
  MemoryJournal journal;
  Story story(journal);
  tell(story);
  REQUIRE(follow(journal, dir.path()));
  // The machine lost what was not synced; the journal may have lost its tail as well.
  std::ofstream(dir.path() / "Quadratic_00000" / "result.json") << "{\"training_iteration\":9}\n";
  SUBCASE("the note is gone") {
    fs::remove(dir.path() / "result_files.json");
  }
  SUBCASE("the note is of another boot") {
    auto note = parse_json(read(dir.path() / "result_files.json"));
    note->as_map()["boot_id"] = "other";
    REQUIRE(write_file_atomically(dir.path() / "result_files.json", to_json(*note)));
  }
  SUBCASE("the note is ahead of the journal") {
    auto note = parse_json(read(dir.path() / "result_files.json"));
    note->as_map()["sequence"] = 1'000'000;
    REQUIRE(write_file_atomically(dir.path() / "result_files.json", to_json(*note)));
  }
  SUBCASE("the note is damaged") {
    REQUIRE(write_file_atomically(dir.path() / "result_files.json", "{"));
  }
  REQUIRE(follow(journal, dir.path()));
  CHECK(all_files(dir.path()) == whole);
}

TEST_CASE("finishing says what could not be written, and the rest is there") {
  const troupe::testing::ScratchFolder dir("follower");
  MemoryJournal journal;
  Story story(journal);
  tell(story);
  std::ofstream(dir.path() / "Quadratic_00000") << "a file in the way";
  const Status status = follow(journal, dir.path());
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().code() == ErrorCode::io);
  CHECK(status.error().message().find("Quadratic_00000") != std::string::npos);
  CHECK(lines(read(dir.path() / "Quadratic_00001" / "result.json")) == 2);
}

TEST_CASE("a refused reset is no failure: nothing in error.txt, and one word about all of them") {
  const troupe::testing::ScratchFolder dir("follower");
  MemoryJournal journal;
  Story story(journal);
  story.begin();
  for (const double x : {1.0, 2.0}) {
    const TrialId id = story.create({{"x", x}});
    story.start(id, false);
    story.refuse_reset(id);
    story.report(id, {{"loss", x}});
    story.end(id, "done");
  }
  REQUIRE(follow(journal, dir.path()));
  CHECK_FALSE(fs::exists(dir.path() / "Quadratic_00000" / "error.txt"));
  ProgressBoard board({.experiment = "story"});
  std::vector<std::string> said;
  ProgressFeed feed(board, dir.path(), false, [&](std::string line) { said.push_back(line); });
  REQUIRE(for_each_event(journal, Sequence(0), [&](Sequence sequence, const EventRecord& event) {
    feed.apply(sequence, event);
    return true;
  }));
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("Quadratic_00000: reset_config returned false") == 0);
  CHECK(board.state_of(TrialId(1)) == "TERMINATED");
}

TEST_CASE("a trial is declared finished in its files only when that is durable") {
  const troupe::testing::ScratchFolder dir("follower");
  MemoryJournal journal;
  Story story(journal);
  story.begin();
  const TrialId id = story.create({{"x", 1.5}});
  story.durable = false;
  story.report(id, {{"loss", 2.0}});
  story.report(id, {{"loss", 1.0}}, true);
  story.end(id, "done");
  const fs::path file = dir.path() / "Quadratic_00000" / "result.json";
  REQUIRE(follow(journal, dir.path()));
  CHECK(read(file).find("\"done\":true") == std::string::npos);
  journal.sync().value_or_throw();
  REQUIRE(follow(journal, dir.path()));
  CHECK(lines(read(file)) == 2);
  CHECK(read(file).find("\"done\":true") != std::string::npos);
}

TEST_CASE("lost checkpoints are told: each restart from an earlier place, the first missing end") {
  MemoryJournal journal;
  Story story(journal);
  story.begin();
  for (const double x : {1.0, 2.0}) {
    const TrialId id = story.create({{"x", x}});
    story.start(id);
    story.report(id, {{"loss", x}});
    story.lose_checkpoint(id, x > 1 ? 1 : 0, "checkpoint_000001: wrong digest\nmore");
    story.report_and_fail_to_save(id, {{"loss", x}}, "cannot save: no override");
  }
  ProgressBoard board({.experiment = "story"});
  std::vector<std::string> said;
  ProgressFeed feed(board, "/r", false, [&](std::string line) { said.push_back(line); });
  REQUIRE(for_each_event(journal, Sequence(0), [&](Sequence sequence, const EventRecord& event) {
    feed.apply(sequence, event);
    return true;
  }));
  REQUIRE(said.size() == 3);
  CHECK(said[0] ==
        "warning: Quadratic_00000 starts again from the beginning, after iteration 1, "
        "because of a checkpoint that cannot be used: checkpoint_000001: wrong digest");
  CHECK(said[1].find("warning: the last checkpoint of Quadratic_00000 is missing: cannot save: no "
                     "override") == 0);
  CHECK(said[2].find("warning: Quadratic_00001 goes on from iteration 1, after") == 0);
}

TEST_CASE("the board shows where each trial stands") {
  MemoryJournal journal;
  Story story(journal);
  ProgressBoard board({.experiment = "story", .metric = "loss", .mode = Mode::min});
  std::vector<std::string> said;
  ProgressFeed feed(board, "/r/story", true, [&](std::string line) { said.push_back(line); });
  REQUIRE(feed.load(journal));
  tell(story);
  REQUIRE(for_each_event(journal, Sequence(0), [&](Sequence sequence, const EventRecord& event) {
    feed.apply(sequence, event);
    return true;
  }));
  CHECK(board.state_of(TrialId(0)) == "TERMINATED");
  CHECK(board.state_of(TrialId(1)) == "RUNNING");
  const ProgressSnapshot snapshot = board.snapshot(0, 0);
  CHECK(snapshot.results == 4);
  CHECK(snapshot.actor_starts == 2);
  REQUIRE(snapshot.best.has_value());
  CHECK(snapshot.best->trial == "Quadratic_00000");
  const std::string failed =
      "Quadratic_00001 failed and is tried again: std::runtime_error: it broke";
  CHECK(std::find(said.begin(), said.end(), failed) != said.end());
  const std::string ended = "Quadratic_00000 ended after iteration 2: done";
  CHECK(std::find(said.begin(), said.end(), ended) != said.end());
}

TEST_CASE("a board that is loaded from the rows equals one that followed the events") {
  MemoryJournal journal;
  Story story(journal);
  tell(story);
  ProgressBoard board({.experiment = "story", .metric = "loss", .mode = Mode::min});
  ProgressFeed feed(board, "/r/story", false, nullptr);
  REQUIRE(feed.load(journal));
  CHECK(board.state_of(TrialId(0)) == "TERMINATED");
  const ProgressSnapshot snapshot = board.snapshot(0, 0);
  REQUIRE(snapshot.groups.size() == 2);
  CHECK(snapshot.groups[0].state == "RUNNING");
  CHECK(snapshot.groups[0].rows.at(0).iteration == 2);

  SUBCASE("a restart lets everything wait that ran") {
    story.begin(true);
    REQUIRE(for_each_event(journal, Sequence(journal.watermarks().accepted.value - 1),
                           [&](Sequence sequence, const EventRecord& event) {
                             feed.apply(sequence, event);
                             return true;
                           }));
    CHECK(board.state_of(TrialId(1)) == "PENDING");
  }
}

TEST_CASE("progress counts all results of the experiment, also those before a restart") {
  MemoryJournal journal;
  Story story(journal);
  story.spec.param_space =
      ParamSpace{{"x", uniform(0, 1)}, {"a", 1}, {"b", 2}, {"z", randint(0, 9)}}.to_value();
  tell(story);
  ProgressBoard board(board_options(story.spec, "/exp", 2, 2));
  ProgressFeed feed(board, "/exp", false, nullptr);
  REQUIRE(feed.load(journal));
  CHECK(board.snapshot(0, 0).results == 4);
  CHECK(board.snapshot(0, 0).actor_starts == 2);
  CHECK(board.snapshot(0, 0).param_names == std::vector<std::string>{"x", "z"});
  const Sequence before = journal.watermarks().accepted;
  story.report(TrialId(1), {{"loss", 2.0}, {"time_total_s", 3.0}});
  REQUIRE(for_each_event(journal, before, [&](Sequence sequence, const EventRecord& event) {
    feed.apply(sequence, event);
    return true;
  }));
  CHECK(board.snapshot(0, 0).results == 5);
}

TEST_CASE("a journal without an experiment has nothing to count") {
  const MemoryJournal journal;
  ProgressBoard board({});
  ProgressFeed feed(board, "/exp", false, nullptr);
  REQUIRE(feed.load(journal));
  CHECK(board.snapshot(0, 0).results == 0);
}
