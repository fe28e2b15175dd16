#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>
#include <troupe/tune/search/detail/state_reading.hpp>

#include <algorithm>
#include <utility>

namespace troupe::tune::detail {

OptionReader::OptionReader(std::string searcher, const Value& options)
    : searcher_(std::move(searcher)), map_(options.get_if<Map>()) {
  if (map_ == nullptr && !options.is_null())
    error_ = Error(ErrorCode::invalid_argument, "the options of the searcher " + searcher_ +
                                                    " must be a map, not " + shown(options));
}

const Value* OptionReader::find(std::string_view name) {
  known_.emplace_back(name);
  return map_ != nullptr ? map_->find_key(name) : nullptr;
}

void OptionReader::refuse(std::string_view name, const Value& value, const std::string& expected) {
  if (!error_)
    error_ = Error(ErrorCode::invalid_argument, "the searcher " + searcher_ + ", option " +
                                                    std::string(name) + " = " + shown(value) +
                                                    ": it must be " + expected);
}

void OptionReader::read(std::string_view name, bool& option) {
  const Value* value = find(name);
  if (value == nullptr)
    return;
  if (value->is_bool())
    option = value->as_bool();
  else
    refuse(name, *value, "true or false");
}

void OptionReader::read(std::string_view name, std::uint32_t& option, std::uint32_t low,
                        std::uint32_t high) {
  std::uint64_t wide = option;
  read(name, wide, low, high);
  option = static_cast<std::uint32_t>(wide);
}

void OptionReader::read(std::string_view name, std::uint64_t& option, std::uint64_t low,
                        std::uint64_t high) {
  const Value* value = find(name);
  if (value == nullptr)
    return;
  if (value->is_int() && value->as_int() >= 0 &&
      std::clamp(static_cast<std::uint64_t>(value->as_int()), low, high) ==
          static_cast<std::uint64_t>(value->as_int()))
    option = static_cast<std::uint64_t>(value->as_int());
  else
    refuse(name, *value,
           "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

void OptionReader::read(std::string_view name, double& option, double low, double high) {
  const Value* value = find(name);
  if (value == nullptr)
    return;
  if (value->is_number() && value->as_double() >= low && value->as_double() <= high)
    option = value->as_double();
  else
    refuse(name, *value, "a number from " + to_json(Value(low)) + " to " + to_json(Value(high)));
}

void OptionReader::read(std::string_view name, std::string& option) {
  const Value* value = find(name);
  if (value == nullptr)
    return;
  if (value->is_string())
    option = value->as_string();
  else
    refuse(name, *value, "a text");
}

std::optional<std::size_t> OptionReader::number_of(std::string_view name,
                                                   const std::vector<std::string_view>& names) {
  const Value* value = find(name);
  if (value == nullptr)
    return std::nullopt;
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (value->is_string() && value->as_string() == names[i])
      return i;
    known += (known.empty() ? "" : ", ") + std::string(names[i]);
  }
  refuse(name, *value, "one of " + known);
  return std::nullopt;
}

Status OptionReader::finish() {
  if (map_ != nullptr && !error_)
    for (const auto& [name, value] : *map_)
      if (std::find(known_.begin(), known_.end(), name) == known_.end() && !error_)
        error_ = Error(ErrorCode::invalid_argument, "the searcher " + searcher_ +
                                                        " has no option '" + name + "'" +
                                                        troupe::detail::did_you_mean(name, known_));
  if (error_)
    return *error_;
  return ok();
}

Value option_name(std::size_t number, const std::vector<std::string_view>& names) {
  return number < names.size() ? Value(names[number]) : Value(number);
}

Value option_count(std::uint64_t count) {
  return std::min<std::uint64_t>(count, INT64_MAX);
}

}  // namespace troupe::tune::detail
