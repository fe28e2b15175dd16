#include <troupe/base/fault_point.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>
#include <troupe/runtime/storage/space.hpp>

#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"

using namespace troupe;

TEST_CASE("a folder with space is not full, and nothing is left behind by asking") {
  const testing::ScratchFolder scratch("space");
  CHECK_FALSE(out_of_space(scratch.path()));
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("a folder that is not there is not said to be full") {
  const testing::ScratchFolder scratch("space");
  CHECK_FALSE(out_of_space(scratch.path() / "nowhere"));
}

namespace {

constexpr const char* probe = "storage.space.probe";

Result<CheckpointRef> write_one(const testing::ScratchFolder& scratch,
                                const std::function<void(const std::filesystem::path&)>& fill) {
  return write_checkpoint(scratch.path(), 1, 5, 0.5, fill);
}

}  // namespace

TEST_CASE("what fails while the disk is full is a full disk, and says where") {
  const testing::ScratchFolder scratch("space");
  const ScopedFault full(probe, {});
  const auto thrown = write_one(scratch, [](const auto&) { throw std::runtime_error("badbit"); });
  REQUIRE_FALSE(thrown);
  CHECK(thrown.error().code() == ErrorCode::resource_exhausted);
  for (const std::string& part : {std::string("badbit"), scratch.path().string()})
    CHECK_MESSAGE(thrown.error().message().find(part) != std::string::npos, thrown.error());
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("what fails with space left is what it was before") {
  const testing::ScratchFolder scratch("space");
  CHECK_THROWS_WITH(
      (void)write_one(scratch, [](const auto&) { throw std::runtime_error("badbit"); }), "badbit");
  const ScopedFault fault("checkpoint.write.before_sync", {});
  CHECK(write_one(scratch, [](const auto&) {}).error().code() == ErrorCode::unavailable);
}
