#include <troupe/base/error.hpp>

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("an error shows its code and its message") {
  const Error error(ErrorCode::not_found, "no trial 17");
  CHECK(error.to_string() == "not_found: no trial 17");
  CHECK(error.code() == ErrorCode::not_found);
  CHECK(error.message() == "no trial 17");
}

TEST_CASE("context goes before the message, the outermost first") {
  Error error = Error(ErrorCode::io, "disk is gone").with_context("commit");
  error.with_context("store");
  CHECK(error.message() == "store: commit: disk is gone");
  CHECK(error.code() == ErrorCode::io);
}

TEST_CASE("every code has a name of its own and enum_last is the last one") {
  std::string all;
  for (int i = 0; i <= static_cast<int>(enum_last(ErrorCode{})); ++i) {
    const std::string name = '[' + std::string(to_string(static_cast<ErrorCode>(i))) + ']';
    CHECK(name != "[unknown]");
    CHECK(all.find(name) == std::string::npos);
    all += name;
  }
  const int beyond = static_cast<int>(enum_last(ErrorCode{})) + 1;
  CHECK(to_string(static_cast<ErrorCode>(beyond)) == "unknown");
}

TEST_CASE("an exception carries the error and says it") {
  const Exception exception(ErrorCode::cancelled, "stopped by the user");
  CHECK(std::string(exception.what()) == "cancelled: stopped by the user");
  CHECK(exception.error() == Error(ErrorCode::cancelled, "stopped by the user"));
}

TEST_CASE("errno becomes a code one can act on, with the text and the number") {
  CHECK(errno_error(ENOENT, "open /x").to_string() ==
        "not_found: open /x: No such file or directory (errno 2)");
  CHECK(errno_error(EEXIST, "").code() == ErrorCode::already_exists);
  CHECK(errno_error(ENOSPC, "").code() == ErrorCode::resource_exhausted);
  CHECK(errno_error(EMFILE, "").code() == ErrorCode::resource_exhausted);
  CHECK(errno_error(ETIMEDOUT, "").code() == ErrorCode::deadline_exceeded);
  CHECK(errno_error(ECONNREFUSED, "").code() == ErrorCode::unavailable);
  CHECK(errno_error(EACCES, "").code() == ErrorCode::io);
}
