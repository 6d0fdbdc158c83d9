#!/bin/sh
# Compiles cuda/*.cu to clang/<variant>/*.ptx: optimisation levels, targets, fast math,
# 32-bit shared pointers, with and without line tables. PTX is committed; clang-19 is
# needed only here (the applications' ptx.sh says how to install it).
set -eu
cd "$(dirname "$0")/cuda"
clang=${CLANG:-clang-19}
command -v "$clang" >/dev/null 2>&1 || { echo "ptx.sh: $clang not found: apt-get install clang-19" >&2; exit 2; }

build() { # variant, flags...
    variant=$1
    shift
    mkdir -p "../clang/$variant"
    for f in *.cu; do
        "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib -std=c++14 -fno-builtin -ffp-contract=off -fno-ident \
            -fdebug-compilation-dir=. -ffile-prefix-map="$PWD"=. -Wall -Wextra -Wno-unknown-cuda-version \
            -I../../../../apps/include "$@" -S "$f" -o "../clang/$variant/${f%.cu}.ptx"
    done
}
build O2-sm70 -O2 --cuda-gpu-arch=sm_70 --cuda-feature=+ptx64 -gline-tables-only
build O0-sm70 -O0 --cuda-gpu-arch=sm_70 --cuda-feature=+ptx64
build O2-sm90 -O2 --cuda-gpu-arch=sm_90 --cuda-feature=+ptx80
build O0-sm90 -O0 --cuda-gpu-arch=sm_90 --cuda-feature=+ptx80 -gline-tables-only
build O3-fast -O3 --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70 -ffast-math -fgpu-flush-denormals-to-zero -ffp-contract=fast
build O1-short -O1 --cuda-gpu-arch=sm_70 --cuda-feature=+ptx64 -fcuda-short-ptr -mllvm --nvptx-short-ptr
