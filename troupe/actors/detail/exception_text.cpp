#include <troupe/actors/detail/exception_text.hpp>
#include <troupe/base/error.hpp>
#include <troupe/base/limits.hpp>
#include <troupe/runtime/process/worker_process.hpp>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <typeinfo>

#include <cxxabi.h>

namespace troupe::detail {

namespace {

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? name.get() : type.name();
}

std::string bad_alloc_text(const std::bad_alloc& e) {
  std::string text = type_name(typeid(e)) + ": out of memory";
  if (const uint64_t limit = worker_memory_limit(); limit > 0) {
    text += "; this worker may hold " + std::to_string(limit) + " bytes (" +
            std::to_string(limit / limits::mib) +
            " MiB, ResourceRequest::memory_bytes): ask for more, or use less";
  }
  return text;
}

std::string describe() {
  try {
    throw;
  } catch (const Exception& e) {
    return e.error().to_string();
  } catch (const std::bad_alloc& e) {
    return bad_alloc_text(e);
  } catch (const std::exception& e) {
    const char* what = e.what();
    return type_name(typeid(e)) + ": " + (what ? what : "");
  } catch (const std::string& text) {
    return "a std::string was thrown: " + text;
  } catch (const char* text) {
    return std::string("a string was thrown: ") + (text ? text : "(null)");
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return "an exception of type " + (type ? type_name(*type) : std::string("(foreign)")) +
           " was thrown (not derived from std::exception)";
  }
}

}  // namespace

std::string current_exception_text() noexcept {
  try {
    std::string text = describe();
    if (text.size() > limits::max_error_message_bytes) {
      text.resize(limits::max_error_message_bytes);
    }
    return text;
  } catch (...) {
    return "out of memory";  // fits into the object itself: allocates nothing
  }
}

void pass_forced_unwind() {
  // It has no type of C++. Caught as abi::__forced_unwind it would have no address either.
  if (abi::__cxa_current_exception_type() == nullptr)
    throw;
}

}  // namespace troupe::detail
