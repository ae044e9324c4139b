#!/bin/sh
# Compile the code objects with Debian bookworm's clang 15 and clang 19 (packages clang-15, lld-15, clang-19, lld-19,
# clang-tools-19). Needs neither a GPU nor ROCm. Arguments: the paths of both compilers.
set -e
cd "$(dirname "$0")"
old=${1:-/usr/lib/llvm-15/bin} new=${2:-/usr/lib/llvm-19/bin}
flags='-x hip -O2 -nogpuinc -nogpulib -fuse-cuid=none'
device='--cuda-device-only --no-gpu-bundle-output'
bundled='--cuda-device-only --gpu-bundle-output'

PATH=$old:$PATH "$old/clang++" $flags --offload-arch=gfx90a:xnack- $device kernels.hip -o gfx90a.hsaco
PATH=$new:$PATH
clang++ $flags --offload-arch=gfx1100 $device kernels.hip -o gfx1100.hsaco
clang++ $flags --offload-arch=gfx90a $device variables.hip -o variables.hsaco
clang++ $flags --offload-arch=gfx90a:xnack+ --offload-arch=gfx90a:xnack- --offload-arch=gfx1100 $bundled \
    kernels.hip -o bundle.hipfb
clang++ $flags --offload-arch=gfx90a:xnack- --offload-arch=gfx1100 $bundled --offload-compress \
    kernels.hip -o compressed.hipfb
clang++ $flags --offload-arch=gfx1100 -fno-gpu-rdc -fPIC -c kernels.hip -o embedded.o
chmod -x ./*.hsaco
