# install.sh CMAKE BUILD PREFIX: a fresh installation, with no header of another one left over.
set -eu
rm -rf "$3"
"$1" --install "$2" --prefix "$3" >"$2/install.log" || {
  tail -n 20 "$2/install.log"
  exit 1
}

# Whoever did not build it must be able to use it: nothing of this user's cache or of the build.
if grep -rlE "$2|/\.cache/" "$3/lib" --include='*.cmake' --include='*.pc'; then
  echo "these files name folders that other users do not have" >&2
  exit 1
fi
