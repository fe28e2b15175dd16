#include <troupe/base/random.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/unit/runtime/storage/checkpoint_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> regular_files(const fs::path& root) {
  std::vector<fs::path> files;
  for (const std::string& name : names_below(root)) {
    if (fs::is_regular_file(root / name))
      files.push_back(root / name);
  }
  return files;
}

// Damages one file at random and says how.
void damage(Random& random, const fs::path& path, std::string& how) {
  std::string bytes = read_text(path);
  const size_t place = bytes.empty() ? 0 : static_cast<size_t>(random.below(bytes.size()));
  switch (bytes.empty() ? 3 + random.below(2) : random.below(5)) {
    case 0:
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
      how = "flip a bit at " + std::to_string(place);
      break;
    case 1:
      bytes.resize(place);
      how = "cut at " + std::to_string(place);
      break;
    case 2:
      bytes.erase(place, 1);
      how = "remove the byte at " + std::to_string(place);
      break;
    case 3:
      bytes.insert(place, 1, static_cast<char>(random.below(256)));
      how = "insert a byte at " + std::to_string(place);
      break;
    default:
      fs::remove(path);
      how = "remove the file";
      return;
  }
  write_text(path, bytes);
}

}  // namespace

TEST_CASE("any damage to any file of a checkpoint is found") {
  const ScratchFolder scratch("damage");
  const fs::path folder = scratch.path() / "checkpoint_000001";
  const CheckpointRef ref = write_sample(scratch.path(), 1, "some weights\n");
  const auto files = regular_files(folder);
  REQUIRE(files.size() == 4);
  Random random(20260101, 0, RandomPurpose::test);
  for (int round = 0; round < 500; ++round) {
    const fs::path path = random.pick(files);
    const std::string before = read_text(path);
    std::string how;
    damage(random, path, how);
    CAPTURE(path.filename().string());
    CAPTURE(how);
    CHECK_FALSE(verify_checkpoint(scratch.path(), ref));
    write_text(path, before);
  }
  CHECK(verify_checkpoint(scratch.path(), ref));
}

TEST_CASE("a missing folder is found") {
  const ScratchFolder scratch("damage");
  const CheckpointRef ref = write_sample(scratch.path(), 1, "text");
  fs::remove(scratch.path() / "checkpoint_000001" / "nothing inside");
  CHECK(verify_checkpoint(scratch.path(), ref).error().message() ==
        "checkpoint_000001: folder 'nothing inside' is missing");
}

TEST_CASE("a checkpoint with another one's manifest is refused") {
  const ScratchFolder scratch("damage");
  const CheckpointRef one = write_sample(scratch.path(), 1, "text");
  CheckpointRef two = write_sample(scratch.path(), 2, "text");
  fs::copy_file(scratch.path() / "checkpoint_000001" / "manifest.json",
                scratch.path() / "checkpoint_000002" / "manifest.json",
                fs::copy_options::overwrite_existing);
  CHECK_FALSE(verify_checkpoint(scratch.path(), two));
  // Not even when the digest is that of the manifest there.
  two.digest = one.digest;
  CHECK(verify_checkpoint(scratch.path(), two).error().code() == ErrorCode::corrupt);
}

TEST_CASE("files that became links or pipes are refused, not followed and not waited for") {
  const ScratchFolder scratch("damage");
  const fs::path folder = scratch.path() / "checkpoint_000001";
  const CheckpointRef ref = write_sample(scratch.path(), 1, "text");
  const auto refused = [&] {
    return verify_checkpoint(scratch.path(), ref).error().code() == ErrorCode::corrupt;
  };
  // The contents behind the link are right: it is the link that is refused.
  fs::rename(folder / "model.bin", scratch.path() / "elsewhere");
  fs::create_symlink(scratch.path() / "elsewhere", folder / "model.bin");
  CHECK(refused());
  fs::remove(folder / "model.bin");
  REQUIRE(::mkfifo((folder / "model.bin").c_str(), 0600) == 0);
  CHECK(refused());
  fs::remove(folder / "model.bin");
  fs::create_directory(folder / "model.bin");
  CHECK(refused());
  fs::remove(folder / "model.bin");
  fs::rename(scratch.path() / "elsewhere", folder / "model.bin");
  CHECK(verify_checkpoint(scratch.path(), ref));

  fs::rename(folder / "optimizer", scratch.path() / "elsewhere");
  fs::create_directory_symlink(scratch.path() / "elsewhere", folder / "optimizer");
  CHECK(refused());
  fs::remove(folder / "optimizer");
  fs::rename(scratch.path() / "elsewhere", folder / "optimizer");

  fs::rename(folder, scratch.path() / "elsewhere");
  fs::create_directory_symlink(scratch.path() / "elsewhere", folder);
  CHECK(refused());
}

TEST_CASE("a reference that leads elsewhere is refused") {
  const ScratchFolder scratch("damage");
  CheckpointRef ref = write_sample(scratch.path(), 1, "text");
  ref.directory = "../" + scratch.path().filename().string() + "/checkpoint_000001";
  CHECK(verify_checkpoint(scratch.path(), ref).error().code() == ErrorCode::corrupt);
}

TEST_CASE("files that the manifest does not name are ignored") {
  const ScratchFolder scratch("damage");
  const CheckpointRef ref = write_sample(scratch.path(), 1, "text");
  write_text(scratch.path() / "checkpoint_000001" / "LOCK", "");
  CHECK(verify_checkpoint(scratch.path(), ref));
}
