#pragma once

#include <troupe/base/error.hpp>
#include <troupe/runtime/store/store.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/support/journal_records.hpp"

/// Stores on disk and what can happen to their files, for tests.
namespace troupe::testing {

using Files = std::map<std::string, std::string>;

inline std::string read_all(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw Exception(ErrorCode::io, "cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_all(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw Exception(ErrorCode::io, "cannot write " + file.string());
}

/// Every file below a folder with its content. RocksDB's LOCK is left out: it is always empty.
inline Files files_below(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "LOCK")
      files[std::filesystem::relative(entry.path(), folder).string()] = read_all(entry.path());
  return files;
}

inline void restore_files(const std::filesystem::path& folder, const Files& files) {
  std::filesystem::remove_all(folder);
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((folder / name).parent_path());
    write_all(folder / name, bytes);
  }
}

/// The store's files with an extension, oldest first.
inline std::vector<std::filesystem::path> store_files(const std::filesystem::path& experiment_dir,
                                                      const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(store_folder(experiment_dir)))
    if (entry.path().extension() == extension)
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The log that holds records; the newest of them.
inline std::filesystem::path newest_log(const std::filesystem::path& experiment_dir) {
  auto logs = store_files(experiment_dir, ".log");
  while (!logs.empty() && std::filesystem::file_size(logs.back()) == 0)
    logs.pop_back();
  if (logs.empty())
    throw Exception(ErrorCode::not_found, "the store has no log with records");
  return logs.back();
}

inline void flip_bit(const std::filesystem::path& file, std::size_t byte, int bit = 0) {
  std::string bytes = read_all(file);
  bytes.at(byte) = static_cast<char>(static_cast<unsigned char>(bytes.at(byte)) ^ (1u << bit));
  write_all(file, bytes);
}

inline std::unique_ptr<Journal> open_journal(const std::filesystem::path& experiment_dir,
                                             OpenMode mode = OpenMode::existing) {
  return std::move(
      open_store({.experiment_dir = experiment_dir, .mode = mode}).value_or_throw().journal);
}

/// Makes a store with events 1 to `last`, one in a batch, closed in good order.
inline void make_store(const std::filesystem::path& experiment_dir, std::uint64_t last,
                       std::size_t bytes = 64) {
  const auto journal = open_journal(experiment_dir, OpenMode::create);
  for (std::uint64_t number = 1; number <= last; ++number) {
    const WriteSet writes = write_set(number, bytes);
    journal->append({&writes, 1}).value_or_throw();
  }
  journal->close().value_or_throw();
}

/// The number of events when they are 1 to n with the generated content and the rows of event n are
/// there; throws what is wrong otherwise.
inline std::uint64_t check_history(const JournalReader& journal, std::size_t bytes = 64) {
  std::uint64_t last = 0;
  journal
      .events(Sequence(0),
              [&](Sequence sequence, std::string_view event) {
                if (event != sealed(event_payload(sequence.value, bytes)))
                  throw Exception(ErrorCode::corrupt, "event " + to_string(sequence) + " differs");
                last = sequence.value;
                return true;
              })
      .value_or_throw();
  if (journal.watermarks().accepted != Sequence(last))
    throw Exception(ErrorCode::corrupt, "the events end at " + std::to_string(last));
  std::uint64_t results = 0;
  journal
      .scan(Table::results, "",
            [&](std::string_view, std::string_view) {
              ++results;
              return true;
            })
      .value_or_throw();
  const auto loop = journal.get(Table::state, keys::state_loop).value_or_throw();
  const bool fits = last == 0 ? !loop : loop == sealed("loop at " + std::to_string(last));
  if (results != last || !fits)
    throw Exception(ErrorCode::corrupt, "the rows are not those of event " + std::to_string(last));
  return last;
}

}  // namespace troupe::testing
