#pragma once

#include <troupe/base/file.hpp>
#include <troupe/tune.hpp>

#include <atomic>
#include <filesystem>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <tests/support/scratch_folder.hpp>

namespace troupe::testing {

/// A change of it lets those steps of `Misbehaves` end that are without end on threads.
extern std::atomic<int> endless_steps;

/// A runtime, a place for experiments, and options that suit tests.
struct Lab {
  explicit Lab(RuntimeOptions options = quick()) : runtime(options) {}

  static RuntimeOptions quick() {
    RuntimeOptions options;
    options.cpus = 2;
    options.unresponsive_after = std::chrono::seconds(5);
    options.stop_grace = std::chrono::milliseconds(500);
    return options;
  }

  /// Silent, below the scratch folder, without result files.
  tune::RunConfig run(Isolation isolation, std::string name = "test") const {
    tune::RunConfig config;
    config.name = std::move(name);
    config.storage_path = scratch.path();
    config.isolation = isolation;
    config.verbose = 0;
    config.result_files = false;
    return config;
  }

  std::filesystem::path dir(const std::string& name = "test") const {
    return scratch.path() / name;
  }

  ScratchFolder scratch{"tune"};
  Runtime runtime;
};

/// The code of the exception that `call` throws, and its text must hold `part`.
template <class Call>
void check_throws(ErrorCode code, const std::string& part, Call call) {
  try {
    call();
    FAIL_CHECK("no exception");
  } catch (const Exception& error) {
    CHECK(error.code() == code);
    CHECK_MESSAGE(error.error().message().find(part) != std::string::npos, error.error().message());
  }
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline constexpr Isolation isolations[] = {Isolation::thread, Isolation::process};

}  // namespace troupe::testing
