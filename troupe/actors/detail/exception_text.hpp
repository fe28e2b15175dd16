#pragma once

#include <string>

namespace troupe::detail {

/// Says what the exception that is being handled is: "std::runtime_error: no such file". Call it in
/// a catch block. Works for every type, also for those that are not derived from std::exception;
/// running out of memory names the limit of this process. Never throws and never longer than
/// `limits::max_error_message_bytes`.
std::string current_exception_text() noexcept;

/// Lets pass what is not an exception although it unwinds like one: the end of a thread
/// (pthread_exit, cancellation) must not be caught. First thing in a `catch (...)` around user
/// code.
void pass_forced_unwind();

}  // namespace troupe::detail
