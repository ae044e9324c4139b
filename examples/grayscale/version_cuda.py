"""CUDA C++: grayscale.cu, compiled by NVRTC and launched through cuda.core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from picture import Pixels

BLOCK = (16, 16)


def run(picture: Pixels) -> tuple[Pixels, str, str]:
    """Return the grey picture, the device name and the kernel name."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    source = (Path(__file__).parent / "grayscale.cu").read_text()
    program = Program(source, "c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile(code_type()).get_kernel("grayscale")

    height, width = picture.shape[:2]
    grey = np.zeros((height, width), np.uint8)
    rgb_on_device = device.allocate(picture.nbytes, stream=stream)
    grey_on_device = device.allocate(grey.nbytes, stream=stream)
    check(driver.cuMemcpyHtoDAsync(rgb_on_device.handle, picture.ctypes.data, picture.nbytes, stream.handle))
    grid = (-(-width // BLOCK[0]), -(-height // BLOCK[1]))
    arguments = (rgb_on_device, grey_on_device, np.int32(width), np.int32(height))
    launch(stream, LaunchConfig(grid=grid, block=BLOCK), kernel, *arguments)
    check(driver.cuMemcpyDtoHAsync(grey.ctypes.data, grey_on_device.handle, grey.nbytes, stream.handle))
    stream.sync()
    return grey, device.name, "grayscale"


def code_type() -> str:
    """Compile to PTX if the driver is new enough for this NVRTC's PTX, else to machine code."""
    major, minor = check(nvrtc.nvrtcVersion())
    (newest,) = check(driver.cuDriverGetVersion())
    return "ptx" if 1000 * major + 10 * minor <= newest else "cubin"


def check(answer: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results of a call of cuda.bindings, without its status. Raises RuntimeError if the call failed."""
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"the driver returned {status.name}")
    return tuple(values)
