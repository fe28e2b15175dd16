#pragma once

#include <troupe/base/error.hpp>
#include <troupe/runtime/store/secondary_reader.hpp>
#include <troupe/tune/records.hpp>
#include <troupe/tune/result_grid.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace troupe::tune {

namespace detail {

/// Why a trial failed.
Error error_of(const TrialRow& row);

}  // namespace detail

/// The reader of an experiment, opened at the first access: after a `fit()` nobody may ask at all.
class ResultGrid::Data {
public:
  using Counts = std::array<std::size_t, static_cast<std::size_t>(enum_last(TrialState())) + 1>;

  explicit Data(std::filesystem::path experiment_dir) : dir(std::move(experiment_dir)) {}

  const SecondaryReader& reader();
  const std::vector<TrialId>& trials();
  const ExperimentSpec& spec();
  const ExperimentRow& status();
  /// Trials by their states.
  const Counts& counts();
  /// A trial as it stands, also where its row is behind its results.
  Trial trial(TrialRow row);

  const std::filesystem::path dir;

private:
  void open();

  std::mutex mutex_;
  std::unique_ptr<SecondaryReader> reader_;
  std::optional<ExperimentSpec> spec_;
  std::optional<ExperimentRow> status_;
  std::vector<TrialId> trials_;
  std::optional<Counts> counts_;
};

}  // namespace troupe::tune
