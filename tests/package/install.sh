# install.sh CMAKE BUILD PREFIX: a fresh installation, with no header of another one left over.
set -eu
rm -rf "$3"
"$1" --install "$2" --prefix "$3" >"$2/install.log" || {
  tail -n 20 "$2/install.log"
  exit 1
}
