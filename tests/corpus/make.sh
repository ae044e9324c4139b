#!/bin/sh
# Compiles kernels/*.cu to ptx/NAME_TARGET.ptx with CUDA 13.0's nvcc: optimised for three targets, and what of it is
# instructive unoptimised with debugging symbols too (NAME_90g). Prints the total size.
set -eu
cd "$(dirname "$0")"
here=$PWD

# Debugging symbols name the folder, so everybody compiles in the same one.
work=/tmp/neutrino-corpus
rm -rf "$work" && mkdir -p "$work" && trap 'rm -rf "$work"' EXIT
cp kernels/*.cu "$work" && cd "$work"

for source in *.cu; do
    name=$(basename "$source" .cu)
    targets="75 80 90"
    case $name in
    mathf | mathd) targets="75 90" ;; # long, and the same text for 80
    tensor_double) targets="80 90" ;; # nothing older has it
    esac
    for target in $targets; do
        nvcc -ptx -O3 -arch=compute_"$target" "$source" -o "$here/ptx/${name}_$target.ptx"
    done
done
for name in calls divergence reduction spaces; do
    nvcc -ptx -G -O0 -arch=compute_90 "$name.cu" -o "$here/ptx/${name}_90g.ptx"
done
du -bc "$here"/ptx/*.ptx | tail -1
