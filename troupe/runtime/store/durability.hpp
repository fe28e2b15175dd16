#pragma once

#include <cstdint>

namespace troupe {

/// What "accepted" promises when it is announced.
enum class Durability : std::uint8_t {
  normal,  ///< survives any crash of the process; durable follows within milliseconds
  strict,  ///< is durable already
};

}  // namespace troupe
