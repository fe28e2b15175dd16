#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/search/detail/option_reader.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace troupe::tune::detail {

OptionReader::OptionReader(std::string searcher, const Value& options)
    : searcher_(std::move(searcher)), map_(options.get_if<Map>()) {
  if (map_ == nullptr && !options.is_null())
    error_ = Error(ErrorCode::invalid_argument, "the options of the searcher " + searcher_ +
                                                    " must be a map, not " +
                                                    to_json(options).substr(0, 100));
}

const Value* OptionReader::find(std::string_view name) {
  known_.emplace_back(name);
  return map_ != nullptr ? map_->find_key(name) : nullptr;
}

void OptionReader::refuse(std::string_view name, const Value& value, const std::string& expected) {
  if (!error_)
    error_ = Error(ErrorCode::invalid_argument,
                   "the searcher " + searcher_ + ", option " + std::string(name) + " = " +
                       to_json(value).substr(0, 100) + ": it must be " + expected);
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

void OptionReader::read(std::string_view name, std::size_t& option,
                        const std::vector<std::string_view>& names) {
  const Value* value = find(name);
  if (value == nullptr)
    return;
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (value->is_string() && value->as_string() == names[i]) {
      option = i;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(names[i]);
  }
  refuse(name, *value, "one of " + known);
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

}  // namespace troupe::tune::detail
