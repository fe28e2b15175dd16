#pragma once

#include <caf/config.hpp>

/// What differs between CAF 0.18 and 1.x and cannot be written in one way.
///
/// CAF_VERSION itself is broken in 1.1 (an octal number): only the major version is looked at.
#if CAF_MAJOR_VERSION >= 1
#define TROUPE_CAF_1 1
#else
#define TROUPE_CAF_1 0
#endif
