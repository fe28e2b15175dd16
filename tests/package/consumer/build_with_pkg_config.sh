# build_with_pkg_config.sh COMPILER PKG_CONFIG_FOLDER PROGRAM: builds the consumer without CMake,
# and runs it.
set -eu
PKG_CONFIG_PATH=$2
export PKG_CONFIG_PATH
build() {
  # shellcheck disable=SC2046 # the flags are words
  "$1" "$(dirname "$0")/$2.cpp" $(pkg-config --cflags --libs "$3") -o "$4"
  "$4"
}
build "$1" consumer troupe "$3"
if pkg-config --exists troupe-lipo; then # where Troupe was built with dlib
  build "$1" lipo troupe-lipo "$3_lipo"
fi
