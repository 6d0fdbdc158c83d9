#!/bin/sh
# Regenerates every apps/<suite>/<app>/kernel.ptx from its kernel.cu, byte for byte
# the same on any machine with clang 19: compiled from within the app's folder with
# relative paths, so the .file lines name kernel.cu and ../../include/heddle.cuh.
# PTX is committed; users of the applications never need this. Arguments: app folders
# (default: all). With OUT=DIR the results go to DIR/<suite>/<app>/kernel.ptx, to be compared.
# A folder of one's own, ./mine or /any/where, may be named, too: each of its .cu files becomes
# a .ptx beside it, by `heddle cc --ptx`, which takes ordinary CUDA sources.
set -eu
from=$PWD
[ -z "${OUT:-}" ] || case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
cd "$(dirname "$0")"
clang=${CLANG:-clang-19}
if ! command -v "$clang" >/dev/null 2>&1; then
    echo "apps/ptx.sh: $clang not found." >&2
    echo "  Debian, Ubuntu: apt-get install clang-19 (or see https://apt.llvm.org); no CUDA is needed." >&2
    echo "  Another name: CLANG=/path/to/clang apps/ptx.sh. Only version 19 gives the committed bytes." >&2
    exit 2
fi
case "$("$clang" --version | head -n 1)" in
*"version 19."*) ;;
*) echo "apps/ptx.sh: $clang is not version 19: the committed PTX would change with the compiler." >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- */*/
failed=0
out=$PWD
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT"
    out=$(cd "$OUT" && pwd)
fi
LC_ALL=C
export LC_ALL
flags="-x cuda --cuda-device-only -nocudainc -nocudalib -std=c++14 -O2
    -fno-builtin -ffp-contract=off -gline-tables-only -fno-ident -fdebug-compilation-dir=. -Wall"
for app in $(printf '%s\n' "$@" | sort); do
    app=${app%/}
    case $app in
    . | ./* | ../* | /*) # of one's own
        own=$(cd "$from" && cd "$app" && pwd) || exit 2
        (cd "$out/.." && go build -o .cache/heddle ./cmd/heddle) || exit 2
        found=0 made=0
        for cu in "$own"/*.cu; do
            [ -f "$cu" ] || continue
            found=$((found + 1))
            name=$(basename "$cu" .cu)
            whole=$(grep -l "^[ 	]*#[ 	]*include[ 	]*[\"<]$name\.cu[\">]" "$own"/*.cu | head -n 1) || true
            if [ -n "$whole" ]; then
                echo "$app/$name.cu is a part of $(basename "$whole"), which includes it"
                made=$((made + 1))
            elif (cd "$own" && CLANG=$clang "$out/../.cache/heddle" cc --ptx "$name.cu" -o "$name.ptx"); then
                echo "$app/$name.ptx"
                made=$((made + 1))
            fi
        done
        [ $found -gt 0 ] || { echo "apps/ptx.sh: no .cu file in $own" >&2; exit 2; }
        if [ $made -lt $found ]; then
            echo "apps/ptx.sh: $((found - made)) of $found files in $own do not compile, for the reasons above" >&2
            failed=1
        fi
        continue
        ;;
    esac
    [ -f "$app/kernel.cu" ] || continue
    # Nothing in the text depends on the machine: no ident, no absolute path in .file.
    mkdir -p "$out/$app"
    # A source that needs more than sm_70 has a line "// ptx: sm_80 ptx70".
    target=$(sed -n 's|^// ptx: ||p' "$app/kernel.cu")
    arch=${target%% *} isa=${target##* }
    # shellcheck disable=SC2086 # flags are words
    (cd "$app" && "$clang" $flags --cuda-gpu-arch="${arch:-sm_70}" --cuda-feature=+"${isa:-ptx64}" -ffile-prefix-map="$PWD"=. -I../../include -S kernel.cu -o "$out/$app/kernel.ptx.tmp" &&
        mv "$out/$app/kernel.ptx.tmp" "$out/$app/kernel.ptx")
    echo "apps/$app/kernel.ptx"
done
[ $failed = 0 ] || exit 2
