#!/bin/sh
# Compiles kernels.cu and variables.cu to one image of each kind with CUDA 13.0's nvcc.
set -eu
cd "$(dirname "$0")"
nvcc -cubin -arch=sm_90 kernels.cu -o sm_90.cubin
nvcc -cubin -arch=sm_75 kernels.cu -o sm_75.cubin
nvcc -ptx -arch=compute_75 kernels.cu -o compute_75.ptx
nvcc -fatbin -gencode=arch=compute_90,code=[sm_90,compute_90] kernels.cu -o default.fatbin
nvcc -fatbin --no-compress -gencode=arch=compute_75,code=[sm_75,compute_75] kernels.cu -o plain.fatbin
nvcc -fatbin --compress-mode=size -gencode=arch=compute_90,code=[sm_90,compute_90] kernels.cu -o size.fatbin
nvcc -fatbin --compress-mode=speed -gencode=arch=compute_90,code=[sm_90,compute_90] kernels.cu -o speed.fatbin
for mode in speed size; do
    nvcc -fatbin --compress-mode=$mode -gencode=arch=compute_90,code=[sm_90,compute_90] \
        -gencode=arch=compute_80,code=sm_80 variables.cu -o variables_$mode.fatbin
done
nvcc -cubin -arch=sm_90 variables.cu -o variables.cubin
nvcc -ptx -arch=compute_90 variables.cu -o variables.ptx
nvcc -cubin -lineinfo -arch=sm_90 kernels.cu -o lineinfo.cubin
nvcc -fatbin -lineinfo -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 kernels.cu -o lineinfo.fatbin
