#!/bin/sh
# Compiles each .cu of this folder to .ptx with clang 19, no CUDA toolkit (apt-get install clang-19).
# hotspot, sgemm, lud, mri-q and backprop are those of apps/, which a test compares.
set -eu
cd "$(dirname "$0")"
out=${OUT:-.}
for f in *.cu; do
    arch=sm_70
    case $f in mma80.cu) arch=sm_80 ;; esac
    clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=$arch --cuda-feature=+ptx70 -nocudainc -nocudalib -std=c++14 -O2 \
        -fno-builtin -ffp-contract=fast -fno-ident -Wall -Wno-unknown-cuda-version -I ../../../apps/include -S "$f" -o "$out/${f%.cu}.ptx"
done
