#pragma once

#include <troupe/serialization/value.hpp>
#include <troupe/tune/search/space.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/suite.hpp"

/// Real training tasks as tables: every configuration of a grid was trained once, so that a search
/// of real tasks costs nothing. The tables and the programs that made them are in benchmarks/tasks.
namespace troupe::bench {

class TaskTable {
public:
  /// Throws Exception not_found or corrupt naming the file, the line and what was expected.
  explicit TaskTable(const std::filesystem::path& file);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& metric() const { return metric_; }  ///< less is better
  /// Stepped numbers, integers where all values are whole.
  [[nodiscard]] const tune::ParamSpace& space() const { return space_; }
  /// How far a configuration was trained at each value of its curve, ascending: epochs, rounds.
  [[nodiscard]] const std::vector<std::uint64_t>& steps() const { return steps_; }

  /// The metric after each of `steps`. Throws Exception invalid_argument for a configuration that
  /// is not of the space.
  [[nodiscard]] std::vector<double> curve(const Config& config) const;
  /// The last value of the curve.
  [[nodiscard]] double final_value(const Config& config) const;
  /// The least last value of all configurations.
  [[nodiscard]] double optimum() const;
  /// As a function to be minimised: the last value.
  [[nodiscard]] TestFunction function() const;

private:
  struct Parameter {
    std::string name;
    double low = 0;
    double step = 1;
    std::size_t count = 1;
  };

  void read_header(const std::string& line);
  [[nodiscard]] std::size_t row(const Config& config) const;

  std::string name_;
  std::string metric_;
  std::vector<Parameter> parameters_;
  std::vector<std::uint64_t> steps_;
  std::vector<double> values_;  ///< configuration by configuration
  double unit_ = 1;
  tune::ParamSpace space_;
};

/// svm_digits, xgb_credit, fashion_mlp: read when they are first asked for.
[[nodiscard]] const std::vector<TaskTable>& task_tables();
/// Their last values as functions, in the same order.
[[nodiscard]] const std::vector<TestFunction>& task_functions();
/// Throws Exception not_found that lists the names.
[[nodiscard]] const TaskTable& task_table(std::string_view name);

}  // namespace troupe::bench
