#pragma once

namespace troupe::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool instrumented = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool instrumented = true;
#else
inline constexpr bool instrumented = false;
#endif
#else
inline constexpr bool instrumented = false;
#endif

/// By so much fewer rounds or seeds, each of which would find the same mistakes of memory, do where
/// a sanitizer makes everything some fifteen times slower.
inline constexpr unsigned fewer = instrumented ? 5 : 1;

}  // namespace troupe::testing
