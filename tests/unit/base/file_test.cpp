#include <troupe/base/fault_point.hpp>
#include <troupe/base/file.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace troupe;
namespace fs = std::filesystem;

namespace {

class Folder {
public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "troupe-file-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

private:
  fs::path path_;
};

std::string content(const fs::path& path) {
  return read_file(path, 1 << 20).value_or_throw();
}

}  // namespace

TEST_CASE("what is written atomically is read back, and leaves nothing beside it") {
  const Folder folder;
  const std::string bytes(100'000, 'x');
  REQUIRE(write_file_atomically(folder / "f", bytes).is_ok());
  REQUIRE(write_file_atomically(folder / "f", "new").is_ok());
  CHECK(content(folder / "f") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("a mode is applied") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder / "secret", "x", 0600).is_ok());
  struct stat info {};
  REQUIRE(::stat((folder / "secret").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("a failure before the rename keeps the old file and removes the temporary one") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder / "f", "old").is_ok());
  for (const char* point :
       {"file.write_atomically.before_write", "file.write_atomically.before_sync",
        "file.write_atomically.before_rename"}) {
    const ScopedFault fault(point, {});
    const Status status = write_file_atomically(folder / "f", "new");
    REQUIRE_FALSE(status.is_ok());
    CHECK(status.error().message().find((folder / "f").string()) != std::string::npos);
    CHECK(content(folder / "f") == "old");
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("a failure after the rename is reported: the new file may not survive power loss") {
  const Folder folder;
  const ScopedFault fault("file.write_atomically.before_directory_sync", {});
  CHECK_FALSE(write_file_atomically(folder / "f", "new").is_ok());
  CHECK(content(folder / "f") == "new");
}

TEST_CASE("reading is bounded and says by how much") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder / "f", "12345").is_ok());
  CHECK(*read_file(folder / "f", 5) == "12345");
  const auto result = read_file(folder / "f", 4);
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == ErrorCode::resource_exhausted);
  CHECK(result.error().message().find("has 5 bytes; at most 4") != std::string::npos);
}

TEST_CASE("files that do not know their size are read and bounded too") {
  CHECK(read_file("/proc/self/status", 1 << 20)->find("Name:") != std::string::npos);
  CHECK(read_file("/proc/self/status", 10).error().code() == ErrorCode::resource_exhausted);
}

TEST_CASE("an empty file is not an error") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder / "f", "").is_ok());
  CHECK(read_file(folder / "f", 0)->empty());
}

TEST_CASE("errors name the path and the reason") {
  const Folder folder;
  const auto missing = read_file(folder / "nothing", 10);
  CHECK(missing.error().code() == ErrorCode::not_found);
  CHECK(missing.error().message().find("nothing: No such file") != std::string::npos);
  CHECK(read_file(folder / "", 10).error().code() == ErrorCode::invalid_argument);
  CHECK_FALSE(write_file_atomically(folder / "no/such", "x").is_ok());
  CHECK_FALSE(write_file_atomically("", "x").is_ok());
}

TEST_CASE("a long file name still has room for the temporary one") {
  const Folder folder;
  const std::string name(250, 'n');
  REQUIRE(write_file_atomically(folder / name.c_str(), "x").is_ok());
  CHECK(content(folder / name.c_str()) == "x");
}

TEST_CASE("folders are made with their parents; a file in the way is an error") {
  const Folder folder;
  CHECK(create_directories(folder / "a/b/c").is_ok());
  CHECK(create_directories(folder / "a/b/c").is_ok());
  CHECK(create_directories(folder / "d/e/").is_ok());
  CHECK(fs::is_directory(folder / "a/b/c"));
  CHECK(fs::is_directory(folder / "d/e"));
  REQUIRE(write_file_atomically(folder / "a/f", "x").is_ok());
  CHECK(create_directories(folder / "a/f").error().code() == ErrorCode::already_exists);
  CHECK_FALSE(create_directories(folder / "a/f/g").is_ok());
}

TEST_CASE("removing says whether there was something") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder / "f", "x").is_ok());
  CHECK(*remove_file(folder / "f"));
  CHECK_FALSE(*remove_file(folder / "f"));
  CHECK(create_directories(folder / "d").is_ok());
  CHECK_FALSE(remove_file(folder / "d").has_value());
}

TEST_CASE("a descriptor is owned by one and closed once") {
  const Folder folder;
  REQUIRE(write_file_atomically(folder / "f", "x").is_ok());
  FileDescriptor first = open_file(folder / "f", O_RDONLY).value_or_throw();
  const int number = first.get();
  FileDescriptor second = std::move(first);
  CHECK(second.get() == number);
  CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(second.close("f").is_ok());
  CHECK(::fcntl(number, F_GETFD) == -1);
  CHECK_FALSE(second.valid());
}
