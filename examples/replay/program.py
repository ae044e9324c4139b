"""Equalise a grey picture on the driver that this process finds: a memset and two kernels, in a named region.

neutrino-bench record -o equalise.ncap -- python program.py [--size PIXELS]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from equalise import equalise, make_picture

import benchguard

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

    device = Device()
    device.set_current()
    stream = device.create_stream()
    source = (Path(__file__).parent / "equalise.cu").read_text()
    module = Program(source, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("ptx")
    count_levels, equalise_kernel = module.get_kernel("count_levels"), module.get_kernel("equalise")

    picture = make_picture(options.size, seed=0)
    pixels = picture.size
    buffers, counts, result = (device.allocate(size, stream=stream) for size in (pixels, 4 * LEVELS, pixels))
    driver.cuMemcpyHtoDAsync(buffers.handle, picture.ctypes.data, pixels, stream.handle)
    config = LaunchConfig(grid=-(-pixels // BLOCK), block=BLOCK)
    stream.sync()

    inputs = {"picture": (int(buffers.handle), pixels)}
    outputs = {"result": (int(result.handle), pixels)}
    with benchguard.region("equalise", inputs=inputs, outputs=outputs):
        driver.cuMemsetD32Async(counts.handle, 0, LEVELS, stream.handle)
        launch(stream, config, count_levels, buffers, counts, np.int32(pixels))
        launch(stream, config, equalise_kernel, buffers, counts, result, np.int32(pixels))

    answer = np.empty(pixels, np.uint8)
    driver.cuMemcpyDtoHAsync(answer.ctypes.data, result.handle, pixels, stream.handle)
    stream.sync()
    wrong = int(np.count_nonzero(answer != equalise(picture).ravel()))
    print(f"{wrong} of {pixels} pixels differ from numpy's")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
