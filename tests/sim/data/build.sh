#!/bin/sh -e
# Makes the images beside it; they were made with nvcc 13.0.88.
cd "$(dirname "$0")"
ptx() { echo "-gencode arch=compute_$1,code=compute_$1"; }
for mode in none speed size balance; do
    nvcc -fatbin $(ptx 90) --compress-mode=$mode store.cu -o $mode.fatbin
done
nvcc -fatbin $(ptx 80) $(ptx 90) $(ptx 90a) $(ptx 120) -gencode arch=compute_90,code=sm_90 --compress-mode=size \
    store.cu -o targets.fatbin
nvcc -fatbin -gencode arch=compute_90,code=sm_90 --compress-mode=size store.cu -o machine.fatbin
nvcc -fatbin -gencode arch=compute_90,code=lto_90 store.cu -o lto.fatbin
nvcc -fatbin $(ptx 120) store.cu -o newer.fatbin
nvcc -fatbin -rdc=true $(ptx 90) caller.cu -o caller.fatbin
nvcc -fatbin -rdc=true $(ptx 90) callee.cu -o callee.fatbin
nvcc -ptx -rdc=true -arch=compute_90 caller.cu -o caller.ptx
nvcc -ptx -rdc=true -arch=compute_90 callee.cu -o callee.ptx
