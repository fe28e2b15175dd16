#!/usr/bin/env bash
# Checks the layout of all C++ files in git with clang-format 14, or mends it.
#   scripts/format.sh [--fix]
source "$(dirname "$0")/common.sh"

tool=$(command -v clang-format-14 || command -v clang-format) ||
  die "clang-format is missing: install it with apt-get install clang-format"
case ${1:-} in
  '') mode=(--dry-run --Werror) ;;
  --fix) mode=(-i) ;;
  *) die "usage: scripts/format.sh [--fix]" ;;
esac
cd "$root"
git ls-files -z '*.hpp' '*.cpp' | xargs -0 -r "$tool" --style=file "${mode[@]}"
