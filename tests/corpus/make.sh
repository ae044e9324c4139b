#!/bin/sh
# Compiles kernels/*.cu to ptx/NAME_TARGETS.ptx with CUDA 13.0's nvcc: optimised for three targets, and four families
# also unoptimised with debugging symbols (NAME_90g). Prints the total size.
set -eu
cd "$(dirname "$0")"
here=$PWD

# Debugging symbols contain the path of the source: always compile in the same folder.
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
        nvcc -ptx -O3 -arch=compute_"$target" "$source" -o "${name}_$target.ptx"
    done
    # Texts that differ in their target alone are kept once, in a file whose name lists the targets.
    merged=""
    for target in $targets; do
        case " $merged " in *" $target "*) continue ;; esac
        listed=$target
        for other in $targets; do
            [ "$other" -gt "$target" ] || continue
            if sed "s/^\.target sm_$other/.target sm_$target/" "${name}_$other.ptx" | cmp -s - "${name}_$target.ptx"; then
                listed=${listed}_$other merged="$merged $other"
            fi
        done
        cp "${name}_$target.ptx" "$here/ptx/${name}_$listed.ptx"
    done
done
for name in calls divergence reduction spaces; do
    nvcc -ptx -G -O0 -arch=compute_90 "$name.cu" -o "$here/ptx/${name}_90g.ptx"
done
du -bc "$here"/ptx/*.ptx | tail -1
