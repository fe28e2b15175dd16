#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <exception>
#include <memory>
#include <string>

/// Searchers that a user may have written, for those who drive one.
namespace troupe::tune::detail {

/// Says who failed, and in which call, whatever wraps it.
class UserCodeFailure final : public Exception {
  using Exception::Exception;
};

/// Runs one call of what a user may have written. What it throws leaves as `UserCodeFailure`, with
/// the code user_code.
template <class Call>
auto user_call(const std::string& who, const char* name, Call&& call) -> decltype(call()) {
  const auto failed = [&](const std::string& what) {
    return UserCodeFailure(ErrorCode::user_code, who + " failed: its " + name + "() throws: " +
                                                     what + "; mend it there, or catch it");
  };
  try {
    return call();
  } catch (const UserCodeFailure&) {
    throw;
  } catch (const Exception& e) {
    throw failed(e.error().message());
  } catch (const std::exception& e) {
    throw failed(e.what());
  } catch (...) {
    throw failed("something that is no std::exception");
  }
}

/// What `clone` of a searcher or scheduler gives; null is a failure, too.
template <class T>
std::unique_ptr<T> user_copy(const std::string& who, const T& original) {
  auto copy = user_call(who, "clone", [&] { return original.clone(); });
  if (copy == nullptr)
    throw UserCodeFailure(ErrorCode::user_code,
                          who + " failed: its clone() gives null; return a copy of it");
  return copy;
}

/// A copy that behaves alike, but throws nothing other than `Exception` user_code, and returns that
/// error from `setup`, `suggest` and `restore` instead. Errors of `suggest` begin with "the
/// searcher <name> failed: "; one is what `adopt_suggested` refuses. Error: user_code
/// when no copy can be made.
[[nodiscard]] Result<std::unique_ptr<Searcher>> guarded(const Searcher& searcher);

}  // namespace troupe::tune::detail
