#!/usr/bin/env bash
# The demo: the same model with output through Afterbay and with serial netCDF, a map of its result,
# and the model with output that a YAML file describes. Called by ./dev demo with AFTERBAY_BUILD (a
# build folder) and AFTERBAY_PYTHON (with netCDF4, matplotlib). More arguments go to the model:
# ./dev demo --grid 960x640
set -euo pipefail

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
model=${AFTERBAY_BUILD:?set AFTERBAY_BUILD to a build folder}/examples/shallow_water
python=${AFTERBAY_PYTHON:-python3}
output=$(realpath -m --relative-to="$PWD" "$AFTERBAY_BUILD/../demo")
model_ranks=4
servers=2
settings=(--grid 560x360 --steps 600 --fields-every 10 --surface-every 5 "$@")
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# The model, with its output kept for the summary; a failure shows all of it.
run() {
  local log=$1 ranks=$2
  shift 2
  timeout -k 5 300 mpirun --oversubscribe -np "$ranks" "$model" "${settings[@]}" "$@" 2>&1 | tee "$log"
}

[ -x "$model" ] || { echo "demo.sh: $model does not exist; build it first: ./dev build" >&2; exit 1; }
rm -rf -- "$output"
mkdir -p -- "$output/afterbay" "$output/synchronous"

say "1. The model hands its fields to $servers I/O servers ($model_ranks model ranks, Afterbay)"
run "$output/afterbay.log" $((model_ranks + servers)) --output afterbay --directory "$output/afterbay" \
  --afterbay.servers=$servers --afterbay.report.progress=2s --afterbay.report.table=off \
  --afterbay.report.json="$output/report.json" --afterbay.report.html="$output/report.html"

say "2. The same model writes the same files itself: gather to one rank, serial netCDF-4"
run "$output/synchronous.log" $model_ranks --output synchronous --directory "$output/synchronous"

say "3. A map, drawn from the file that Afterbay published"
"$python" "$root/tools/demo_map.py" "$output/afterbay/fields.nc" "$output/vorticity.png"

say "4. The model puts its fields once per step; a YAML file asks for hourly instants and daily means"
grep -v '^#' "$root/examples/shallow_water/output.yaml"
run "$output/described.log" $((model_ranks + servers)) --grid 420x270 --steps 864 "$@" \
  --output described --directory "$output/described" --afterbay.output="$root/examples/shallow_water/output.yaml" \
  --afterbay.servers=$servers --afterbay.report.table=off
"$python" "$root/tools/demo_described.py" "$output/described" "$output/described.png"

"$python" "$root/tools/demo_summary.py" "$output"
