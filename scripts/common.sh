# Sourced by the other scripts: progress headings, one-line errors, where things are.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set: set it to a folder that can be written}/.cache}/troupe
caf_version_min=0.18.5

heading() { printf '== [%4d s] %s\n' "$SECONDS" "$*"; }

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

jobs_default() { nproc 2>/dev/null || echo 2; }
