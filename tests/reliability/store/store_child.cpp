#include <troupe/base/fault_point.hpp>
#include <troupe/base/log.hpp>
#include <troupe/runtime/store/store.hpp>
#include <troupe/runtime/store/store_writer.hpp>

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include <unistd.h>

#include "tests/support/journal_records.hpp"

/// Writes the generated history into a store until it is killed, and says on its standard output
/// how far it was accepted and durable: 9 bytes each, 'a' or 'd' and the sequence.
///
///     store_child <experiment folder> <bytes of an event> <last event>

using namespace troupe;

namespace {

void say(char what, Sequence sequence) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string line(1, what);
  keys::append_u64(line, sequence.value);
  // A pipe that is full or gone is the end of this program.
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    ::_exit(3);
}

int run(const std::string& dir, std::size_t bytes, std::uint64_t last) {
  FaultPoints::arm_from_environment().value_or_throw();
  const OpenMode mode = store_exists(dir) ? OpenMode::existing : OpenMode::create;
  auto opened =
      open_store(
          {.experiment_dir = dir, .mode = mode, .witness_interval = std::chrono::milliseconds(20)})
          .value_or_throw();
  for (const std::string& note : opened.notes)
    std::fprintf(stderr, "%s\n", note.c_str());
  StoreWriter writer(*opened.journal, {},
                     {.on_accepted = [](Sequence sequence) { say('a', sequence); },
                      .on_durable = [](Sequence sequence) { say('d', sequence); },
                      .on_error =
                          [](const Error& error) {
                            std::fprintf(stderr, "%s\n", error.to_string().c_str());
                            ::_exit(4);
                          }});
  for (std::uint64_t next = writer.accepted().value + 1; next <= last;) {
    if (!writer.has_room()) {
      writer.flush(std::chrono::seconds(60)).value_or_throw();
      continue;
    }
    writer.submit(testing::write_sets(next, next, bytes)).value_or_throw();
    ++next;
  }
  writer.stop(std::chrono::seconds(60)).value_or_throw();
  opened.journal->close().value_or_throw();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4)
    return 2;
  try {
    return run(argv[1], std::stoul(argv[2]), std::stoull(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
