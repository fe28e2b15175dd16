#pragma once

#include <troupe/tune/search/domain.hpp>

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The search space: which hyperparameters there are and what values they may take.
namespace troupe::tune {

class SpaceEntry;

/// Names with constants, domains or nested spaces, sorted by name.
///
///     ParamSpace space{{"lr", tune::loguniform(1e-4, 1e-1)},
///                      {"layers", tune::grid_search({1, 2, 3})},
///                      {"act", tune::choice({"relu", "tanh"})},
///                      {"data", {{"batch", tune::randint(16, 129)}, {"path", "/data"}}}};
///
/// The configuration of a trial has the same shape, with a value in place of each domain. Paths
/// such as "data/batch" name nested entries.
class ParamSpace {
public:
  using Entry = std::pair<std::string, SpaceEntry>;

  /// A leaf: a constant or a domain, with its path.
  struct Leaf {
    std::string path;
    const SpaceEntry* entry;
  };

  ParamSpace();
  ParamSpace(std::initializer_list<Entry> entries);
  ParamSpace(const ParamSpace&);
  ParamSpace(ParamSpace&&) noexcept;
  ParamSpace& operator=(const ParamSpace&);
  ParamSpace& operator=(ParamSpace&&) noexcept;
  ~ParamSpace();

  /// Adds an entry. A name that is there already is kept twice and refused by `check`.
  void add(std::string name, SpaceEntry entry);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const;

  /// All leaves, sorted by path (name by name). The pointers are valid until the space changes.
  [[nodiscard]] std::vector<Leaf> leaves() const;

  /// The entry at a path, or null pointer.
  [[nodiscard]] const SpaceEntry* find(std::string_view path) const;

  /// Ok, or invalid_argument: what is wrong, at which path, and how to put it right.
  [[nodiscard]] Status check() const;

  /// As data, and back. A stored space reads back equal.
  [[nodiscard]] Value to_value() const;
  static Result<ParamSpace> from_value(const Value& value);

  friend bool operator==(const ParamSpace& a, const ParamSpace& b);

private:
  std::vector<Entry> entries_;
};

/// A constant, a domain, or a space inside a space.
class SpaceEntry {
public:
  SpaceEntry(Domain domain) : content_(std::move(domain)) {}
  SpaceEntry(ParamSpace space) : content_(std::move(space)) {}
  /// A space in braces: `{"data", {{"batch", tune::randint(16, 129)}}}`.
  SpaceEntry(std::initializer_list<ParamSpace::Entry> entries) : content_(ParamSpace(entries)) {}
  /// A constant: whatever a `Value` can be made of.
  template <class T>
  requires(std::convertible_to<T, Value> && !std::same_as<std::remove_cvref_t<T>, SpaceEntry> &&
           !std::same_as<std::remove_cvref_t<T>, Domain> &&
           !std::same_as<std::remove_cvref_t<T>, ParamSpace>) SpaceEntry(T&& constant)
      : content_(std::in_place_type<Value>, std::forward<T>(constant)) {}

  [[nodiscard]] const Value* constant() const { return std::get_if<Value>(&content_); }
  [[nodiscard]] const Domain* domain() const { return std::get_if<Domain>(&content_); }
  [[nodiscard]] const ParamSpace* space() const { return std::get_if<ParamSpace>(&content_); }

  friend bool operator==(const SpaceEntry&, const SpaceEntry&) = default;

private:
  std::variant<Value, Domain, ParamSpace> content_;
};

}  // namespace troupe::tune
