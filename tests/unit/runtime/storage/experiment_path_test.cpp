#include <troupe/base/limits.hpp>
#include <troupe/runtime/storage/experiment_path.hpp>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/scratch_folder.hpp"

using namespace troupe;
namespace fs = std::filesystem;

namespace {

// Sets an environment variable for a scope.
class Variable {
public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name))
      before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

private:
  const char* name_;
  std::optional<std::string> before_;
};

bool good(const std::string& name) {
  return check_folder_name(name, "name").has_value();
}

}  // namespace

TEST_CASE("results go to the folder of the environment, else to the home directory") {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable path("TROUPE_STORAGE_PATH", "/data/results");
    CHECK(default_storage_path().value_or_throw() == "/data/results");
    CHECK(experiment_directory("", "exp").value_or_throw() == "/data/results/exp");
  }
  const Variable path("TROUPE_STORAGE_PATH", nullptr);
  CHECK(default_storage_path().value_or_throw() == "/home/somebody/troupe_results");
  CHECK(experiment_directory("~/here", "exp").value_or_throw() == "/home/somebody/here/exp");
  CHECK(experiment_directory("~", "exp").value_or_throw() == "/home/somebody/exp");
}

TEST_CASE("the folder of an experiment is absolute") {
  CHECK(experiment_directory("relative", "exp").value_or_throw() ==
        fs::current_path() / "relative" / "exp");
  CHECK(experiment_directory("/a/../b/", "exp").value_or_throw() == "/b/exp");
}

TEST_CASE("a storage path that is a URL is refused") {
  CHECK(experiment_directory("s3://bucket/x", "exp").error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("a name is one folder name") {
  CHECK(good("quadratic"));
  CHECK(good("Net_00001_lr=0.1,layers=3"));
  CHECK(good("gr\xc3\xbc\xc3\x9f"));
  CHECK(good(std::string(limits::max_name_bytes, 'x')));
  CHECK_FALSE(good(std::string(limits::max_name_bytes + 1, 'x')));
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "/", "a\nb", " a", "a ", "\xff"}) {
    CAPTURE(name);
    CHECK_FALSE(good(name));
  }
  CHECK_FALSE(good(std::string("a\0b", 3)));
}

TEST_CASE("the error about a name says which one and why") {
  const Status status = check_folder_name("a/b", "experiment name");
  CHECK(status.error().message() ==
        "the experiment name 'a/b' contains a slash; to choose where results go, set "
        "storage_path. It becomes the name of a folder");
}

TEST_CASE("folders are made once and found again") {
  const testing::ScratchFolder scratch("path");
  const fs::path experiment = scratch.path() / "results" / "exp";
  REQUIRE(create_experiment_directory(experiment));
  REQUIRE(create_experiment_directory(experiment));
  const auto trial = create_trial_directory(experiment, "Net_00001");
  REQUIRE(trial);
  CHECK(*trial == experiment / "Net_00001");
  CHECK(fs::is_directory(*trial));
  CHECK(create_trial_directory(experiment, "Net_00001"));
  CHECK(create_trial_directory(experiment, "../Net").error().code() == ErrorCode::invalid_argument);
  std::ofstream(experiment / "file") << "in the way";
  CHECK_FALSE(create_trial_directory(experiment, "file"));
}

TEST_CASE("a file system is found out before the folder exists") {
  const auto info = inspect_file_system("/dev/shm/not/there/yet");
  REQUIRE(info);
  CHECK(info->name == "tmpfs");
  CHECK(info->kind == FileSystemInfo::Kind::memory);
  const testing::ScratchFolder scratch("path");
  const auto local = inspect_file_system(scratch.path());
  REQUIRE(local);
  CHECK(local->total_bytes > 0);
  CHECK_FALSE(local->name.empty());
}

TEST_CASE("a store in memory works but comes with a warning") {
  const auto warning = check_store_location("/dev/shm/store").value_or_throw();
  REQUIRE(warning);
  CHECK(warning->find("do not survive") != std::string::npos);
}

TEST_CASE("the folder of a trial is made once and found after that") {
  const troupe::testing::ScratchFolder experiment("trial");
  CHECK(make_trial_folder(experiment.path() / "T_00000"));
  CHECK(make_trial_folder(experiment.path() / "T_00000"));
  CHECK(fs::is_directory(experiment.path() / "T_00000"));
  const Status none = make_trial_folder(experiment.path() / "gone" / "T_00000");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code() == ErrorCode::not_found);
  CHECK(none.error().message().find("T_00000") != std::string::npos);
}
