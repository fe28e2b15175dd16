#include <troupe/base/file.hpp>
#include <troupe/tune/report/live_region.hpp>
#include <troupe/tune/report/progress_printer.hpp>

#include <atomic>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::tune;

namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  std::string rest() {
    write_end.reset();
    return *read_up_to(read_end.get(), 1 << 20, "pipe");
  }
};

ProgressSnapshot snapshot() {
  ProgressSnapshot s;
  s.experiment = "quadratic";
  s.groups = {{"RUNNING", 1, {}}};
  return s;
}

}  // namespace

TEST_CASE("a live region goes up exactly over what it drew") {
  LiveRegion region;
  CHECK(region.draw("a\nb\n") == "a\nb\n");
  CHECK(region.draw("c\n") == "\x1b[2A\r\x1b[Jc\n");
  CHECK(region.print_above("log\n") == "\x1b[1A\r\x1b[Jlog\nc\n");
  CHECK(region.draw("") == "\x1b[1A\r\x1b[J");
  CHECK(region.draw("d\n") == "d\n");
}

TEST_CASE("a pipe gets plain lines and every line that was given") {
  Pipe pipe;
  ProgressPrinter printer({.fd = pipe.write_end.get(), .interval = std::chrono::hours(1)},
                          snapshot);
  printer.line("trial \x1b[2J ended");
  printer.stop();
  CHECK(pipe.rest() == "trial ?[2J ended\n");
}

TEST_CASE("a flood of lines is cut and counted") {
  Pipe pipe;
  REQUIRE(::fcntl(pipe.write_end.get(), F_SETPIPE_SZ, 1 << 20) > 0);
  ProgressPrinter printer({.fd = pipe.write_end.get(), .interval = std::chrono::hours(1)},
                          snapshot);
  for (int i = 0; i < 200'000; ++i)
    printer.line("x");
  printer.stop();
  CHECK(pipe.rest().find("more lines") != std::string::npos);
}

TEST_CASE("a snapshot is printed when its time has come") {
  Pipe pipe;
  std::atomic<int> asked{0};
  ProgressPrinter printer({.fd = pipe.write_end.get(), .interval = std::chrono::milliseconds(1)},
                          [&] {
                            ++asked;
                            asked.notify_all();
                            return snapshot();
                          });
  asked.wait(0);
  printer.stop();
  CHECK(pipe.rest().find("quadratic: 1 RUNNING") != std::string::npos);
}

TEST_CASE("a terminal gets a table in place and leaves it clean") {
  Pipe pipe;
  std::atomic<int> asked{0};
  ProgressPrinter printer({.fd = pipe.write_end.get(),
                           .live = true,
                           .color = true,
                           .interval = std::chrono::milliseconds(1)},
                          [&] {
                            ++asked;
                            asked.notify_all();
                            return snapshot();
                          });
  asked.wait(0);
  log::warning("something happened");
  printer.stop();
  const std::string shown = pipe.rest();
  CHECK(shown.find("Trial status: ") != std::string::npos);
  CHECK(shown.find("something happened\n") != std::string::npos);
  CHECK(shown.rfind("\x1b[J") > shown.rfind("Trial status: "));
}

TEST_CASE("neither a pipe nor a dumb terminal gets escape sequences") {
  Pipe pipe;
  const PrinterOptions options = printer_options_for(pipe.write_end.get());
  CHECK_FALSE(options.live);
  CHECK_FALSE(options.color);
}
