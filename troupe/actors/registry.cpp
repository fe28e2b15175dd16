#include <troupe/actors/registry.hpp>
#include <troupe/base/detail/edit_distance.hpp>
#include <troupe/base/limits.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace troupe {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, TrainableEntry, std::less<>> entries;
};

// Never destroyed: user threads may still look names up while the process ends.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

void add(TrainableEntry entry) {
  if (entry.name.empty() || entry.name.size() > limits::max_name_bytes) {
    throw Exception(ErrorCode::invalid_argument,
                    "the name of a trainable has 1 to " + std::to_string(limits::max_name_bytes) +
                        " bytes; got " + std::to_string(entry.name.size()));
  }
  if (!entry.create && !entry.function) {
    throw Exception(ErrorCode::invalid_argument,
                    "trainable '" + entry.name + "' has nothing to run: the function is empty");
  }
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::string name = entry.name;
  if (!all.entries.emplace(std::move(name), std::move(entry)).second) {
    throw Exception(ErrorCode::already_exists,
                    "a trainable '" + entry.name +
                        "' is registered already: give one of the two another name "
                        "(TROUPE_TRAINABLE_AS)");
  }
}

}  // namespace

void register_trainable(std::string name, std::function<std::unique_ptr<Trainable>()> create,
                        bool saves_checkpoints) {
  add({std::move(name), std::move(create), nullptr, saves_checkpoints});
}

void register_trainable(std::string name, TrainableFunction function) {
  add({std::move(name), nullptr, std::move(function)});
}

Result<TrainableEntry> find_trainable(std::string_view name) {
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.entries.find(name); found != all.entries.end())
      return found->second;
  }
  const std::vector<std::string> names = trainable_names();
  std::string known;
  for (const std::string& each : names)
    known += (known.empty() ? "" : ", ") + each;
  return Error(
      ErrorCode::not_found,
      "no trainable '" + std::string(name.substr(0, limits::max_name_bytes)) +
          "' is registered in this program" + detail::did_you_mean(name, names) +
          "; registered: " + (known.empty() ? "none" : known) +
          ". Register it with TROUPE_TRAINABLE(Type) or TROUPE_TRAINABLE_FUNCTION(function) "
          "at namespace scope");
}

std::vector<std::string> trainable_names() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  names.reserve(all.entries.size());
  for (const auto& [name, entry] : all.entries)
    names.push_back(name);
  return names;
}

}  // namespace troupe
