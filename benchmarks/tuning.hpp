#pragma once

#include <troupe/tune.hpp>

#include <chrono>
#include <string>

/// What the benchmarks of whole experiments have in common.
namespace troupe::bench {

/// A silent run below `folder`, without result files: the journal is what is measured.
inline tune::RunConfig silent_run(const std::string& folder, const std::string& name,
                                  Isolation isolation) {
  tune::RunConfig run;
  run.name = name;
  run.storage_path = folder;
  run.isolation = isolation;
  run.verbose = 0;
  run.result_files = false;
  return run;
}

/// The seconds that `call` takes.
template <class Call>
double seconds_of(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace troupe::bench
