#!/usr/bin/env bash
# Builds CAF once into the user's cache, unless CMake finds one already. Prints where it is on its
# last line.
#   scripts/build_caf.sh [--sanitize thread]   with a flag: always our own build, instrumented
#   TROUPE_CAF_TARBALL=FILE                    take the source from a file (no mirror needed)
source "$(dirname "$0")/common.sh"

version=0.18.7
tarball=actor-framework_$version.orig.tar.gz
sha256=d5c3abe8fd67a729aab1baeece10367637d903ba335f4c79378bcadfbcd34552
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

sanitize=
if [[ ${1:-} == --sanitize && -n ${2:-} ]]; then
  sanitize=$2
elif (($#)); then
  die "usage: scripts/build_caf.sh [--sanitize address|thread|undefined]"
fi

# Static libraries: a worker program starts faster, and runs on a host that has no CAF.
# Unity build: 4 times faster; one file does not stand it, for a clash in its anonymous namespace.
flags=(
  -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DCMAKE_CXX_STANDARD=17 -DCMAKE_INSTALL_LIBDIR=lib
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12
  "-DCMAKE_CXX_FLAGS=-w ${sanitize:+-fsanitize=$sanitize -g1}"
  -DCAF_ENABLE_EXAMPLES=OFF -DCAF_ENABLE_TESTING=OFF -DCAF_ENABLE_TOOLS=OFF
  -DCAF_ENABLE_IO_MODULE=ON -DCAF_ENABLE_OPENSSL_MODULE=OFF -DCAF_ENABLE_EXCEPTIONS=ON
  -DCAF_LOG_LEVEL=WARNING
)
hook='cmake_language(DEFER CALL set_source_files_properties
  ${CMAKE_CURRENT_SOURCE_DIR}/libcaf_core/src/binary_serializer.cpp
  TARGET_DIRECTORY libcaf_core PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)'
system=$(. /etc/os-release && printf '%s-%s' "$ID" "${VERSION_ID:-}")-$(uname -m)
recipe=$(printf '%s\n' "$sha256" "${flags[@]}" "$hook" "$system" | sha256sum | cut -c1-12)
prefix=$cache/caf-$version-$recipe

# Names the prefix of the build by a stable link, where FindCAF.cmake looks, and prints it.
finish() {
  if [[ -z $sanitize ]]; then
    ln -sfnT "$(basename "$prefix")" "$cache/caf.$$"
    mv -fT "$cache/caf.$$" "$cache/caf"
  fi
  printf 'CAF: %s\n' "$prefix"
  exit 0
}

# Asks CMake for a CAF outside our cache.
find_installed() {
  mkdir -p "$work/probe"
  cat >"$work/probe/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(probe CXX)
list(APPEND CMAKE_MODULE_PATH "$root/cmake")
find_package(CAF $caf_version_min REQUIRED COMPONENTS core io)
message("CAF: \${CAF_DIR} (version \${CAF_VERSION})")
EOF
  XDG_CACHE_HOME=$work/none cmake -S "$work/probe" -B "$work/probe/build" >"$work/probe.log" 2>&1 &&
    grep '^CAF: ' "$work/probe.log"
}

# Prints the addresses of the archives that this machine takes its own release of Debian from.
mirrors() {
  local release
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' |
    awk -v release="$release" '$1 == release && $2 == "main" && !seen[$3]++ { print $3 }'
}

# Fetches Debian's source package with apt lists and sources of our own: the machine's stay as they
# are.
fetch_from() {
  local apt=$work/apt
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
  printf 'deb-src [signed-by=%s] %s experimental main\n' "$keyring" "$1" >"$apt/sources.list"
  local command=(
    apt-get -q -o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
    -o Acquire::Retries=3 -o Acquire::Languages=none
  )
  # The update's exit status also covers hooks of the machine's; what counts is the verified file.
  (
    cd "$work"
    "${command[@]}" update || true
    "${command[@]}" source --tar-only actor-framework
  ) >>"$log" 2>&1 </dev/null && verified "$work/$tarball"
}

verified() { [[ -f $1 ]] && printf '%s  %s\n' "$sha256" "$1" | sha256sum --check --status; }

fetch() {
  if [[ -n ${TROUPE_CAF_TARBALL:-} ]]; then
    verified "$TROUPE_CAF_TARBALL" ||
      die "TROUPE_CAF_TARBALL=$TROUPE_CAF_TARBALL is not $tarball with sha256 $sha256"
    cp "$TROUPE_CAF_TARBALL" "$work/$tarball"
    return
  fi
  [[ -r $keyring ]] || die "$keyring is missing: install debian-archive-keyring"
  local mirror
  while read -r mirror; do
    if fetch_from "$mirror"; then
      return
    fi
  done < <(mirrors)
  tail -n 20 "$log" >&2
  die "no Debian mirror of this machine has the source of CAF $version in its suite experimental
(see above). Get $tarball (sha256 $sha256)
and set TROUPE_CAF_TARBALL to it; or install any CAF >= $caf_version_min and set TROUPE_CAF_PREFIX."
}

build() {
  mkdir "$work/source"
  tar -xzf "$work/$tarball" -C "$work/source" --strip-components=1
  printf '%s\n' "$hook" >"$work/hook.cmake"
  quietly "$log" cmake -S "$work/source" -B "$work/build" -G Ninja "${flags[@]}" \
    "-DCMAKE_INSTALL_PREFIX=$prefix" "-DCMAKE_PROJECT_CAF_INCLUDE=$work/hook.cmake" ||
    die "CAF $version could not be configured (see above)"
  quietly "$log" cmake --build "$work/build" --parallel "$jobs" ||
    die "CAF $version did not build (see above)"
  # Moved into place whole: an interrupted installation is never taken for a finished one.
  quietly "$log" cmake --install "$work/build" --prefix "$work/installed" --strip ||
    die "CAF $version could not be installed (see above)"
  mv -T "$work/installed" "$prefix"
}

{ mkdir -p "$cache" && [[ -w $cache ]]; } ||
  die "the cache folder $cache cannot be written: set XDG_CACHE_HOME to one that can"
[[ -d $prefix ]] && finish

exec 9>"$cache/caf.lock"
flock -w 1800 9 ||
  die "another build of CAF has held $cache/caf.lock for 30 minutes: end it, then run this again"
[[ -d $prefix ]] && finish

# Under the lock a folder of another build is what an interrupted one left.
rm -rf "$cache"/build.??????
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
log=$work/log
if [[ -z $sanitize ]] && find_installed; then
  exit 0
fi
heading "fetching the source of CAF $version"
fetch
heading "building CAF $version (once; about a minute and a half on two cores)"
build
heading "CAF $version is built"
finish
