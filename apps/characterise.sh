#!/bin/sh
# Measures the applications named, as <suite>/<app>, or all of them, and writes
# profiles/*.json, figures/*.svg and CHARACTERISATION.md. One simulation at a time: half
# an hour of one core for all, and up to 9 GB of memory at the papers' sizes. What
# .cache/profiles holds already of all is not measured again, so a broken run goes on;
# empty it to measure anew. HEDDLE names the executable (default: .cache/heddle, built
# here).
set -eu
cd "$(dirname "$0")/.."
if [ -z "${HEDDLE:-}" ]; then
    HEDDLE=.cache/heddle
    go build -o "$HEDDLE" ./cmd/heddle
fi
only="$*"
kept=.cache/profiles
if [ -n "$only" ]; then
    kept=.cache/profiles-named
    rm -rf "$kept"
fi

# measure GROUP APP ARGUMENT...: one profile.
measure() {
    group=$1 app=$2 out=$kept/$1/$(echo "$2" | tr / _).json
    shift 2
    case " ${only:-$app} " in
    *" $app "*) ;;
    *) return 0 ;;
    esac
    [ ! -s "$out" ] || return 0
    mkdir -p "$kept/$group"
    echo "$group: $app" >&2
    "$HEDDLE" characterise "apps/$app" --jobs 1 --json "$@" >"$out.tmp"
    mv "$out.tmp" "$out"
}

# cycles APP: how long it is run in time at its paper's size.
cycles() {
    case $1 in
    rodinia-like/streamcluster) echo 400000 ;; # it begins slowly
    rodinia-like/srad_v2) echo 1000000 ;;      # the host reads much before the first kernel
    *) echo 60000 ;;
    esac
}

# gather GROUP: its profiles in one file; those of applications not named stay.
gather() {
    mkdir -p apps/profiles
    files=$(ls "$kept/$1"/*.json 2>/dev/null | tr '\n' ',' | sed 's/,$//')
    [ -n "$files" ] || return 0
    [ -z "$only" ] || files=apps/profiles/$1.json,$files
    "$HEDDLE" characterise --json --from "$files" >"apps/profiles/$1.json.tmp"
    mv "apps/profiles/$1.json.tmp" "apps/profiles/$1.json"
}

ugpu="sdk-like/dxtc rodinia-like/hotspot rodinia-like/pathfinder parboil-like/cp parboil-like/mri-q mars-like/pageviewcount
parboil-like/lbm sdk-like/blackscholes rodinia-like/dwt2d rodinia-like/euler3d sdk-like/fastwalsh rodinia-like/lavamd
rodinia-like/streamcluster sdk-like/convsep rodinia-like/srad_v2"
ugpu=$(echo $ugpu) # one line

for folder in apps/*/*/app.star; do
    app=${folder#apps/}
    app=${app%/app.star}
    measure tiny "$app" --size tiny
    measure standard "$app" --size standard --cycles 2000000
    # At the papers' sizes the beginning, in time only of what UGPU has. The set of
    # pageviewcount is touched long before its log is.
    limit=8000000
    [ "$app" != mars-like/pageviewcount ] || limit=50000000
    case " $ugpu " in
    *" $app "*) set -- --cycles $(cycles $app) ;;
    *) set -- --functional ;;
    esac
    measure paper "$app" --size paper --arg verify=False --limit $limit "$@"
done

# UGPU's benchmarks in slices, at sizes that fill 80 SMs. The page-walk cache is the
# study's reading of the paper's walker; without one they are all bound by translation.
while read -r cycles app size; do
    set --
    for arg in $size; do set -- "$@" --arg "$arg"; done
    measure slices "$app" --size standard --arg verify=False --limit 200000 --cycles $cycles --sweep --set vm.walk_cache=128 "$@" </dev/null
done <<'LIST'
60000 sdk-like/dxtc n=512
60000 rodinia-like/hotspot n=1024 steps=24 halo=6
60000 rodinia-like/pathfinder n=1000000 rows=40
60000 parboil-like/cp n=512 atoms=40000
60000 parboil-like/mri-q n=200000 samples=3072
60000 mars-like/pageviewcount n=500000 pages=128 visitors=256
60000 parboil-like/lbm n=56 steps=20
60000 sdk-like/blackscholes n=2400000 passes=10
60000 rodinia-like/dwt2d n=2048
60000 rodinia-like/euler3d n=512 rows=256 steps=20
60000 sdk-like/fastwalsh log=22
60000 rodinia-like/lavamd n=20
200000 rodinia-like/streamcluster n=66560 dim=128 candidates=20
60000 sdk-like/convsep n=2176 height=1536 passes=10
60000 rodinia-like/srad_v2 n=1024 steps=50 roi=8
LIST

# SMQoS's benchmarks on the machine, with the inputs and for the length of its study.
while read -r app size; do
    set --
    for arg in $size; do set -- "$@" --arg "$arg"; done
    measure fermi "$app" --machine fermi --size standard --arg verify=False --limit 200000 --cycles 2000000 "$@" </dev/null
done <<'LIST'
sdk-like/binomialoptions n=2560 steps=1024
sdk-like/mergesort n=2097152
parboil-like/cp n=1024 atoms=4000
parboil-like/tpacf n=1024 sets=800
rodinia-like/hotspot n=1024 steps=200 halo=2
rodinia-like/pathfinder n=800000 rows=100
polybench/atax n=655360 ny=256
polybench/bicg n=512 ny=655360
polybench/gesummv n=655360 ny=128
ispass-like/libor n=163840 rates=40 steps=20
parboil-like/lbm n=120 ny=60 nz=60 steps=40
parboil-like/mri-gridding n=262144 side=64
LIST

for group in tiny standard paper slices fermi; do gather "$group"; done
files=apps/profiles/tiny.json,apps/profiles/standard.json,apps/profiles/paper.json,apps/profiles/slices.json,apps/profiles/fermi.json
"$HEDDLE" characterise --from "$files" --figures apps/figures --markdown >apps/CHARACTERISATION.md.tmp
mv apps/CHARACTERISATION.md.tmp apps/CHARACTERISATION.md
