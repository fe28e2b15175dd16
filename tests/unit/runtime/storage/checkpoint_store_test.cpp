#include <troupe/runtime/storage/checkpoint_store.hpp>

#include <stdexcept>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/unit/runtime/storage/checkpoint_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

Result<CheckpointRef> write_with(const fs::path& trial_dir,
                                 const std::function<void(const fs::path&)>& fill) {
  return write_checkpoint(trial_dir, 1, 1, 0, fill);
}

}  // namespace

TEST_CASE("a checkpoint that was written verifies and is described by its reference") {
  const ScratchFolder scratch("checkpoint");
  const CheckpointRef ref = write_sample(scratch.path(), 3, "weights");
  CHECK(ref.number == 3);
  CHECK(ref.iteration == 30);
  CHECK(ref.time_total_s == 4.5);
  CHECK(ref.bytes == 3 * 7);
  CHECK(ref.directory == "checkpoint_000003");
  CHECK(ref.digest.size() == 64);
  CHECK(verify_checkpoint(scratch.path(), ref));
  const std::vector<std::string> expected{
      "checkpoint_000003",
      "checkpoint_000003/empty",
      "checkpoint_000003/manifest.json",
      "checkpoint_000003/model.bin",
      "checkpoint_000003/nothing inside",
      "checkpoint_000003/optimizer",
      "checkpoint_000003/optimizer/moments",
      "checkpoint_000003/optimizer/moments/m1",
  };
  CHECK(names_below(scratch.path()) == expected);
}

TEST_CASE("the manifest names files with sizes and hashes that other tools agree with") {
  const ScratchFolder scratch("checkpoint");
  write_sample(scratch.path(), 1, "abc");
  const std::string text = read_text(scratch.path() / "checkpoint_000001" / "manifest.json");
  // SHA-256 of "abc", from FIPS 180.
  CHECK(text.find("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") !=
        std::string::npos);
  CHECK(text.find("\"optimizer/moments/m1\"") != std::string::npos);
}

TEST_CASE("an empty checkpoint is a checkpoint") {
  const ScratchFolder scratch("checkpoint");
  const auto ref = write_with(scratch.path(), [](const fs::path&) {});
  REQUIRE(ref);
  CHECK(ref->bytes == 0);
  CHECK(verify_checkpoint(scratch.path(), *ref));
}

TEST_CASE("equal contents give equal references") {
  const ScratchFolder one("checkpoint");
  const ScratchFolder two("checkpoint");
  CHECK(write_sample(one.path(), 1, "x") == write_sample(two.path(), 1, "x"));
}

TEST_CASE("a folder that an attempt without record left behind is replaced") {
  const ScratchFolder scratch("checkpoint");
  const CheckpointRef old = write_sample(scratch.path(), 1, "old");
  write_text(scratch.path() / "checkpoint_000001" / "extra", "");
  const CheckpointRef fresh = write_sample(scratch.path(), 1, "new");
  CHECK(verify_checkpoint(scratch.path(), fresh));
  CHECK_FALSE(verify_checkpoint(scratch.path(), old));
  CHECK_FALSE(fs::exists(scratch.path() / "checkpoint_000001" / "extra"));
  CHECK(names_below(scratch.path()).size() == 8);
}

TEST_CASE("what fill throws passes through and leaves nothing behind") {
  const ScratchFolder scratch("checkpoint");
  const auto fill = [](const fs::path& folder) {
    write_text(folder / "half", "text");
    throw std::runtime_error("disk of the user");
  };
  CHECK_THROWS_WITH_AS((void)write_with(scratch.path(), fill), "disk of the user",
                       std::runtime_error);
  CHECK(names_below(scratch.path()).empty());
}

TEST_CASE("links, pipes and sockets are refused by name and kind") {
  const ScratchFolder scratch("checkpoint");
  const auto message = [&](const std::function<void(const fs::path&)>& fill) {
    const auto ref = write_with(scratch.path(), fill);
    REQUIRE_FALSE(ref);
    CHECK(ref.error().code() == ErrorCode::invalid_argument);
    CHECK(names_below(scratch.path()).empty());
    return ref.error().message();
  };
  const auto link = message([](const fs::path& folder) {
    fs::create_directory(folder / "deep");
    fs::create_symlink("/etc/passwd", folder / "deep" / "link");
  });
  CHECK(link.find("'deep/link' is a symbolic link") != std::string::npos);
  const auto pipe = message(
      [](const fs::path& folder) { REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0); });
  CHECK(pipe.find("'fifo' is a named pipe") != std::string::npos);
  const auto socket = message([](const fs::path& folder) {
    const FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    // A path of a socket has 108 bytes at most: go there.
    const fs::path before = fs::current_path();
    fs::current_path(folder);
    sockaddr_un address{AF_UNIX, "socket"};
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    fs::current_path(before);
  });
  CHECK(socket.find("'socket' is a socket") != std::string::npos);
}

TEST_CASE("names that JSON cannot carry are refused") {
  const ScratchFolder scratch("checkpoint");
  const auto ref =
      write_with(scratch.path(), [](const fs::path& folder) { write_text(folder / "\xff", ""); });
  REQUIRE_FALSE(ref);
  CHECK(ref.error().message().find("\\xff") != std::string::npos);
}

TEST_CASE("a manifest of the user's own is refused, one of a former checkpoint replaced") {
  const ScratchFolder scratch("checkpoint");
  const auto theirs = write_with(scratch.path(), [](const fs::path& folder) {
    write_text(folder / "manifest.json", "{\"mine\": 1}");
  });
  REQUIRE_FALSE(theirs);
  CHECK(theirs.error().code() == ErrorCode::invalid_argument);
  CHECK(names_below(scratch.path()).empty());

  write_sample(scratch.path(), 1, "text");
  const auto copy = write_checkpoint(scratch.path(), 2, 2, 0, [&](const fs::path& folder) {
    fs::copy(scratch.path() / "checkpoint_000001", folder, fs::copy_options::recursive);
  });
  REQUIRE(copy);
  CHECK(verify_checkpoint(scratch.path(), *copy));
}

TEST_CASE("a checkpoint in a folder that is gone is an error that names it") {
  const ScratchFolder scratch("checkpoint");
  const auto ref = write_with(scratch.path() / "gone", [](const fs::path&) {});
  REQUIRE_FALSE(ref);
  CHECK(ref.error().code() == ErrorCode::not_found);
  CHECK(ref.error().message().find("gone") != std::string::npos);
}

TEST_CASE("a folder is copied whole and stays as it was") {
  const ScratchFolder scratch("checkpoint");
  const fs::path source = scratch.path() / "source";
  const fs::path trial = scratch.path() / "trial";
  fs::create_directories(source);
  fs::create_directories(trial);
  fill_sample(source, std::string(3'000'000, 'w'));
  fs::permissions(source / "model.bin", fs::perms::owner_all);
  const auto before = names_below(source);
  const auto ref = copy_checkpoint(trial, 7, 70, 1, source);
  REQUIRE(ref);
  CHECK(verify_checkpoint(trial, *ref));
  CHECK(names_below(source) == before);
  const fs::path copy = trial / "checkpoint_000007";
  CHECK(read_text(copy / "optimizer/moments/m1") == read_text(source / "optimizer/moments/m1"));
  CHECK((fs::status(copy / "model.bin").permissions() & fs::perms::owner_exec) != fs::perms::none);
}

TEST_CASE("a checkpoint can be copied into the next one") {
  const ScratchFolder scratch("checkpoint");
  const CheckpointRef first = write_sample(scratch.path(), 1, "weights");
  const auto second = copy_checkpoint(scratch.path(), 2, 20, 2, scratch.path() / first.directory);
  REQUIRE(second);
  CHECK(verify_checkpoint(scratch.path(), *second));
  CHECK(verify_checkpoint(scratch.path(), first));
}

TEST_CASE("a folder that holds the trial, holds links or is missing is not copied") {
  const ScratchFolder scratch("checkpoint");
  const fs::path trial = scratch.path() / "trial";
  fs::create_directories(trial / "inside");
  CHECK(copy_checkpoint(trial, 1, 1, 0, scratch.path()).error().code() ==
        ErrorCode::invalid_argument);
  CHECK(copy_checkpoint(trial, 1, 1, 0, trial).error().code() == ErrorCode::invalid_argument);
  CHECK(copy_checkpoint(trial, 1, 1, 0, trial / "missing").error().code() == ErrorCode::not_found);
  CHECK(copy_checkpoint(trial, 1, 1, 0, trial / "inside"));
  fs::create_symlink("/etc/passwd", trial / "inside" / "link");
  CHECK(copy_checkpoint(trial, 2, 1, 0, trial / "inside").error().code() ==
        ErrorCode::invalid_argument);
}

TEST_CASE("deleting a checkpoint removes it, and may be repeated") {
  const ScratchFolder scratch("checkpoint");
  const CheckpointRef keep = write_sample(scratch.path(), 1, "keep");
  const CheckpointRef doomed = write_sample(scratch.path(), 2, "doomed");
  CHECK(delete_checkpoint(scratch.path(), doomed));
  CHECK(delete_checkpoint(scratch.path(), doomed));
  CHECK(verify_checkpoint(scratch.path(), doomed).error().code() == ErrorCode::not_found);
  CHECK(verify_checkpoint(scratch.path(), keep));
  CHECK(names_below(scratch.path()).size() == 8);
  CHECK(delete_checkpoint(scratch.path() / "no such trial", doomed));
}

TEST_CASE("only the folder of a checkpoint can be deleted") {
  const ScratchFolder scratch("checkpoint");
  CheckpointRef ref = write_sample(scratch.path(), 1, "text");
  for (const char* trick :
       {"", ".", "..", "../other", "/etc", "checkpoint_000002", "checkpoint_1"}) {
    ref.directory = trick;
    CHECK(delete_checkpoint(scratch.path(), ref).error().code() == ErrorCode::invalid_argument);
  }
  CHECK(names_below(scratch.path()).size() == 8);
}

TEST_CASE("finished checkpoints are listed, newest first") {
  const ScratchFolder scratch("checkpoint");
  const CheckpointRef one = write_sample(scratch.path(), 1, "one");
  const CheckpointRef ten = write_sample(scratch.path(), 10, "ten");
  const CheckpointRef million = write_sample(scratch.path(), 1'234'567, "many");
  CHECK(million.directory == "checkpoint_1234567");
  fs::create_directory(scratch.path() / "checkpoint_000011");
  fs::create_directory(scratch.path() / "checkpoint_12");
  fs::create_directory(scratch.path() / "other");
  write_text(scratch.path() / "checkpoint_000013", "a file");
  const auto list = list_checkpoints(scratch.path());
  REQUIRE(list);
  CHECK(*list == std::vector<CheckpointRef>{million, ten, one});
  CHECK(list_checkpoints(scratch.path() / "gone").error().code() == ErrorCode::not_found);
}

TEST_CASE("the newest checkpoint that verifies is picked, with the reasons for the others") {
  const ScratchFolder scratch("checkpoint");
  const CheckpointRef one = write_sample(scratch.path(), 1, "one");
  const CheckpointRef two = write_sample(scratch.path(), 2, "two");
  const CheckpointRef three = write_sample(scratch.path(), 3, "three");
  const std::vector<CheckpointRef> refs{three, two, one};
  std::vector<std::string> damaged;
  CHECK(pick_checkpoint(scratch.path(), refs, damaged).value_or_throw() == 0);
  CHECK(damaged.empty());

  write_text(scratch.path() / "checkpoint_000003" / "model.bin", "THREE");
  fs::remove_all(scratch.path() / "checkpoint_000002");
  CHECK(pick_checkpoint(scratch.path(), refs, damaged).value_or_throw() == 2);
  REQUIRE(damaged.size() == 2);
  CHECK(damaged[0] ==
        "checkpoint_000003: file 'model.bin' has other contents than were written (SHA-256 "
        "differs)");
  CHECK(damaged[1] == "checkpoint_000002: its folder is missing");

  fs::remove(scratch.path() / "checkpoint_000001" / "model.bin");
  const auto none = pick_checkpoint(scratch.path(), refs, damaged);
  CHECK(none.error().code() == ErrorCode::not_found);
  CHECK(none.error().message().find("checkpoint_000001: file 'model.bin' is missing") !=
        std::string::npos);
  CHECK(pick_checkpoint(scratch.path(), {}, damaged).error().code() == ErrorCode::not_found);
}
