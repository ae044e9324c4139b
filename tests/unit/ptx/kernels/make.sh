#!/bin/sh
# Compiles kernels.cu to PTX with CUDA 13.0's nvcc. Its text for compute_80 and compute_90 differs in the target alone.
set -eu
cd "$(dirname "$0")"
nvcc -ptx -arch=compute_75 kernels.cu -o kernels.ptx
