#include <troupe/base/fault_point.hpp>
#include <troupe/runtime/storage/checkpoint_store.hpp>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch_folder.hpp"
#include "tests/unit/runtime/storage/checkpoint_files.hpp"

using namespace troupe;
using namespace troupe::testing;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> points(const std::string& prefix) {
  std::vector<std::string> found;
  for (const std::string& name : FaultPoints::list()) {
    if (name.starts_with(prefix))
      found.push_back(name);
  }
  return found;
}

// Runs `work` in a child that is killed at the point.
void killed_at(const std::string& point, const std::function<void()>& work) {
  const pid_t pid = ::fork();  // style: allow(fork) the child is killed in the middle of a write
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const ScopedFault fault(point, {.kind = FaultKind::kill});
    work();
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

void check_all_listed_verify(const fs::path& trial_dir) {
  const auto refs = list_checkpoints(trial_dir).value_or_throw();
  for (const CheckpointRef& ref : refs)
    CHECK(verify_checkpoint(trial_dir, ref));
}

}  // namespace

TEST_CASE("every stage of a checkpoint's life has a fault point") {
  CHECK(points("checkpoint.write.").size() == 6);
  CHECK(points("checkpoint.delete.").size() == 2);
}

TEST_CASE("a failure at any stage of writing leaves nothing, or the old one whole") {
  for (const FaultKind kind : {FaultKind::fail, FaultKind::throw_error}) {
    for (const std::string& point : points("checkpoint.write.")) {
      CAPTURE(point);
      const ScratchFolder scratch("fault");
      const CheckpointRef other = write_sample(scratch.path(), 1, "other");
      const CheckpointRef old = write_sample(scratch.path(), 2, "old");
      {
        const ScopedFault fault(point, {.kind = kind});
        CHECK_THROWS_AS(write_sample(scratch.path(), 2, "new"), Exception);
      }
      // Only the two folders with their seven entries each.
      CHECK(names_below(scratch.path()).size() == 16);
      CHECK(verify_checkpoint(scratch.path(), other));
      check_all_listed_verify(scratch.path());
      if (point != "checkpoint.write.after_rename")
        CHECK(verify_checkpoint(scratch.path(), old));
      CHECK(verify_checkpoint(scratch.path(), write_sample(scratch.path(), 2, "new")));
    }
  }
}

TEST_CASE(
    "a kill at any stage of writing leaves nothing that counts, and the next write cleans up") {
  for (const std::string& point : points("checkpoint.write.")) {
    CAPTURE(point);
    const ScratchFolder scratch("fault");
    const CheckpointRef other = write_sample(scratch.path(), 1, "other");
    killed_at(point, [&] { write_sample(scratch.path(), 2, "killed"); });
    CHECK(verify_checkpoint(scratch.path(), other));
    check_all_listed_verify(scratch.path());
    const size_t listed = list_checkpoints(scratch.path()).value_or_throw().size();
    CHECK(listed == (point == "checkpoint.write.after_rename" ? 2U : 1U));
    CHECK(verify_checkpoint(scratch.path(), write_sample(scratch.path(), 2, "again")));
    CHECK(names_below(scratch.path()).size() == 16);
  }
}

TEST_CASE("a kill while an old folder is replaced leaves a whole one") {
  for (const std::string& point : points("checkpoint.write.")) {
    CAPTURE(point);
    const ScratchFolder scratch("fault");
    write_sample(scratch.path(), 1, "old");
    killed_at(point, [&] { write_sample(scratch.path(), 1, "new"); });
    CHECK(list_checkpoints(scratch.path()).value_or_throw().size() == 1);
    check_all_listed_verify(scratch.path());
  }
}

TEST_CASE("a kill at any stage of deleting leaves all of it or nothing, and can be repeated") {
  for (const std::string& point : points("checkpoint.delete.")) {
    CAPTURE(point);
    const ScratchFolder scratch("fault");
    const CheckpointRef ref = write_sample(scratch.path(), 1, "text");
    killed_at(point, [&] { (void)delete_checkpoint(scratch.path(), ref); });
    check_all_listed_verify(scratch.path());
    CHECK(delete_checkpoint(scratch.path(), ref));
    CHECK(names_below(scratch.path()).empty());
  }
}

TEST_CASE("what a living writer has begun is left alone, what a dead one left is removed") {
  const ScratchFolder scratch("fault");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  FileDescriptor begun(ends[0]);
  FileDescriptor tell(ends[1]);
  const pid_t pid = ::fork();  // style: allow(fork) the child is killed in the middle of a write
  REQUIRE(pid >= 0);
  if (pid == 0) {
    // Another process in the middle of its work.
    (void)write_checkpoint(scratch.path(), 5, 1, 0, [&](const fs::path&) {
      tell.reset();
      while (true)
        ::pause();
    });
  }
  tell.reset();
  REQUIRE(read_up_to(begun.get(), 1, "pipe"));
  const auto unfinished = [&] {
    size_t count = 0;
    for (const std::string& name : names_below(scratch.path()))
      count += name.ends_with(".partial");
    return count;
  };
  write_sample(scratch.path(), 1, "text");
  CHECK(unfinished() == 1);
  REQUIRE(::kill(pid, SIGKILL) == 0);
  REQUIRE(::waitpid(pid, nullptr, 0) == pid);
  write_sample(scratch.path(), 2, "text");
  CHECK(unfinished() == 0);
}
