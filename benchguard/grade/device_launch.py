"""Finds kernels that launch graphs from the device, because such a graph may outlive the end event.

A kernel that launches kernels ends when those have ended (CUDA Programming Guide, "Dynamic Parallelism"), so they are
timed. A graph launched from the device as a sibling runs on after its launcher ("Device Graph Launch"). The driver
binds such a call by the function's name, which is therefore in the code as text. An image that cannot be unpacked
cannot be loaded either.
"""

from __future__ import annotations

from ..capture import Capture
from ..capture.fatbin import packed_codes

NAMES = (b"cudaGraphLaunch", b"cnpGraphLaunch", b"GraphLaunchDevice")


def graph_launcher(capture: Capture) -> str:
    """The device function by which a kernel's image launches graphs; empty if none does. Raises CaptureError."""
    used = {capture.modules[kernel.module].image for kernel in capture.kernels}
    for index in sorted(used):
        image = capture.image(index)
        for code in (image, *packed_codes(image)):
            launcher = next((name for name in NAMES if name in code), None)
            if launcher is not None:
                return launcher.decode()
    return ""
