#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. Can be run again at any time.
#   scripts/test.sh [arguments for ctest, such as -L unit or -R store]
source "$(dirname "$0")/common.sh"

script deps.sh
build_preset release
heading "running the tests"
ctest --test-dir "$root/build/release" --output-on-failure --no-tests=error -j "$jobs" "$@"
heading "the tests passed"
