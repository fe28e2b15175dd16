#include <troupe/base/error.hpp>
#include <troupe/base/result.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace troupe {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::failed_precondition:
      return "failed_precondition";
    case ErrorCode::out_of_range:
      return "out_of_range";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::data_loss:
      return "data_loss";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::resource_exhausted:
      return "resource_exhausted";
    case ErrorCode::version_mismatch:
      return "version_mismatch";
    case ErrorCode::io:
      return "io";
    case ErrorCode::user_code:
      return "user_code";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

Error&& Error::with_context(std::string_view where) && {
  with_context(where);
  return std::move(*this);
}

Error& Error::with_context(std::string_view where) & {
  message_.insert(0, std::string(where) + ": ");
  return *this;
}

std::string Error::to_string() const {
  return std::string(troupe::to_string(code_)) + ": " + message_;
}

Exception::Exception(Error error)
    : std::runtime_error(error.to_string()), error_(std::move(error)) {}

Exception::Exception(ErrorCode code, std::string message)
    : Exception(Error(code, std::move(message))) {}

namespace {

ErrorCode code_of_errno(int err) noexcept {
  switch (err) {
    case ENOENT:
      return ErrorCode::not_found;
    case EEXIST:
      return ErrorCode::already_exists;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::resource_exhausted;
    case ETIMEDOUT:
      return ErrorCode::deadline_exceeded;
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
      return ErrorCode::unavailable;
    default:
      return ErrorCode::io;
  }
}

}  // namespace

Error errno_error(int err, std::string what) {
  what += ": " + std::generic_category().message(err) + " (errno " + std::to_string(err) + ")";
  return Error(code_of_errno(err), std::move(what));
}

namespace detail {

void bad_result_access(const char* what, const Error* error) noexcept {
  std::fprintf(stderr, "troupe: defect: %s was used", what);
  if (error != nullptr)
    std::fprintf(stderr, "; the error is: %s", error->message().c_str());
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace detail
}  // namespace troupe
