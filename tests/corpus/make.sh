#!/bin/sh
# Compiles kernels/*.cu to ptx/NAME_TARGET.ptx with CUDA 13.0's nvcc: optimised for three targets, and what of it is
# instructive unoptimised with debugging symbols too (NAME_90g). Prints the total size.
set -eu
cd "$(dirname "$0")"
for source in kernels/*.cu; do
    name=$(basename "$source" .cu)
    targets="75 80 90"
    case $name in mathf | mathd) targets="75 90" ;; esac # long, and the same text for 80
    for target in $targets; do
        nvcc -ptx -O3 -arch=compute_$target "$source" -o "ptx/${name}_$target.ptx"
    done
done
for name in calls divergence reduction spaces; do
    nvcc -ptx -G -O0 -arch=compute_90 "kernels/$name.cu" -o "ptx/${name}_90g.ptx"
done
du -bc ptx/*.ptx | tail -1
