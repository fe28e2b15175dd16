#include <troupe/actors/runtime.hpp>

#include "benchmarks/benchmark.hpp"

/// Worker processes are this program, started again.
void troupe_bench_start(int argc, char** argv) {
  troupe::run_worker_if_asked(argc, argv);
}
