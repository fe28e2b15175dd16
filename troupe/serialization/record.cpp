#include <troupe/serialization/detail/record_registry.hpp>
#include <troupe/serialization/record.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace troupe {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::uint16_t, RecordInfo> types;
};

Registry& registry() {
  static auto* const instance = new Registry;  // used by static objects of any source
  return *instance;
}

[[noreturn]] void clash(const RecordInfo& a, const RecordInfo& b) {
  std::fprintf(stderr,
               "troupe: defect: record types '%.*s' (number %u, version %u) and '%.*s' (number %u, "
               "version %u) clash: numbers and names are used once\n",
               static_cast<int>(a.name.size()), a.name.data(), a.type, a.version,
               static_cast<int>(b.name.size()), b.name.data(), b.type, b.version);
  std::abort();
}

}  // namespace

std::vector<RecordInfo> record_types() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<RecordInfo> types;
  for (const auto& entry : all.types)
    types.push_back(entry.second);
  return types;
}

const RecordInfo* find_record_type(std::uint16_t type) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.types.find(type);
  return found == all.types.end() ? nullptr : &found->second;
}

namespace detail {

bool register_record_type(const RecordInfo& info) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& [type, known] : all.types) {
    // The same type twice is a plugin that has this library inside too.
    const bool same = type == info.type && known.name == info.name && known.version == info.version;
    if (!same && (type == info.type || known.name == info.name))
      clash(known, info);
  }
  all.types.emplace(info.type, info);
  return true;
}

}  // namespace detail
}  // namespace troupe
