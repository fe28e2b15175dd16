#include <troupe/serialization/json.hpp>
#include <troupe/tune/detail/naming.hpp>

#include <cstdio>
#include <utility>

namespace troupe::tune::detail {
namespace {

constexpr std::size_t max_dir_bytes = 130;

std::string file_name(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.' || c == '=' || c == ',';
    safe += fine ? c : '_';
  }
  return safe;
}

std::string short_text(const Value& value) {
  if (value.is_double()) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value.as_double());
    return text;
  }
  if (value.is_string())
    return value.as_string();
  return to_json(value);
}

}  // namespace

std::string trial_name(std::string_view trainable, TrialId id) {
  std::string number = to_string(id);
  if (number.size() < 5)
    number.insert(0, 5 - number.size(), '0');
  return file_name(trainable) + '_' + number;
}

std::string trial_tag(const std::vector<std::string>& paths, const Config& config) {
  std::string tag;
  for (const std::string& path : paths) {
    const Value* value = config.find(path);
    if (value == nullptr)
      continue;
    if (!tag.empty())
      tag += ',';
    tag += file_name(path.substr(path.rfind('/') + 1)) + '=';
    std::string text = short_text(*value);
    for (char& c : text)
      if (c == ',' || c == '=')
        c = '_';
    tag += file_name(text);
    if (tag.size() > max_dir_bytes)
      break;
  }
  return tag;
}

std::string trial_dir(std::string_view name, std::string_view tag) {
  std::string dir(name);
  if (!tag.empty())
    dir.append("_").append(tag);
  return dir.substr(0, max_dir_bytes);
}

CreateTrial create_trial(const LoopSetting& setting, TrialId id, Config config, Value note) {
  CreateTrial create;
  create.trial = id;
  create.name = trial_name(setting.spec.trainable, id);
  create.dir = trial_dir(create.name, trial_tag(setting.tag_paths, config));
  create.config = std::move(config);
  create.note = std::move(note);
  return create;
}

}  // namespace troupe::tune::detail
