#include <troupe/base/detail/json_text.hpp>
#include <troupe/serialization/json.hpp>
#include <troupe/tune/report/result_lines.hpp>
#include <troupe/tune/report/text.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace troupe::tune {

namespace {

constexpr std::string_view error_mark = "Failure # ";

bool all_finite(const Map& map);

bool all_finite(const Value& value) {
  if (const double* number = value.get_if<double>())
    return std::isfinite(*number);
  if (const List* list = value.get_if<List>()) {
    for (const Value& element : *list)
      if (!all_finite(element))
        return false;
  }
  const Map* map = value.get_if<Map>();
  return map == nullptr || all_finite(*map);
}

bool all_finite(const Map& map) {
  for (const auto& entry : map)
    if (!all_finite(entry.second))
      return false;
  return true;
}

void replace_non_finite(Value& value) {
  if (const double* number = value.get_if<double>()) {
    if (!std::isfinite(*number))
      value = nullptr;
  } else if (List* list = value.get_if<List>()) {
    for (Value& element : *list)
      replace_non_finite(element);
  } else if (Map* map = value.get_if<Map>()) {
    for (const std::string& key : map->keys())
      replace_non_finite(*map->find_key(key));
  }
}

void set_default(Metrics& fields, std::string_view key, Value value) {
  if (fields.find_key(key) == nullptr)
    fields[key] = std::move(value);
}

/// Ray's form of a date, without blanks and colons.
std::string date_text(int64_t wall_ms) {
  std::string text = local_time_text(wall_ms);
  for (char& c : text) {
    if (c == ' ')
      c = '_';
    if (c == ':')
      c = '-';
  }
  return text;
}

/// "3_x=1.5": the folder's name without that of the trainable.
std::string experiment_tag(const TrialFileInfo& trial) {
  const std::string folder = trial.dir.filename().string();
  std::string tag = std::to_string(trial.id.value);
  if (folder.size() > trial.name.size() && folder.starts_with(trial.name))
    tag += folder.substr(trial.name.size());
  return tag;
}

}  // namespace

std::string trial_id_text(TrialId id) {
  std::array<char, 16> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%05u", id.value);
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

std::string params_json(const Config& config) {
  return finite_json(config, JsonStyle::pretty) + '\n';
}

std::string finite_json(const Map& map, JsonStyle style) {
  if (all_finite(map))
    return to_json(map, style);
  return to_json(without_non_finite(map), style);
}

Value without_non_finite(const Value& value) {
  Value copy = value;
  if (!all_finite(copy))
    replace_non_finite(copy);
  return copy;
}

Metrics result_fields(const TrialFileInfo& trial, const ResultLine& line) {
  Metrics fields = line.metrics;
  fields.reserve(fields.size() + 8);
  // Ours: they say which result this is.
  fields["trial_id"] = trial_id_text(trial.id);
  fields["trial_name"] = trial.name;
  fields["training_iteration"] = line.iteration;
  fields["done"] = line.done;
  fields["experiment_tag"] = experiment_tag(trial);
  set_default(fields, "date", date_text(line.wall_ms));
  set_default(fields, "timestamp", line.wall_ms / 1000);
  return fields;
}

std::string result_json_line(const Metrics& fields, std::string_view config_json) {
  const std::string rest = finite_json(fields);
  std::string line = "{\"config\":";
  line += config_json;
  if (rest.size() > 2)
    line += ',';
  line.append(rest, 1);
  line += '\n';
  return line;
}

std::string csv_cell(const Value& value) {
  switch (value.type()) {
    case ValueType::null:
      return {};
    case ValueType::boolean:
      return value.as_bool() ? "true" : "false";
    case ValueType::integer:
      return std::to_string(value.as_int());
    case ValueType::real: {
      const double number = value.as_double();
      if (!std::isfinite(number))
        return short_number(number);
      std::string text;
      detail::append_json_double(text, number);
      return text;
    }
    case ValueType::string:
      return value.as_string();
    case ValueType::list:
    case ValueType::map:
      return to_json(without_non_finite(value));
  }
  return {};
}

std::string error_entry(const ErrorMark& mark, int64_t wall_ms, std::string_view message) {
  std::string text(error_mark);
  text += std::to_string(mark.number) + " (occurred at " + date_text(wall_ms) + ", event " +
          std::to_string(mark.event) + ")\n";
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    const std::string_view line = message.substr(0, end);
    if (line.starts_with(error_mark))
      text += ' ';
    text += line;
    text += '\n';
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  text += '\n';
  return text;
}

ErrorMark last_error(std::string_view text) {
  for (std::size_t at = text.rfind(error_mark); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(error_mark, at - 1)) {
    if (at != 0 && text[at - 1] != '\n')
      continue;
    const std::string_view head = text.substr(at, text.find('\n', at) - at);
    constexpr std::string_view event_mark = ", event ";
    const std::size_t event_at = head.find(event_mark);
    if (event_at == std::string_view::npos)
      continue;
    ErrorMark mark;
    const char* end = head.data() + head.size();
    std::from_chars(head.data() + error_mark.size(), end, mark.number);
    std::from_chars(head.data() + event_at + event_mark.size(), end, mark.event);
    return mark;
  }
  return {};
}

CsvColumns::CsvColumns(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    index_.emplace(names_[i], i);
}

std::vector<std::string> CsvColumns::record(const Metrics& fields) {
  std::vector<std::string> cells(names_.size());
  for (const auto& [name, value] : fields.flatten()) {
    const auto found = index_.find(name);
    if (found != index_.end()) {
      cells[found->second] = csv_cell(value);
    } else if (names_.size() < max_columns) {
      index_.emplace(name, names_.size());
      names_.push_back(name);
      cells.push_back(csv_cell(value));
    }
  }
  return cells;
}

}  // namespace troupe::tune
