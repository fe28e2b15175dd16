#include <troupe/base/limits.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/process/detail/output_capture.hpp>

#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch_folder.hpp"

using namespace troupe;
using detail::OutputCapture;

namespace {

// The two ends of a pipe as the spawner makes them.
struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  void print(const std::string& text) { write_all(write.get(), text, "pipe").value_or_throw(); }
};

std::string content(const std::filesystem::path& path) {
  return read_file(path, limits::max_message_bytes).value_or_throw();
}

}  // namespace

TEST_CASE("the tail of output is bounded and starts with a whole line") {
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  size_t printed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = "line " + std::to_string(i) + '\n';
    pipe.print(line);
    printed += line.size();
    CHECK(capture.drain(limits::mib));
  }
  REQUIRE(printed > 4 * limits::max_output_tail_bytes);
  const std::string tail = capture.tail();
  CHECK(tail.size() <= limits::max_output_tail_bytes);
  CHECK(tail.size() > limits::max_output_tail_bytes - 100);
  CHECK(tail.starts_with("line "));
  CHECK(tail.ends_with("line 19999\n"));
}

TEST_CASE("a short output is kept whole") {
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  pipe.print("no newline");
  CHECK(capture.drain(limits::mib));
  CHECK(capture.tail() == "no newline");
}

TEST_CASE("the end of the pipe is noticed after everything was read") {
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  pipe.print("last words");
  pipe.write.reset();
  CHECK_FALSE(capture.drain(limits::mib));
  CHECK(capture.tail() == "last words");
}

TEST_CASE("output goes to the log file up to its limit and then says so") {
  const testing::ScratchFolder scratch("capture");
  const auto path = scratch.path() / "output.log";
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  REQUIRE(capture.set_log_file(path, 10));
  pipe.print("0123456");
  CHECK(capture.drain(limits::mib));
  CHECK(content(path) == "0123456");
  pipe.print("789abc");
  CHECK(capture.drain(limits::mib));
  pipe.print("more");
  CHECK(capture.drain(limits::mib));
  CHECK(content(path) ==
        "0123456789\n[output cut here: this file has reached its limit of 10 bytes]\n");
  CHECK(capture.tail() == "0123456789abcmore");
}

TEST_CASE("a log file that was full before stays as it is") {
  const testing::ScratchFolder scratch("capture");
  const auto path = scratch.path() / "output.log";
  write_file_atomically(path, "already full").value_or_throw();
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  REQUIRE(capture.set_log_file(path, 5));
  pipe.print("more");
  CHECK(capture.drain(limits::mib));
  CHECK(content(path) == "already full");
}

TEST_CASE("after a switch of the log file, earlier output is in the earlier file") {
  const testing::ScratchFolder scratch("capture");
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  REQUIRE(capture.set_log_file(scratch.path() / "one", 0));
  pipe.print("first");
  // Nobody has read the pipe yet.
  REQUIRE(capture.set_log_file(scratch.path() / "two", 0));
  pipe.print("second");
  CHECK(capture.drain(limits::mib));
  CHECK(content(scratch.path() / "one") == "first");
  CHECK(content(scratch.path() / "two") == "second");
  CHECK(capture.tail() == "second");
}

TEST_CASE("a log file is appended to") {
  const testing::ScratchFolder scratch("capture");
  const auto path = scratch.path() / "output.log";
  write_file_atomically(path, "attempt 0\n").value_or_throw();
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  REQUIRE(capture.set_log_file(path, 0));
  pipe.print("attempt 1\n");
  CHECK(capture.drain(limits::mib));
  CHECK(content(path) == "attempt 0\nattempt 1\n");
}

TEST_CASE("a log file that cannot be opened leaves the former one in place") {
  const testing::ScratchFolder scratch("capture");
  REQUIRE(::mkfifo((scratch.path() / "fifo").c_str(), 0600) == 0);
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  REQUIRE(capture.set_log_file(scratch.path() / "good", 0));
  CHECK_FALSE(capture.set_log_file(scratch.path() / "no/such/folder", 0));
  CHECK_FALSE(capture.set_log_file(scratch.path() / "fifo", 0));
  CHECK_FALSE(capture.set_log_file(scratch.path(), 0));
  pipe.print("text");
  CHECK(capture.drain(limits::mib));
  CHECK(content(scratch.path() / "good") == "text");
}

TEST_CASE("a log file that cannot be written is reported once and does not stop the draining") {
  int warnings = 0;
  const log::ScopedSink sink([&](const log::Record&) { ++warnings; });
  const testing::ScratchFolder scratch("capture");
  Pipe pipe;
  OutputCapture capture(std::move(pipe.read));
  // A regular file would need a full disk: a limit of the file size does the same.
  REQUIRE(capture.set_log_file(scratch.path() / "log", 0));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  pipe.print("a");
  CHECK(capture.drain(limits::mib));
  pipe.print("b");
  CHECK(capture.drain(limits::mib));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(warnings == 1);
  CHECK(capture.tail() == "ab");
}
