#pragma once

#include <string_view>

/// The version of this source. The build reads it from here.
#define TROUPE_VERSION_MAJOR 0
#define TROUPE_VERSION_MINOR 1
#define TROUPE_VERSION_PATCH 0
#define TROUPE_VERSION "0.1.0"

namespace troupe {

inline constexpr std::string_view version_string = TROUPE_VERSION;

}  // namespace troupe
