#include "benchmarks/task_table.hpp"

#include <troupe/base/error.hpp>
#include <troupe/serialization/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace troupe::bench {
namespace {

[[noreturn]] void damaged(const std::filesystem::path& file, std::size_t line,
                          const std::string& what) {
  throw Exception(ErrorCode::corrupt,
                  file.string() + ", line " + std::to_string(line) + ": " + what);
}

bool whole(double number) {
  return number == std::floor(number);
}

}  // namespace

void TaskTable::read_header(const std::string& line) {
  const Value header = parse_json(line).value_or_throw();
  const Map& fields = header.as_map();
  name_ = fields.at("name").as_string();
  metric_ = fields.at("metric").as_string();
  unit_ = fields.at("unit").as_double();
  for (const Value& step : fields.at("steps").as_list())
    steps_.push_back(static_cast<std::uint64_t>(step.as_int()));
  for (const Value& value : fields.at("parameters").as_list()) {
    const Map& parameter = value.as_map();
    parameters_.push_back({parameter.at("name").as_string(), parameter.at("low").as_double(),
                           parameter.at("step").as_double(),
                           static_cast<std::size_t>(parameter.at("count").as_int())});
    const Parameter& added = parameters_.back();
    const double high = added.low + added.step * static_cast<double>(added.count - 1);
    if (whole(added.low) && whole(added.step))
      space_.add(added.name, tune::qrandint(static_cast<std::int64_t>(added.low),
                                            static_cast<std::int64_t>(high),
                                            static_cast<std::int64_t>(added.step)));
    else
      space_.add(added.name, tune::quniform(added.low, high, added.step));
  }
}

TaskTable::TaskTable(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream)
    throw Exception(ErrorCode::not_found, "cannot open the table " + file.string());
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with('#'))
      continue;
    if (name_.empty()) {
      try {
        read_header(line);
      } catch (const Exception& error) {
        damaged(file, number, std::string("no header of a table: ") + error.what());
      }
      continue;
    }
    std::istringstream words(line);
    std::size_t count = 0;
    for (std::int64_t value = 0; words >> value; ++count)
      values_.push_back(static_cast<double>(value) * unit_);
    if (count != steps_.size() || !words.eof())
      damaged(file, number, "expected " + std::to_string(steps_.size()) + " whole numbers");
  }
  std::size_t rows = 1;
  for (const Parameter& parameter : parameters_)
    rows *= parameter.count;
  if (name_.empty() || values_.size() != rows * steps_.size())
    damaged(file, number, "expected " + std::to_string(rows) + " configurations");
}

std::size_t TaskTable::row(const Config& config) const {
  std::size_t result = 0;
  for (const Parameter& parameter : parameters_) {
    const double value = config.at(parameter.name).as_double();
    const double index = std::round((value - parameter.low) / parameter.step);
    const bool there = index >= 0 && index < static_cast<double>(parameter.count) &&
                       std::abs(parameter.low + index * parameter.step - value) < 1e-9;
    if (!there)
      throw Exception(ErrorCode::invalid_argument, name_ + " was not trained with " +
                                                       parameter.name + " = " +
                                                       to_json(config.at(parameter.name)));
    result = result * parameter.count + static_cast<std::size_t>(index);
  }
  return result;
}

std::vector<double> TaskTable::curve(const Config& config) const {
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(row(config) * steps_.size());
  return {begin, begin + static_cast<std::ptrdiff_t>(steps_.size())};
}

double TaskTable::final_value(const Config& config) const {
  return values_[(row(config) + 1) * steps_.size() - 1];
}

double TaskTable::optimum() const {
  double best = values_[steps_.size() - 1];
  for (std::size_t i = steps_.size() - 1; i < values_.size(); i += steps_.size())
    best = std::min(best, values_[i]);
  return best;
}

TestFunction TaskTable::function() const {
  std::vector<double> finals;
  for (std::size_t i = steps_.size() - 1; i < values_.size(); i += steps_.size())
    finals.push_back(values_[i]);
  const auto middle = finals.begin() + static_cast<std::ptrdiff_t>(finals.size() / 2);
  std::nth_element(finals.begin(), middle, finals.end());
  const auto table = std::make_shared<TaskTable>(*this);
  return {.name = name_,
          .space = space_,
          .value = [table](const Config& config) { return table->final_value(config); },
          .optimum = optimum(),
          .scale = *middle - optimum(),
          .resolution = 3e-2};
}

const std::vector<TaskTable>& task_tables() {
  static const std::vector<TaskTable> all = [] {
    std::vector<TaskTable> tables;
    for (const char* name : {"svm_digits", "xgb_credit", "fashion_mlp"})
      tables.emplace_back(std::filesystem::path(TROUPE_TASK_TABLES) /
                          (std::string(name) + ".table"));
    return tables;
  }();
  return all;
}

const std::vector<TestFunction>& task_functions() {
  static const std::vector<TestFunction> all = [] {
    std::vector<TestFunction> functions;
    for (const TaskTable& table : task_tables())
      functions.push_back(table.function());
    return functions;
  }();
  return all;
}

const TaskTable& task_table(std::string_view name) {
  std::string names;
  for (const TaskTable& table : task_tables()) {
    if (table.name() == name)
      return table;
    names += (names.empty() ? "" : ", ") + table.name();
  }
  throw Exception(ErrorCode::not_found, "no table '" + std::string(name) + "'; there are " + names);
}

}  // namespace troupe::bench
