#pragma once

#include <troupe/base/result.hpp>
#include <troupe/serialization/value.hpp>

#include <functional>
#include <string>

/// States that are a list of what happened, of `Optimizer` and `Study`: restored, it happens again.
namespace troupe::tune::detail {

/// corrupt, of the state of `whose` ("a study"): what is wrong with it, and what to do.
[[nodiscard]] Error bad_state(const std::string& whose, const std::string& what);

/// The same of an entry that no call leaves, without the state that it stands in.
[[nodiscard]] Error not_an_entry();

/// Calls `begin`, whose error is the answer, and then `take` for each entry. An entry is refused by
/// an error, when no call could have left it, or by what the call throws: an earlier version may
/// have taken that. Errors: corrupt, naming the entry; user_code for what `user_call` throws.
[[nodiscard]] Status take_again(const std::string& whose, const List& log,
                                const std::function<Status()>& begin,
                                const std::function<Status(const Value& entry)>& take);

}  // namespace troupe::tune::detail
