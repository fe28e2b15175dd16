#pragma once

#include <troupe/serialization/map.hpp>

#include <vector>

namespace troupe::detail {

/// The entries of a map, for decoders that build one in order. Whoever writes keeps them sorted by
/// key, each key once.
class MapAccess {
public:
  static std::vector<Map::Entry>& entries(Map& map) noexcept { return map.entries_; }
};

}  // namespace troupe::detail
