#!/usr/bin/env bash
# Runs the tests that need no other process under AddressSanitizer and UndefinedBehaviorSanitizer,
# then under ThreadSanitizer. There CAF is instrumented too: TSan must see how it synchronises.
#   scripts/sanitize.sh [asan-ubsan|tsan]
source "$(dirname "$0")/common.sh"

kinds=(unit conformance simulation)

check() {
  local preset=$1
  build_preset "$preset" "${kinds[@]/#/tests_}"
  heading "running the tests in build/$preset"
  ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error -j "$jobs" \
    -L "^($(IFS='|' && echo "${kinds[*]}"))\$"
}

script deps.sh
(($#)) || set -- asan-ubsan tsan
for preset in "$@"; do
  case $preset in
    asan-ubsan) configure_args=() ;;
    tsan)
      caf=$(script build_caf.sh --sanitize thread | tee /dev/stderr | sed -n 's/^CAF: //p')
      configure_args=("-DCAF_DIR=$caf/lib/cmake/CAF")
      ;;
    *) die "unknown preset $preset: asan-ubsan or tsan" ;;
  esac
  check "$preset"
done
heading "clean"
