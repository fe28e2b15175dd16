#include <troupe/tune/search/detail/replay.hpp>

namespace troupe::tune::detail {
namespace {

constexpr auto not_given = "it is not what save() gave: restore another copy of it";
/// Of data in order with a call that is refused.
constexpr auto not_taken =
    "it is not what save() gave, or an earlier version took what this one refuses: restore another "
    "copy of it, or begin anew";

Error state_error(ErrorCode code, const std::string& whose, const std::string& what) {
  return Error(code, "the state of " + whose + ": " + what);
}

}  // namespace

Error bad_state(const std::string& whose, const std::string& what) {
  return state_error(ErrorCode::corrupt, whose, what + "; " + not_given);
}

Error not_an_entry() {
  return Error(ErrorCode::corrupt, "no call leaves such an entry");
}

Status take_again(const std::string& whose, const List& log, const std::function<Status()>& begin,
                  const std::function<Status(const Value& entry)>& take) {
  std::string where;
  try {
    TROUPE_RETURN_IF_ERROR(begin());
    for (std::size_t i = 0; i < log.size(); ++i) {
      where = "entry " + std::to_string(i) + ": ";
      if (const Status taken = take(log[i]); !taken)
        return bad_state(whose, where + taken.error().message());
    }
  } catch (const Exception& e) {
    const std::string what = where + e.error().message();
    if (e.code() == ErrorCode::user_code)
      return state_error(e.code(), whose, what);
    return state_error(ErrorCode::corrupt, whose, what + "; " + not_taken);
  }
  return ok();
}

}  // namespace troupe::tune::detail
