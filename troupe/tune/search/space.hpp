#pragma once

#include <troupe/tune/search/domain.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The search space: which hyperparameters there are and what values they may take.
namespace troupe::tune {

class SpaceEntry;

/// A parameter exists only where another one has one of these values.
struct Condition {
  std::string parent;  ///< path from the outermost space
  List values;

  friend bool operator==(const Condition&, const Condition&) = default;
};

/// A relation between parameters that every configuration must satisfy. It holds where one of them
/// does not exist. Real numbers that differ by no more than rounding are equal: 0.1 + 0.2 <= 0.3.
/// Made by the functions below.
struct Constraint {
  enum class Kind : std::uint8_t {
    less,             ///< first < second
    less_equal,       ///< first <= second
    different,        ///< no two are equal
    sum_at_most,      ///< sum <= bound
    product_at_most,  ///< product <= bound
    multiple_of,      ///< the first is a whole multiple of the second, both whole numbers
  };

  Kind kind = Kind::less;
  std::vector<std::string> paths{};
  double bound = 0;

  /// "a < b", "a + b <= 1".
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

Constraint less(std::string first, std::string second);
Constraint less_equal(std::string first, std::string second);
Constraint different(std::vector<std::string> paths);
Constraint sum_at_most(std::vector<std::string> paths, double bound);
Constraint product_at_most(std::vector<std::string> paths, double bound);
Constraint multiple_of(std::string first, std::string second);

/// Names with constants, domains or nested spaces, sorted by name.
///
///     ParamSpace space{{"lr", tune::loguniform(1e-4, 1e-1)},
///                      {"layers", tune::grid_search({1, 2, 3})},
///                      {"act", tune::choice({"relu", "tanh"})},
///                      {"data", {{"batch", tune::randint(16, 129)}, {"path", "/data"}}}};
///
/// The configuration of a trial has the same shape, with a value in place of each domain. Paths
/// such as "data/batch" name nested entries.
///
/// Parameters may depend on others, and combinations can be ruled out:
///
///     ParamSpace space{{"booster", tune::choice({"tree", "linear"})},
///                      {"depth", tune::when("booster", {"tree"}, tune::randint(1, 13))},
///                      {"min", tune::uniform(0, 1)}, {"max", tune::uniform(0, 1)}};
///     space.require(tune::less("min", "max"));
///     space.forbid({{"booster", "tree"}, {"depth", 12}});
///
/// A parameter whose condition does not hold is not in the configuration.
class ParamSpace {
public:
  using Entry = std::pair<std::string, SpaceEntry>;

  /// A leaf: a constant or a domain, with its path.
  struct Leaf {
    std::string path;
    const SpaceEntry* entry;
    std::vector<Condition> conditions{};  ///< all must hold, those of spaces around it included
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

  /// Every configuration must satisfy this. Only of the outermost space.
  ParamSpace& require(Constraint constraint);
  /// No configuration has all of these values (paths and values). Only of the outermost space.
  ParamSpace& forbid(Map combination);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<Constraint>& constraints() const { return constraints_; }
  [[nodiscard]] const std::vector<Map>& forbidden() const { return forbidden_; }
  /// Is anything ruled out?
  [[nodiscard]] bool constrained() const { return !constraints_.empty() || !forbidden_.empty(); }
  /// Does `config` satisfy the constraints, and is it no forbidden combination? What breaks a rule
  /// is named; nothing: none is broken.
  [[nodiscard]] std::optional<std::string> broken_rule(const Config& config) const;
  [[nodiscard]] bool allows(const Config& config) const { return !broken_rule(config); }
  /// The same space without those rules that `config`, which may lack parameters, breaks.
  [[nodiscard]] ParamSpace without_rules_broken_by(const Config& config) const;
  [[nodiscard]] bool empty() const;

  /// All leaves, sorted by path (name by name). The pointers are valid until the space changes.
  [[nodiscard]] std::vector<Leaf> leaves() const;

  /// The entry at a path, or null pointer.
  [[nodiscard]] const SpaceEntry* find(std::string_view path) const;

  /// Ok, or invalid_argument: what is wrong, at which path, and how to put it right. A rule that
  /// nothing can keep is wrong as far as the ranges of its parameters show that; what only several
  /// rules together exclude is an error of the first suggestion.
  [[nodiscard]] Status check() const;

  /// As data, and back. A stored space reads back equal.
  [[nodiscard]] Value to_value() const;
  static Result<ParamSpace> from_value(const Value& value);

  friend bool operator==(const ParamSpace& a, const ParamSpace& b);

private:
  std::vector<Entry> entries_;
  std::vector<Constraint> constraints_;
  std::vector<Map> forbidden_;
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

  /// When it exists; empty: always.
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  /// Is it in some configurations and not in others, for reasons of its own?
  [[nodiscard]] bool optional() const { return optional_; }
  /// See `maybe`.
  void make_optional() { optional_ = true; }
  /// Adds a condition.
  void exists_when(Condition condition) { conditions_.push_back(std::move(condition)); }

  /// `Domain::adopt`, or the constant alone.
  [[nodiscard]] Result<Value> adopt(const Value& given) const;

  [[nodiscard]] const Value* constant() const { return std::get_if<Value>(&content_); }
  [[nodiscard]] const Domain* domain() const { return std::get_if<Domain>(&content_); }
  [[nodiscard]] const ParamSpace* space() const { return std::get_if<ParamSpace>(&content_); }

  friend bool operator==(const SpaceEntry&, const SpaceEntry&) = default;

private:
  std::variant<Value, Domain, ParamSpace> content_;
  std::vector<Condition> conditions_;
  bool optional_ = false;
};

/// A domain that results may lack, for reasons that the space does not know. What is suggested
/// always has it. For spaces that are found out while they are searched: see `Study`.
inline SpaceEntry maybe(Domain domain) {
  SpaceEntry entry(std::move(domain));
  entry.make_optional();
  return entry;
}

/// An entry that exists only where the parameter `parent` (a path from the outermost space) has one
/// of `values`: a domain, a constant, or a whole space.
inline SpaceEntry when(std::string parent, List values, SpaceEntry entry) {
  entry.exists_when({std::move(parent), std::move(values)});
  return entry;
}

}  // namespace troupe::tune
