#!/bin/sh
# Compiles kernels.cu to one image of each kind with CUDA 13.0's nvcc.
set -eu
cd "$(dirname "$0")"
nvcc -cubin -arch=sm_90 kernels.cu -o sm_90.cubin
nvcc -cubin -arch=sm_75 kernels.cu -o sm_75.cubin
nvcc -ptx -arch=compute_75 kernels.cu -o compute_75.ptx
nvcc -fatbin -gencode=arch=compute_90,code=[sm_90,compute_90] kernels.cu -o default.fatbin
nvcc -fatbin --no-compress -gencode=arch=compute_75,code=[sm_75,compute_75] kernels.cu -o plain.fatbin
nvcc -fatbin --compress-mode=size -gencode=arch=compute_90,code=[sm_90,compute_90] kernels.cu -o size.fatbin
nvcc -fatbin --compress-mode=speed -gencode=arch=compute_90,code=[sm_90,compute_90] kernels.cu -o speed.fatbin
