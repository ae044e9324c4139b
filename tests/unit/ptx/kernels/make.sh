#!/bin/sh
# Compiles kernels.cu to PTX for three targets with CUDA 13.0's nvcc.
set -eu
cd "$(dirname "$0")"
for target in 75 80 90; do
    nvcc -ptx -arch=compute_$target kernels.cu -o kernels_$target.ptx
done
