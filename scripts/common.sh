# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts: progress headings, one-line errors, where things are.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:?set it to a folder that can be written}/.cache}/troupe
caf_version_min=0.18.5

# Seconds since the first of the scripts started, which may have called this one.
SECONDS=$((SECONDS + ${TROUPE_ELAPSED_S:-0}))
heading() { printf '== [%4d s] %s\n' "$SECONDS" "$*"; }

# Runs another of these scripts.
script() { TROUPE_ELAPSED_S=$SECONDS "$root/scripts/$1" "${@:2}"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Runs a command with its output in a file; shows the end of it only when the command fails.
quietly() {
  local log=$1
  shift
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 30 "$log" >&2
    return 1
  fi
}

jobs=$(nproc 2>/dev/null || echo 2)

# Configures a preset, with configure_args, and builds the given targets of it, or all of them.
build_preset() {
  local preset=$1 log=$root/build/$1-configure.log targets=()
  shift
  mkdir -p "$root/build"
  : >"$log"
  heading "configuring build/$preset"
  (cd "$root" && quietly "$log" cmake --preset "$preset" "${configure_args[@]}") ||
    die "the preset $preset could not be configured: see above, or $log"
  (($#)) && targets=(--target "$@")
  heading "building build/$preset"
  cmake --build "$root/build/$preset" --parallel "$jobs" "${targets[@]}" ||
    die "build/$preset did not build: see above"
}
configure_args=()
