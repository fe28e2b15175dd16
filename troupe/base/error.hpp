#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

/// What every failure in Troupe is made of: a code to act on and a message to read.
///
/// Inside the library a failure travels as `Error` in a `Result<T>` (result.hpp); at the public
/// surface the same `Error` is thrown inside an `Exception`. A message says what failed, where, and
/// what to do about it, and is written for the person who reads a terminal.
namespace troupe {

/// What kind of failure it is. The numbers are stored and sent: append only.
enum class ErrorCode : std::uint8_t {
  invalid_argument = 0,     ///< The caller passed something that can never work.
  not_found = 1,            ///< A named thing does not exist.
  already_exists = 2,       ///< A name is taken.
  failed_precondition = 3,  ///< Right call, wrong state; changing the state makes it work.
  out_of_range = 4,         ///< A number or an index lies outside what is allowed.
  corrupt = 5,              ///< Bytes from outside are damaged or malformed.
  data_loss = 6,            ///< Something that was promised to be durable is missing.
  unavailable = 7,          ///< The other side cannot be reached now; trying again may help.
  deadline_exceeded = 8,    ///< The time given was not enough.
  cancelled = 9,            ///< Somebody asked to stop.
  resource_exhausted = 10,  ///< A limit, a quota or memory is used up.
  version_mismatch = 11,    ///< Written or spoken by a version that this one does not know.
  io = 12,                  ///< The operating system refused a file, disk or socket operation.
  user_code = 13,           ///< The user's trainable or callback failed.
  internal = 14,            ///< A defect of Troupe itself.
};

/// The last enumerator, so that a decoder can refuse a number beyond it.
constexpr ErrorCode enum_last(ErrorCode) noexcept {
  return ErrorCode::internal;
}

/// The name of `code` as written above, for example "not_found". "unknown" for anything else.
std::string_view to_string(ErrorCode code) noexcept;

/// A code and a message. A plain value: copy, move, and hand it to another thread freely.
class Error {
public:
  Error(ErrorCode code, std::string message) : message_(std::move(message)), code_(code) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

  /// Puts "where: " before the message. Made for `return std::move(error).with_context("store")`.
  [[nodiscard]] Error&& with_context(std::string_view where) &&;
  /// The same on an error that stays where it is.
  Error& with_context(std::string_view where) &;

  /// "code: message", one line for a log or a terminal.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Error&, const Error&) = default;

private:
  std::string message_;
  ErrorCode code_;
};

/// What the public surface throws. `what()` is `error().to_string()`.
class Exception : public std::runtime_error {
public:
  explicit Exception(Error error);
  Exception(ErrorCode code, std::string message);

  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] ErrorCode code() const noexcept { return error_.code(); }

private:
  Error error_;
};

/// An error from an `errno` value: "what: No such file or directory (errno 2)". ENOENT becomes
/// not_found, EEXIST already_exists, ENOSPC/EDQUOT/EMFILE/ENFILE/ENOMEM resource_exhausted,
/// ETIMEDOUT deadline_exceeded, the "connection" family unavailable, everything else io.
[[nodiscard]] Error errno_error(int err, std::string what);

}  // namespace troupe
