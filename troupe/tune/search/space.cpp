#include <troupe/base/limits.hpp>
#include <troupe/tune/search/detail/space_relations.hpp>
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
             const std::vector<Condition>& outer, std::vector<ParamSpace::Leaf>& leaves) {
  for (const auto& [name, entry] : space.entries()) {
    const std::string path = join(prefix, name);
    std::vector<Condition> conditions = outer;
    conditions.insert(conditions.end(), entry.conditions().begin(), entry.conditions().end());
    if (const ParamSpace* inner = entry.space())
      collect(*inner, path, conditions, leaves);
    else
      leaves.push_back({path, &entry, std::move(conditions)});
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
  if (depth > 0 && space.constrained())
    return Error(ErrorCode::invalid_argument,
                 "param_space, key '" + prefix +
                     "': constraints and forbidden combinations belong to the outermost space; "
                     "name the parameters there by their paths");
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
  collect(*this, {}, {}, leaves);
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

ParamSpace& ParamSpace::require(Constraint constraint) {
  constraints_.push_back(std::move(constraint));
  return *this;
}

ParamSpace& ParamSpace::forbid(Map combination) {
  forbidden_.push_back(std::move(combination));
  return *this;
}

Status ParamSpace::check() const {
  TROUPE_RETURN_IF_ERROR(check_space(*this, {}, 0));
  return detail::check_relations(*this);
}

bool operator==(const ParamSpace& a, const ParamSpace& b) {
  return a.entries_ == b.entries_ && a.constraints_ == b.constraints_ &&
         a.forbidden_ == b.forbidden_;
}

}  // namespace troupe::tune
