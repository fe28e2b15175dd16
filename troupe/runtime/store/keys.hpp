#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/serialization/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Keys of the rows in a journal. Integers are big endian, so that the byte order of the keys is
/// the order of the numbers and a prefix selects one trial.
///
/// | table       | key                          | made by                       |
/// |-------------|------------------------------|-------------------------------|
/// | experiment  | `spec`, `status`             | `experiment_spec`, ...        |
/// | trials      | trial:4                      | `trial_key`                   |
/// | results     | trial:4 iteration:8          | `result_key`                  |
/// | checkpoints | trial:4 number:4             | `checkpoint_key`              |
/// | state       | `loop`, `searcher`, `scheduler`, `dropped` | `state_loop`, ... |
namespace troupe::keys {

inline constexpr std::string_view experiment_spec = "spec";
inline constexpr std::string_view experiment_status = "status";
inline constexpr std::string_view state_loop = "loop";
inline constexpr std::string_view state_searcher = "searcher";
inline constexpr std::string_view state_scheduler = "scheduler";
inline constexpr std::string_view state_dropped = "dropped";  ///< `RowsDropped`

/// Also the prefix of all results and checkpoints of the trial.
[[nodiscard]] std::string trial_key(TrialId trial);
[[nodiscard]] std::string result_key(TrialId trial, std::uint64_t iteration);
[[nodiscard]] std::string checkpoint_key(TrialId trial, std::uint32_t number);

struct ResultKey {
  TrialId trial;
  std::uint64_t iteration = 0;
  friend bool operator==(const ResultKey&, const ResultKey&) = default;
};
struct CheckpointKey {
  TrialId trial;
  std::uint32_t number = 0;
  friend bool operator==(const CheckpointKey&, const CheckpointKey&) = default;
};

/// The way back. Nothing when the key has not exactly the bytes of its kind.
[[nodiscard]] std::optional<TrialId> parse_trial_key(std::string_view key);
[[nodiscard]] std::optional<ResultKey> parse_result_key(std::string_view key);
[[nodiscard]] std::optional<CheckpointKey> parse_checkpoint_key(std::string_view key);

/// The building blocks, for keys of other kinds. `load_*` need exactly 4 or 8 bytes.
void append_u32(std::string& key, std::uint32_t number);
void append_u64(std::string& key, std::uint64_t number);
[[nodiscard]] std::uint32_t load_u32(std::string_view bytes);
[[nodiscard]] std::uint64_t load_u64(std::string_view bytes);

}  // namespace troupe::keys

namespace troupe {

/// The value of a row in `Table::results`: the event that carries the result. `encode` it; the
/// doctor checks that the event is there.
struct EventPointer {
  static constexpr RecordInfo record{40, 1, "event_pointer"};
  Sequence sequence;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& sequence;
  }
};

/// Left behind by a repair that dropped rows: whoever goes on with the experiment writes them again
/// from the events, and removes this.
struct RowsDropped {
  static constexpr RecordInfo record{45, 1, "rows_dropped"};
  Sequence events;  ///< how many events the repair kept

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& events;
  }
};

}  // namespace troupe
