#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  /// One of `names`; `option` becomes its number. For enumerations.
  void read(std::string_view name, std::size_t& option, const std::vector<std::string_view>& names);

  /// invalid_argument naming searcher, option, value and what is right.
  [[nodiscard]] Status finish();

private:
  const Value* find(std::string_view name);
  void refuse(std::string_view name, const Value& value, const std::string& expected);

  std::string searcher_;
  const Map* map_ = nullptr;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace troupe::tune::detail
