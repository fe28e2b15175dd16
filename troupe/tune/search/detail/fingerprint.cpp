#include <troupe/tune/search/detail/design.hpp>

#include <bit>
#include <string_view>

namespace troupe::tune::detail {
namespace {

/// The finaliser of splitmix64: every bit of the input changes half of the output.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

std::uint64_t add(std::uint64_t hash, std::uint64_t word) {
  return mix(hash ^ word) + 0x9E3779B97F4A7C15U;
}

std::uint64_t add(std::uint64_t hash, std::string_view text) {
  for (const char c : text)
    hash = add(hash, static_cast<unsigned char>(c));
  return add(hash, text.size());
}

std::uint64_t add(std::uint64_t hash, const Value& value);

std::uint64_t add(std::uint64_t hash, const Map& map) {
  for (const auto& [name, value] : map)
    hash = add(add(hash, std::string_view(name)), value);
  return add(hash, map.size());
}

std::uint64_t add(std::uint64_t hash, const Value& value) {
  hash = add(hash, static_cast<std::uint64_t>(value.type()));
  switch (value.type()) {
    case ValueType::null:
      return hash;
    case ValueType::boolean:
      return add(hash, std::uint64_t{value.as_bool()});
    case ValueType::integer:
      return add(hash, static_cast<std::uint64_t>(value.as_int()));
    case ValueType::real:
      // Equal values have equal bits, apart from NaN, which is equal to itself whatever its bits.
      return add(hash, value.as_double() == value.as_double()
                           ? std::bit_cast<std::uint64_t>(value.as_double())
                           : ~std::uint64_t{0});
    case ValueType::string:
      return add(hash, std::string_view(value.as_string()));
    case ValueType::list:
      for (const Value& element : value.as_list())
        hash = add(hash, element);
      return add(hash, value.as_list().size());
    case ValueType::map:
      return add(hash, value.as_map());
  }
  return hash;
}

}  // namespace

std::uint64_t fingerprint(const Config& config) {
  return add(0, config);
}

}  // namespace troupe::tune::detail
