#pragma once

#include <troupe/base/clock.hpp>
#include <troupe/base/error.hpp>
#include <troupe/base/ids.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

/// Structured logs: a fixed message and named fields, so that a line can be read by a person and
/// searched by a machine.
///
///     log::info("store opened", {{"path", path}, {"records", count}});
///
/// Lines go to stderr, as text or (TROUPE_LOG_FORMAT=json) as one JSON object each. The least level
/// is info, or what TROUPE_LOG says: debug, info, warning, error, off. Safe from any thread; a line
/// is written as a whole. **Never log a secret**: no keys, tokens, passwords, signed URLs, or
/// environment variables as a whole.
namespace troupe::log {

enum class Level : std::uint8_t { debug, info, warning, error, off };
enum class Format : std::uint8_t { text, json };

std::string_view to_string(Level level) noexcept;

/// A named value. Strings are referenced, not copied: a Field lives only in the call that logs it.
struct Field {
  using Value =
      std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view, std::string>;

  std::string_view key;
  Value value;

  template <std::same_as<bool> T>
  Field(std::string_view k, T v) : key(k), value(v) {}
  template <std::signed_integral T>
  Field(std::string_view k, T v) : key(k), value(static_cast<std::int64_t>(v)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Field(std::string_view k, T v)
      : key(k), value(static_cast<std::uint64_t>(v)) {}
  template <std::floating_point T>
  Field(std::string_view k, T v) : key(k), value(static_cast<double>(v)) {}
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string_view(v ? v : "")) {}
  /// As "code: message".
  Field(std::string_view k, const Error& v) : key(k), value(v.to_string()) {}
  /// In seconds.
  Field(std::string_view k, Duration v) : key(k), value(std::chrono::duration<double>(v).count()) {}
  template <class Tag, class Rep>
  Field(std::string_view k, StrongId<Tag, Rep> v) : Field(k, v.value) {}
  Field(std::string_view k, const TrialKey& v) : key(k), value(to_string(v)) {}
};

/// What a sink receives; valid during the call only.
struct Record {
  Level level;
  std::int64_t wall_ms;
  std::string_view message;
  std::span<const Field> fields;
};

/// Is anything of this level written? Ask before computing an expensive field.
[[nodiscard]] bool enabled(Level level) noexcept;

void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::debug))
    write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::info))
    write(Level::info, message, fields);
}
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::warning))
    write(Level::warning, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (enabled(Level::error))
    write(Level::error, message, fields);
}

/// The least level that is written, and the form of a line. They start as the environment says; a
/// value there that is not understood is reported once, on stderr, and the default is used.
void set_level(Level level) noexcept;
[[nodiscard]] Level level() noexcept;
void set_format(Format format) noexcept;
[[nodiscard]] Format format() noexcept;

/// One line without its end, as it would be written.
[[nodiscard]] std::string format_line(const Record& record, Format format);

/// Sends records to `sink` instead of stderr until the guard is destroyed; for tests and embedding.
/// The sink is called under a lock: it must not log. Guards are destroyed in reverse order.
class [[nodiscard]] ScopedSink {
public:
  explicit ScopedSink(std::function<void(const Record&)> sink, Level least = Level::debug);
  ~ScopedSink();
  ScopedSink(const ScopedSink&) = delete;
  ScopedSink& operator=(const ScopedSink&) = delete;

private:
  std::shared_ptr<std::function<void(const Record&)>> previous_;
  Level previous_level_;
};

}  // namespace troupe::log
