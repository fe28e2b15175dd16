#include <troupe/base/limits.hpp>
#include <troupe/tune/search/space.hpp>

#include <algorithm>

namespace troupe::tune {
namespace {

/// Deeper than any sane space; keeps the recursion over stored data bounded.
constexpr std::size_t max_depth = 32;

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + '/' + name;
}

void collect(const ParamSpace& space, const std::string& prefix,
             std::vector<ParamSpace::Leaf>& leaves) {
  for (const auto& [name, entry] : space.entries()) {
    const std::string path = join(prefix, name);
    if (const ParamSpace* inner = entry.space())
      collect(*inner, path, leaves);
    else
      leaves.push_back({path, &entry});
  }
}

Error wrong_name(const std::string& prefix, const std::string& name, const std::string& what) {
  return Error(ErrorCode::invalid_argument,
               "param_space, key '" + join(prefix, name) + "': " + what);
}

Status check_name(const std::string& prefix, const std::string& name) {
  if (name.empty())
    return wrong_name(prefix, name, "a name must not be empty");
  if (name.size() > limits::max_name_bytes)
    return wrong_name(prefix, name.substr(0, 40) + "...",
                      "a name has at most " + std::to_string(limits::max_name_bytes) + " bytes");
  if (name.find('/') != std::string::npos)
    return wrong_name(prefix, name,
                      "a name must not contain '/', which separates the names of a path; "
                      "nest a ParamSpace instead");
  return ok();
}

Status check_space(const ParamSpace& space, const std::string& prefix, std::size_t depth) {
  if (depth > max_depth)
    return Error(ErrorCode::invalid_argument, "param_space, key '" + prefix +
                                                  "': nested more than " +
                                                  std::to_string(max_depth) + " levels deep");
  const std::string* previous = nullptr;
  for (const auto& [name, entry] : space.entries()) {
    TROUPE_RETURN_IF_ERROR(check_name(prefix, name));
    if (previous != nullptr && *previous == name)
      return wrong_name(prefix, name, "the name comes twice; remove one of the entries");
    previous = &name;
    const std::string where = "param_space, key '" + join(prefix, name) + "'";
    if (const Domain* domain = entry.domain())
      TROUPE_RETURN_IF_ERROR(domain->check().with_context(where));
    if (const Value* constant = entry.constant())
      TROUPE_RETURN_IF_ERROR(check_limits(*constant).with_context(where));
    if (const ParamSpace* inner = entry.space())
      TROUPE_RETURN_IF_ERROR(check_space(*inner, join(prefix, name), depth + 1));
  }
  return ok();
}

Result<ParamSpace> read_space(const Value& value, std::size_t depth);

Result<SpaceEntry> read_entry(const Value& value, std::size_t depth) {
  const Map* map = value.get_if<Map>();
  if (map != nullptr && map->size() == 1) {
    const auto& [kind, content] = *map->begin();
    if (kind == "constant")
      return SpaceEntry(content);
    if (kind == "space") {
      TROUPE_TRY(inner, read_space(content, depth + 1));
      return SpaceEntry(std::move(inner));
    }
    auto domain = Domain::from_value(value);
    if (!domain)
      return std::move(domain).error();
    return SpaceEntry(*domain);
  }
  return Error(ErrorCode::corrupt, "not an entry of a search space");
}

Result<ParamSpace> read_space(const Value& value, std::size_t depth) {
  const Map* map = value.get_if<Map>();
  if (map == nullptr || depth > max_depth)
    return Error(ErrorCode::corrupt, "not a search space: a map is expected");
  ParamSpace space;
  for (const auto& [name, content] : *map) {
    auto entry = read_entry(content, depth);
    if (!entry)
      return std::move(entry).error().with_context("param_space, key '" + name + "'");
    space.add(name, entry.take());
  }
  return space;
}

}  // namespace

ParamSpace::ParamSpace() = default;
ParamSpace::ParamSpace(const ParamSpace&) = default;
ParamSpace::ParamSpace(ParamSpace&&) noexcept = default;
ParamSpace& ParamSpace::operator=(const ParamSpace&) = default;
ParamSpace& ParamSpace::operator=(ParamSpace&&) noexcept = default;
ParamSpace::~ParamSpace() = default;

ParamSpace::ParamSpace(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries)
    add(entry.first, entry.second);
}

void ParamSpace::add(std::string name, SpaceEntry entry) {
  const auto place =
      std::upper_bound(entries_.begin(), entries_.end(), name,
                       [](const std::string& a, const Entry& b) { return a < b.first; });
  entries_.insert(place, Entry(std::move(name), std::move(entry)));
}

bool ParamSpace::empty() const {
  return entries_.empty();
}

std::vector<ParamSpace::Leaf> ParamSpace::leaves() const {
  std::vector<Leaf> leaves;
  collect(*this, {}, leaves);
  return leaves;
}

const SpaceEntry* ParamSpace::find(std::string_view path) const {
  const ParamSpace* space = this;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    const auto found = std::find_if(space->entries_.begin(), space->entries_.end(),
                                    [&](const Entry& entry) { return entry.first == name; });
    if (found == space->entries_.end())
      return nullptr;
    if (slash == std::string_view::npos)
      return &found->second;
    space = found->second.space();
    if (space == nullptr)
      return nullptr;
    path.remove_prefix(slash + 1);
  }
}

Status ParamSpace::check() const {
  return check_space(*this, {}, 0);
}

Value ParamSpace::to_value() const {
  Map map;
  for (const auto& [name, entry] : entries_) {
    if (const Domain* domain = entry.domain())
      map[name] = domain->to_value();
    else if (const ParamSpace* inner = entry.space())
      map[name] = Map{{"space", inner->to_value()}};
    else
      map[name] = Map{{"constant", *entry.constant()}};
  }
  return map;
}

Result<ParamSpace> ParamSpace::from_value(const Value& value) {
  return read_space(value, 0);
}

bool operator==(const ParamSpace& a, const ParamSpace& b) {
  return a.entries_ == b.entries_;
}

}  // namespace troupe::tune
