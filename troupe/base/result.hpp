#pragma once

#include <troupe/base/error.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

/// A value or the `Error` that explains why there is none; how failures travel inside Troupe.
///
///     Result<Config> load(const std::string& path) {
///       TROUPE_TRY(text, read_file(path, limits::max_message_bytes));   // returns its error
///       return parse_config(text);
///     }
namespace troupe {

namespace detail {
/// A result was used without looking whether it holds an error: prints both and aborts.
[[noreturn]] void bad_result_access(const char* what, const Error* error) noexcept;
}  // namespace detail

/// Not thread safe by itself, like any value. Never empty: holds a `T` or an `Error`.
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, Error>,
                "Result<T> holds an object; use a pointer for a reference");

public:
  using value_type = T;

  template <class U = T>
  requires(std::is_constructible_v<T, U&&>&& std::is_convertible_v<U&&, T> &&
           !std::same_as<std::remove_cvref_t<U>, Result> &&
           !std::same_as<std::remove_cvref_t<U>, Error>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value; throws `Exception` with the error when there is none. For the public surface.
  T& value() & { return check_or_throw(), *std::get_if<0>(&state_); }
  const T& value() const& { return check_or_throw(), *std::get_if<0>(&state_); }
  /// Of a temporary by value, which lives on in `for (auto& x : f().value())`.
  T value() && { return check_or_throw(), std::move(*std::get_if<0>(&state_)); }
  /// The same, moved out, under the name that says what it does.
  T value_or_throw() && { return std::move(*this).value(); }
  T value_or_throw() const& { return value(); }

  template <class U>
  T value_or(U&& fallback) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(fallback));
  }
  template <class U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(fallback));
  }

  /// Access after a check. On an error this is a defect of the caller and aborts with a message.
  T& operator*() & { return *checked(); }
  const T& operator*() const& { return *checked(); }
  T operator*() && { return std::move(*checked()); }
  T* operator->() { return checked(); }
  const T* operator->() const { return checked(); }
  /// Moves the value out.
  [[nodiscard]] T take() { return std::move(*checked()); }

  /// The error; only when `!has_value()`, aborts otherwise.
  [[nodiscard]] const Error& error() const& { return *checked_error(); }
  [[nodiscard]] Error& error() & { return *checked_error(); }
  [[nodiscard]] Error&& error() && { return std::move(*checked_error()); }

  /// Puts "where: " before the message of an error; leaves a value alone.
  Result&& with_context(std::string_view where) && {
    if (!has_value())
      checked_error()->with_context(where);
    return std::move(*this);
  }

private:
  void check_or_throw() const {
    if (const Error* error = std::get_if<1>(&state_))
      throw Exception(*error);
  }
  T* checked() {
    if (!has_value())
      detail::bad_result_access("value of a failed result", std::get_if<1>(&state_));
    return std::get_if<0>(&state_);
  }
  const T* checked() const { return const_cast<Result*>(this)->checked(); }
  Error* checked_error() {
    if (has_value())
      detail::bad_result_access("error of a successful result", nullptr);
    return std::get_if<1>(&state_);
  }
  const Error* checked_error() const { return const_cast<Result*>(this)->checked_error(); }

  std::variant<T, Error> state_;
};

/// Success, or an error. `return ok();` or `return Error(...)`.
template <>
class [[nodiscard]] Result<void> {
public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
  [[nodiscard]] bool is_ok() const noexcept { return has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// Nothing on success; throws `Exception` with the error otherwise.
  void value_or_throw() const {
    if (error_)
      throw Exception(*error_);
  }
  void value() const { value_or_throw(); }
  void operator*() const {
    if (error_)
      detail::bad_result_access("value of a failed result", &*error_);
  }

  [[nodiscard]] const Error& error() const& { return *checked_error(); }
  [[nodiscard]] Error& error() & { return *const_cast<Error*>(checked_error()); }
  [[nodiscard]] Error&& error() && { return std::move(*const_cast<Error*>(checked_error())); }

  Result&& with_context(std::string_view where) && {
    if (error_)
      error_->with_context(where);
    return std::move(*this);
  }

private:
  const Error* checked_error() const {
    if (!error_)
      detail::bad_result_access("error of a successful result", nullptr);
    return &*error_;
  }

  std::optional<Error> error_;
};

using Status = Result<void>;

[[nodiscard]] inline Status ok() {
  return {};
}

}  // namespace troupe

#define TROUPE_DETAIL_CONCAT_INNER(a, b) a##b
#define TROUPE_DETAIL_CONCAT(a, b) TROUPE_DETAIL_CONCAT_INNER(a, b)

/// Declares `auto var` with the value of the `Result` that the expression gives, or returns its
/// error from the enclosing function (which returns a `Result` or `Status`).
#define TROUPE_TRY(var, ...) \
  TROUPE_DETAIL_TRY(TROUPE_DETAIL_CONCAT(troupe_try_, __LINE__), var, __VA_ARGS__)
#define TROUPE_DETAIL_TRY(temporary, var, ...) \
  auto temporary = (__VA_ARGS__);              \
  if (!temporary.has_value())                  \
    return std::move(temporary).error();       \
  auto var = std::move(temporary).operator*()

/// Returns the error of a `Status` (or of a `Result` whose value is not needed), if it holds one.
#define TROUPE_RETURN_IF_ERROR(...)            \
  do {                                         \
    auto troupe_status = (__VA_ARGS__);        \
    if (!troupe_status.has_value())            \
      return std::move(troupe_status).error(); \
  } while (false)

/// Throws `Exception` with the error of a `Status` or `Result`, if it holds one. For the public
/// surface, programs and tests.
#define TROUPE_CHECK_OK(...)                                       \
  do {                                                             \
    auto troupe_status = (__VA_ARGS__);                            \
    if (!troupe_status.has_value())                                \
      throw ::troupe::Exception(std::move(troupe_status).error()); \
  } while (false)
