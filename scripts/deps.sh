#!/usr/bin/env bash
# Installs what Troupe needs and is missing: Debian packages (as root), and CAF, which Debian 12 has
# as source only (built once, into the user's cache). Can be run again at any time: where nothing is
# missing it does nothing. dlib (the searcher lipo) is optional: only root is given it.
#   scripts/deps.sh
#   TROUPE_CAF_PREFIX=/opt/caf scripts/deps.sh     use a CAF that is installed already
source "$(dirname "$0")/common.sh"

tools=(cmake ninja-build g++ ccache pkg-config)
libraries=(
  librocksdb-dev libboost-serialization-dev libeigen3-dev libssl-dev
  nlohmann-json3-dev libcli11-dev libspdlog-dev doctest-dev
)
examples=(zlib1g-dev dataset-fashion-mnist)
optional=()
if ((EUID == 0)); then
  optional=(libdlib-dev)
fi

missing_packages() {
  local package
  for package in "${tools[@]}" "${libraries[@]}" "${examples[@]}" "${optional[@]}"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      printf '%s\n' "$package"
    fi
  done
}

install_packages() {
  local log
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  local apt=(apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  # A source that cannot be reached need not be one that we need: the installation tells.
  quietly "$log" "${apt[@]}" update || heading "apt-get update reported errors; going on"
  quietly "$log" "${apt[@]}" install -y --no-install-recommends "$@" ||
    die "apt-get could not install: $* (its output is in $log)"
  rm -f "$log"
}

command -v dpkg-query >/dev/null ||
  die "this is not a Debian system: install what scripts/deps.sh names, as it is called here," \
    "then configure with cmake --preset release"

mapfile -t missing < <(missing_packages)
if ((${#missing[@]})); then
  if ((EUID != 0)); then
    die "these packages are missing: ${missing[*]}
Install them as root, then run this again:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  heading "installing ${#missing[@]} packages: ${missing[*]}"
  install_packages "${missing[@]}"
fi

script build_caf.sh
