#!/usr/bin/env bash
# Runs Optuna's samplers and our searchers on the same test functions and this machine, one after
# the other, and prints how they compare: ratios of regrets with bootstrap intervals, and what a
# suggestion costs. Python packages go into a virtual environment in the user's cache.
#   scripts/peers.sh [--pairs tpe:tpe,cmaes:cma] [--budget 100] [--seeds 5] [--function F,G]
#                    [--most 1000] [--no-regret | --no-suggest]
# --pairs are ours:theirs (tpe:tpe,gp:gp,cmaes:cma); benchmarks/peers/peers.py names Optuna's.
# --most bounds the observations for the latencies. Rows and figures are kept in build/peers/, and
# rows of Optuna that lie there already are not made again. The sampler `auto` needs
# OPTUNAHUB_REGISTRY, the folder `package` of a copy of OptunaHub's registry.
source "$(dirname "$0")/common.sh"

pairs=tpe:tpe,gp:gp,cmaes:cma budget=100 seeds=5 functions='' most=1000 regret=1 suggest=1
while (($#)); do
  case $1 in
    --no-regret) regret=0 && shift && continue ;;
    --no-suggest) suggest=0 && shift && continue ;;
    --pairs | --budget | --seeds | --function | --most) ;;
    *) die "scripts/peers.sh does not understand '$1': see its first lines" ;;
  esac
  (($# > 1)) || die "a value is missing after $1"
  case $1 in
    --pairs) pairs=$2 ;;
    --budget) budget=$2 ;;
    --seeds) seeds=$2 ;;
    --function) functions=$2 ;;
    --most) most=$2 ;;
  esac
  shift 2
done

bench=$root/build/release/bin/troupe-bench
python=$cache/peers/bin/python
results=$root/build/peers
peers=("$python" -B "$root/benchmarks/peers/peers.py")

# The virtual environment, made anew where what it should hold has changed.
prepare() {
  mkdir -p "$results"
  [[ -x $python ]] || python3 -m venv "$cache/peers" ||
    die "python3 cannot make virtual environments: install python3-venv"
  local stamp=$cache/peers/requirements.txt
  if ! cmp -s "$root/benchmarks/peers/requirements.txt" "$stamp"; then
    install_packages
    cp "$root/benchmarks/peers/requirements.txt" "$stamp"
  fi
  "$python" -c 'import optuna' || die "Optuna is not there: see $results/pip.log"
  "$python" -c 'import torch' 2>/dev/null || heading "without torch: sampler gp cannot run"
  "$python" -c 'import cmaes' 2>/dev/null || heading "without cmaes: sampler cma cannot run"
}

# Each package by itself: one that cannot be had takes only its samplers with it.
install_packages() {
  local package
  while read -r package; do
    "$python" -m pip install -q --disable-pip-version-check "$package" \
      >>"$results/pip.log" 2>&1 ||
      heading "NOT installed: $package (see $results/pip.log)"
  done < <(grep -v '^#' "$root/benchmarks/peers/requirements.txt")
}

# Rows of Optuna's sampler $1.
theirs() {
  local file=$results/optuna-$1-$budget-$seeds${functions:+-$functions}.csv
  if [[ ! -s $file ]]; then
    heading "Optuna $1: budget $budget, $seeds seeds"
    "${peers[@]}" regret --sampler "$1" --budget "$budget" --seeds "$seeds" \
      --function "$functions" >"$file.part" || return 1
    mv "$file.part" "$file"
  fi
  theirs_file=$file
}

compare_regret() {
  local pair ours other who ours_file
  for pair in ${pairs//,/ }; do
    ours=${pair%%:*} other=${pair##*:}
    theirs "$other" || {
      heading "NOT compared: Optuna's $other does not run here"
      continue
    }
    ours_file=$results/troupe-$ours-$budget-$seeds${functions:+-$functions}.csv
    who=$(head -n 1 "$theirs_file" | cut -d, -f1,2 | tr , :)
    heading "our $ours beside $who"
    "$bench" regret --searcher "$ours" --budget "$budget" --seeds "$seeds" \
      --function "$functions" --output "$ours_file" \
      --anchors "$theirs_file" --against "$who" || heading "NOT compared: our $ours failed"
  done
}

compare_suggest() {
  local pair ours other ours_file theirs_file
  heading "what a suggestion costs, up to $most observations"
  for pair in ${pairs//,/ }; do
    ours=${pair%%:*} other=${pair##*:}
    ours_file=$results/troupe-suggest-$ours.json
    theirs_file=$results/optuna-suggest-$other.json
    "${peers[@]}" suggest --sampler "$other" --most "$most" >"$theirs_file" || {
      heading "NOT compared: Optuna's $other does not run here"
      continue
    }
    "$bench" suggest --searcher "$ours" --most "$most" | tail -n 1 >"$ours_file" || {
      heading "NOT compared: our $ours failed"
      continue
    }
    "${peers[@]}" beside "$ours_file" "$theirs_file"
  done
}

prepare
build_preset release troupe-bench
((regret)) && compare_regret
((suggest)) && compare_suggest
heading "done; rows and figures are in $results"
