#include <troupe/runtime/store/keys.hpp>
#include <troupe/tune/detail/result_grid_data.hpp>
#include <troupe/tune/experiment_reader.hpp>

#include <string_view>
#include <utility>

namespace troupe::tune {

Error detail::error_of(const TrialRow& row) {
  const bool user = row.error_kind == FailureKind::user;
  return Error(user ? ErrorCode::user_code : ErrorCode::unavailable, row.name + ": " + row.error);
}

void ResultGrid::Data::open() {
  const std::lock_guard lock(mutex_);
  if (reader_)
    return;
  std::unique_ptr<SecondaryReader> reader = open_secondary(dir).value_or_throw();
  spec_ = read_spec(*reader).value_or_throw();
  status_ = read_status(*reader).value_or_throw();
  trials_.clear();
  reader
      ->scan(Table::trials, {},
             [this](std::string_view key, std::string_view) {
               if (const auto id = keys::parse_trial_key(key))
                 trials_.push_back(*id);
               return true;
             })
      .value_or_throw();
  reader_ = std::move(reader);
}

const SecondaryReader& ResultGrid::Data::reader() {
  open();
  return *reader_;
}

const std::vector<TrialId>& ResultGrid::Data::trials() {
  open();
  return trials_;
}

const ExperimentSpec& ResultGrid::Data::spec() {
  open();
  return *spec_;
}

const ExperimentRow& ResultGrid::Data::status() {
  open();
  return *status_;
}

const ResultGrid::Data::Counts& ResultGrid::Data::counts() {
  open();
  const std::lock_guard lock(mutex_);
  if (!counts_) {
    Counts counts{};
    for_each_trial(*reader_, [&](const TrialRow& row) {
      ++counts.at(static_cast<std::size_t>(row.state));
      return true;
    }).value_or_throw();
    counts_ = counts;
  }
  return *counts_;
}

ResultGrid::Trial ResultGrid::Data::trial(TrialRow row) {
  Trial trial;
  trial.id = row.id;
  trial.name = row.name;
  trial.path = dir / row.dir;
  trial.config = std::move(row.config);
  trial.metrics = std::move(row.metrics);
  trial.iteration = row.iteration;
  trial.time_total_s = row.time_total_s;
  trial.state = row.state;
  trial.ending = row.ending;
  trial.stop_reason = row.stop_reason;
  if (row.state == TrialState::error)
    trial.error = detail::error_of(row);
  if (row.checkpoint)
    trial.checkpoint = Checkpoint::from_directory(trial.path / row.checkpoint->directory);
  if (row.is_over())
    return trial;
  // The row of a trial that is not over may be behind its results.
  if (auto last = read_last_result(reader(), row).value_or_throw()) {
    trial.iteration = last->iteration;
    trial.metrics = std::move(last->metrics);
    if (const Value* time = trial.metrics.find_key("time_total_s"); time && time->is_number())
      trial.time_total_s = time->as_double();
  }
  return trial;
}

}  // namespace troupe::tune
