# build_with_pkg_config.sh COMPILER PKG_CONFIG_FOLDER PROGRAM: builds the consumer without CMake,
# and runs it.
set -eu
PKG_CONFIG_PATH=$2
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs troupe)
# shellcheck disable=SC2086 # the flags are words
"$1" "$(dirname "$0")/consumer.cpp" $flags -o "$3"
"$3"
