#pragma once

#include <troupe/tune/search/searcher.hpp>

#include <exception>
#include <memory>
#include <string>

/// Searchers that a user may have written, for those who drive one.
namespace troupe::tune::detail {

/// Runs one call of what a user may have written. What it throws leaves as an `Exception` user_code
/// that says who failed, and in which call.
template <class Call>
auto user_call(const std::string& who, const char* name, Call&& call) -> decltype(call()) {
  const auto failed = [&](const std::string& what) {
    return Exception(ErrorCode::user_code, who + " failed: its " + name + "() throws: " + what +
                                               "; mend it there, or catch it");
  };
  try {
    return call();
  } catch (const Exception& e) {
    throw failed(e.error().message());
  } catch (const std::exception& e) {
    throw failed(e.what());
  } catch (...) {
    throw failed("something that is no std::exception");
  }
}

/// A copy that behaves alike, but throws nothing other than `Exception` user_code, and returns that
/// error from `setup`, `suggest` and `restore` instead. Errors of `suggest` begin with "the
/// searcher <name> failed: "; one is what cannot be tried (`check_suggested`). Error: user_code
/// when no copy can be made.
[[nodiscard]] Result<std::unique_ptr<Searcher>> guarded(const Searcher& searcher);

}  // namespace troupe::tune::detail
