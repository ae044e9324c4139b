#!/bin/sh
# Compiles kernels.cu to PTX with CUDA 13.0's nvcc. -fmad=false: a bound is rounded as the judge rounds it. The text is
# labelled with the oldest version of PTX that has all of it, so that drivers for CUDA 12 take it; ptxas checks that.
set -eu
cd "$(dirname "$0")"
for target in 80 90; do
    nvcc -I.. -ptx -std=c++17 -fmad=false -arch=compute_$target kernels.cu -o kernels_$target.ptx
    sed -i 's/^\.version .*/.version 7.8/' kernels_$target.ptx
    ptxas -arch=sm_$target kernels_$target.ptx -o /dev/null
done
