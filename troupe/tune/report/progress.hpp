#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a person sees of a running experiment: a snapshot in, text out. Pure functions; who prints
/// the text, and when, is decided elsewhere (progress_printer.hpp).
namespace troupe::tune {

/// One line of the table. Values are text already, in the order of the snapshot's names.
struct ProgressRow {
  std::string trial;
  std::vector<std::string> params;
  std::optional<uint64_t> iteration;
  std::optional<double> time_total_s;
  std::vector<std::string> metrics;
};

/// Trials of one state.
struct ProgressGroup {
  std::string state;              ///< "RUNNING", "TERMINATED", "PAUSED", "PENDING", "ERROR"
  uint64_t count = 0;             ///< all of them
  std::vector<ProgressRow> rows;  ///< those to show: all when few, else the newest
};

struct ProgressBest {
  std::string trial;
  std::string metric;
  std::string value;
  uint64_t iteration = 0;
  std::string config;    ///< "lr=0.1, layers=2"
  bool feasible = true;  ///< false: it breaks a constraint, as all others do
};

/// A trial that failed for good.
struct ProgressError {
  std::string trial;
  uint64_t failures = 0;
  std::string message;  ///< first line is shown
  std::string file;     ///< error.txt
};

struct ProgressSnapshot {
  std::string experiment;
  std::string path;
  int64_t wall_ms = 0;  ///< when it was taken
  double run_time_s = 0;
  std::vector<ProgressGroup> groups;  ///< in the order to show
  std::optional<uint64_t> planned;    ///< trials in total; nothing: no end
  uint64_t results = 0;
  uint64_t actor_starts = 0;
  std::vector<std::string> param_names;
  std::vector<std::string> metric_names;
  std::optional<ProgressBest> best;
  double cpus_used = 0;
  double cpus_total = 0;
  std::string waiting;  ///< why the next trial does not start; empty: nothing waits
  std::vector<ProgressError> errors;
};

/// Above this many trials a table shows the newest few of each state only.
inline constexpr std::size_t progress_full_rows = 20;
inline constexpr std::size_t progress_rows_per_state = 5;

struct ProgressStyle {
  std::size_t width = 100;  ///< no line is longer, so that none wraps
  std::size_t height = 0;   ///< at most so many lines; 0: no limit
  bool color = false;
};

/// The whole picture: state counts, times, resources, best so far, why a trial waits, the table,
/// the trials that failed. Ends with a line end.
[[nodiscard]] std::string render_progress(const ProgressSnapshot& snapshot,
                                          const ProgressStyle& style);

/// The same in one line without its end, for logs and pipes.
[[nodiscard]] std::string progress_line(const ProgressSnapshot& snapshot);

}  // namespace troupe::tune
