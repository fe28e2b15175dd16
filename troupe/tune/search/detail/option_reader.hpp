#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe::tune::detail {

/// Reads the options of a searcher out of data: what `Searcher::options` gave, or what a person
/// typed. Options that are not there keep their default. The first thing that is wrong is kept and
/// returned by `finish`: a wrong type, a value out of range, an option that nobody read.
///
///     OptionReader reader("tpe", options);
///     reader.read("startup_trials", tpe.startup_trials, 1, 1'000'000);
///     TROUPE_RETURN_IF_ERROR(reader.finish());
class OptionReader {
public:
  /// `options` is a map, or null for none; it must outlive the reader.
  OptionReader(std::string searcher, const Value& options);

  void read(std::string_view name, bool& option);
  /// A whole number in [low, high].
  void read(std::string_view name, std::uint32_t& option, std::uint32_t low, std::uint32_t high);
  void read(std::string_view name, std::uint64_t& option, std::uint64_t low, std::uint64_t high);
  /// A finite number in [low, high]; whole numbers are taken too.
  void read(std::string_view name, double& option, double low, double high);
  void read(std::string_view name, std::string& option);
  /// One of `names`, which are those of the values of an enumeration.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(std::string_view name, Enum& option, const std::vector<std::string_view>& names) {
    if (const auto number = number_of(name, names))
      option = static_cast<Enum>(*number);
  }
  /// One that the caller looks at; null pointer: it is not there.
  [[nodiscard]] const Value* take(std::string_view name) { return find(name); }

  /// invalid_argument naming searcher, option, value and what is right.
  [[nodiscard]] Status finish();

private:
  const Value* find(std::string_view name);
  std::optional<std::size_t> number_of(std::string_view name,
                                       const std::vector<std::string_view>& names);
  void refuse(std::string_view name, const Value& value, const std::string& expected);

  std::string searcher_;
  const Map* map_ = nullptr;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

/// A value of an enumeration as data: its name, or else the number, which reading refuses.
[[nodiscard]] Value option_name(std::size_t number, const std::vector<std::string_view>& names);

template <class Enum>
requires std::is_enum_v<Enum>
[[nodiscard]] Value option_name(Enum value, const std::vector<std::string_view>& names) {
  return option_name(static_cast<std::size_t>(value), names);
}

/// A count as data; in place of those beyond 2^63 - 1 that number, which no option may have.
[[nodiscard]] Value option_count(std::uint64_t count);

}  // namespace troupe::tune::detail
