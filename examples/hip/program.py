"""Equalise a grey picture through HIP: the example of examples/replay, its very kernels compiled by hiprtc.

neutrino-bench record -o equalise.ncap --driver hip-sim -- python program.py [--size PIXELS]
"""

from __future__ import annotations

import argparse
import ctypes
import sys
from pathlib import Path

import numpy as np
from hip import Hip, HipError

import benchguard

REPLAY = Path(__file__).resolve().parents[1] / "replay"
sys.path.append(str(REPLAY))
from equalise import equalise, make_picture  # noqa: E402 - the picture and the answer are the other example's

LEVELS = 256
BLOCK = 256


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--size", type=int, default=256, metavar="PIXELS", help="length of a side (default: 256)"
    )
    options = parser.parse_args()
    if not 1 <= options.size <= 8192:
        parser.error(f"--size {options.size}: give 1 to 8192")
    try:
        wrong, pixels = run(options.size)
    except HipError as error:
        print(f"program: {error}", file=sys.stderr)
        return 1
    print(f"{wrong} of {pixels} pixels differ from numpy's")
    return int(wrong > 0)


def run(size: int) -> tuple[int, int]:
    """The number of wrong pixels and of all pixels."""
    hip = Hip()
    source = "#include <hip/hip_runtime.h>\n" + (REPLAY / "equalise.cu").read_text()
    count_levels, equalise_kernel = hip.kernels(
        hip.compile(source, "equalise.hip"), "count_levels", "equalise"
    )
    picture = make_picture(size, seed=0)
    pixels = picture.size
    buffers, counts, result = (hip.allocate(each) for each in (pixels, 4 * LEVELS, pixels))
    hip.upload(buffers, picture)
    grid = -(-pixels // BLOCK)
    address, count = ctypes.c_void_p, ctypes.c_int

    with benchguard.region(
        "equalise", inputs={"picture": (buffers, pixels)}, outputs={"result": (result, pixels)}
    ):
        hip.call("hipMemsetD32Async", address(counts), 0, ctypes.c_size_t(LEVELS), None)
        hip.launch(count_levels, grid, BLOCK, address(buffers), address(counts), count(pixels))
        hip.launch(
            equalise_kernel, grid, BLOCK, address(buffers), address(counts), address(result), count(pixels)
        )

    answer = np.empty(pixels, np.uint8)
    hip.download(answer, result)
    return int(np.count_nonzero(answer != equalise(picture).ravel())), pixels


if __name__ == "__main__":
    sys.exit(main())
