#pragma once

#include <troupe/base/ids.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/serialization/value.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

/// What stands in a trial's result files, as pure functions: who writes them is in
/// result_files.hpp.
///
/// - `params.json`: the configuration, keys sorted, for people and `jq`.
/// - `result.json`: one JSON object a line, nested: the user's metrics, the configuration under
///   `config`, and trial_id, trial_name, experiment_tag (number and parameters), date (local),
///   done, and what a worker adds to each result: training_iteration, time_this_iter_s,
///   time_total_s, timestamp (Unix seconds), time_since_restore, iterations_since_restore, pid,
///   hostname. User code may report any of these itself, except trial_id, trial_name,
///   experiment_tag, time_total_s, done and training_iteration: that one counts results, here and
///   for stop criteria and schedulers, and another number under this name is replaced. Ray's
///   node_ip is left out: hostname says where. Any JSON reader takes the file: NaN and infinities
///   are `null`, because JSON has no word for them.
/// - `progress.csv`: the same without the configuration, nested names joined with '/'. Numbers are
///   written so that they read back exactly; nan, inf and -inf are those words.
/// - `error.txt`: "Failure # n (occurred at ..., event m)" and the message, one after the other.
namespace troupe::tune {

/// The trial that the files belong to.
struct TrialFileInfo {
  TrialId id;
  std::string name;           ///< "Quadratic_00003"
  std::filesystem::path dir;  ///< absolute
  Config config;
};

/// One result. `metrics` are those of the report, with times.
struct ResultLine {
  uint64_t iteration = 0;
  int64_t wall_ms = 0;
  bool done = false;
  Metrics metrics{};
};

/// "00003".
[[nodiscard]] std::string trial_id_text(TrialId id);

/// params.json.
[[nodiscard]] std::string params_json(const Config& config);

/// `value` with null in the place of NaN and infinities.
[[nodiscard]] Value without_non_finite(const Value& value);

/// JSON that any reader takes: as `to_json`, with null for NaN and infinities.
[[nodiscard]] std::string finite_json(const Map& map, JsonStyle style = JsonStyle::compact);

/// The metrics and what we add to them, nested; without the configuration.
[[nodiscard]] Metrics result_fields(const TrialFileInfo& trial, const ResultLine& line);

/// One line of result.json with its end. `config_json` is the configuration as compact JSON.
[[nodiscard]] std::string result_json_line(const Metrics& fields, std::string_view config_json);

/// A value as a cell of progress.csv; lists and maps as JSON.
[[nodiscard]] std::string csv_cell(const Value& value);

/// The head of an entry in error.txt: how many there are, and the event that the last one is from.
struct ErrorMark {
  uint64_t number = 0;
  uint64_t event = 0;
};

/// One entry of error.txt. Lines of the message that look like the beginning of another entry are
/// indented.
[[nodiscard]] std::string error_entry(const ErrorMark& mark, int64_t wall_ms,
                                      std::string_view message);

/// The mark of the last entry in error.txt; zeros: none.
[[nodiscard]] ErrorMark last_error(std::string_view text);

/// The columns of one progress.csv: those of the first result, and each new one behind them.
class CsvColumns {
public:
  /// Beyond so many, further ones stand in result.json only.
  static constexpr std::size_t max_columns = 4096;

  CsvColumns() = default;
  explicit CsvColumns(std::vector<std::string> names);

  /// The record of a result, as long as the columns known by now; new ones are added.
  [[nodiscard]] std::vector<std::string> record(const Metrics& fields);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace troupe::tune
