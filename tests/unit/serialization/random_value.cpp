#include "random_value.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace troupe::test {
namespace {

std::string random_text(Random& random) {
  constexpr std::array<std::string_view, 14> pieces{
      "a",  "/",  "$",  "$$",   "loss", "\xc3\xa9", "\xf0\x9f\x98\x80",
      "\"", "\\", "\n", "\xff", "\xc3", "$double",  "0"};
  std::string text;
  const std::int64_t count = random.uniform_int(0, 6);
  for (std::int64_t i = 0; i < count; ++i)
    text += random.pick(pieces);
  if (random.chance(0.1))
    text += '\0';
  return text;
}

std::int64_t random_int(Random& random) {
  constexpr std::array<std::int64_t, 5> corners{0, -1, 1, std::numeric_limits<std::int64_t>::min(),
                                                std::numeric_limits<std::int64_t>::max()};
  if (random.chance(0.3))
    return random.pick(corners);
  return static_cast<std::int64_t>(random.next_u64()) >> random.below(64);
}

double random_double(Random& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::array<double, 8> corners{
      0.0, -0.0, inf, -inf, std::nan(""), 5e-324, std::numeric_limits<double>::max(), 1.0};
  if (random.chance(0.3))
    return random.pick(corners);
  return std::bit_cast<double>(random.next_u64());  // any bits, also odd NaNs
}

}  // namespace

Map random_map(Random& random, std::size_t depth) {
  Map map;
  const std::int64_t count = random.uniform_int(0, 5);
  for (std::int64_t i = 0; i < count; ++i)
    map[random_text(random)] = random_value(random, depth - 1);
  return map;
}

Value random_value(Random& random, std::size_t depth) {
  switch (random.below(depth == 0 ? 5 : 8)) {
    case 0:
      return nullptr;
    case 1:
      return random.chance(0.5);
    case 2:
      return random_int(random);
    case 3:
      return random_double(random);
    case 4:
      return random_text(random);
    case 5: {
      List list(static_cast<std::size_t>(random.below(5)));
      for (Value& element : list)
        element = random_value(random, depth - 1);
      return list;
    }
    default:
      return random_map(random, depth);
  }
}

std::string damage(Random& random, std::string bytes) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size() + 1)); };
  switch (random.below(8)) {
    case 0:
      bytes.resize(place());
      break;
    case 1:
      bytes.insert(place(), 1, static_cast<char>(random.next_u64()));
      break;
    case 2: {
      const std::size_t from = place();
      bytes.insert(place(), bytes.substr(from, 8));
      break;
    }
    default:
      for (std::uint64_t i = 0, n = 1 + random.below(4); i < n && !bytes.empty(); ++i)
        bytes[static_cast<std::size_t>(random.below(bytes.size()))] =
            static_cast<char>(random.chance(0.3) ? 0xff : random.next_u64());
  }
  return bytes;
}

}  // namespace troupe::test
