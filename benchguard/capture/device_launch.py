"""Finds kernels that launch graphs from the device, because such a graph may outlive the end event.

A kernel that launches kernels ends when those have ended (CUDA Programming Guide, "Dynamic Parallelism"), so they are
timed. A graph launched from the device as a sibling runs on after its launcher ("Device Graph Launch"). The driver
binds such a call by the function's name, which is therefore in the code as text. Code that cannot be unpacked could
contain the name, so it counts as a launcher.
"""

from __future__ import annotations

from .fatbin import packed_codes
from .reader import Capture
from .unpack import CodeError

NAMES = (b"cudaGraphLaunch", b"cnpGraphLaunch", b"GraphLaunchDevice")
UNPACKED_MAX = 4 << 30
"""Bytes of all code that the images of one capture may unpack to."""


def graph_launcher(capture: Capture) -> str:
    """Why kernels may launch graphs from the device; empty if they cannot. Raises CaptureError."""
    loaded = {
        module.image for module in capture.modules
    }  # a kernel can call code of another module by its address
    left = UNPACKED_MAX
    for index in sorted(loaded):
        image = capture.image(index)
        if name := _name_in(image):
            return _launches(name)
        try:
            for code in packed_codes(image, left):
                left -= len(code)
                name = _name_in(code)
                del code  # before the next is unpacked
                if name:
                    return _launches(name)
        except CodeError as error:
            return (
                f"code of an image cannot be unpacked, so it may launch graphs from the device: an entry {error}; "
                "load images that nvcc made"
            )
    return ""


def _name_in(code: bytes) -> str:
    return next((name.decode() for name in NAMES if name in code), "")


def _launches(name: str) -> str:
    return (
        f"a kernel launches graphs from the device ({name}), which may run on after the call; "
        "launch graphs from the host"
    )
