#!/usr/bin/env bash
# Installs what is missing, builds what the demonstration needs, and tunes a network on the images
# of Fashion-MNIST. Can be run again at any time.
#   scripts/demo.sh [arguments for the program, see build/release/bin/fashion_mnist --help]
source "$(dirname "$0")/common.sh"

script deps.sh
build_preset release fashion_mnist troupe
heading "tuning a network on Fashion-MNIST"
"$root/build/release/bin/fashion_mnist" "$@"
heading "done"
