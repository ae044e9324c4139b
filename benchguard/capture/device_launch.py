"""Finds kernels that launch graphs from the device, because such a graph may outlive the end event.

A kernel that launches kernels ends when those have ended (CUDA Programming Guide, "Dynamic Parallelism"), so they are
timed. A graph launched from the device as a sibling runs on after its launcher ("Device Graph Launch"). The driver
binds such a call by the function's name, which is therefore in the code as text. Code that cannot be unpacked could
contain the name, so it counts as a launcher.
"""

from __future__ import annotations

from .fatbin import packed_codes
from .image_search import ImageSearch, Searched
from .reader import Capture
from .unpack import CodeError

NAMES = (b"cudaGraphLaunch", b"cnpGraphLaunch", b"GraphLaunchDevice")


def graph_launcher(capture: Capture) -> str:
    """Why kernels may launch graphs from the device; empty if they cannot. Raises CaptureError.

    A kernel can call code of another module by its address, so all modules are searched.
    """
    try:
        name = _SEARCH.first(capture)
    except CodeError as error:
        return (
            f"code of an image cannot be unpacked, so it may launch graphs from the device: an entry {error}; "
            "load images that nvcc made"
        )
    return _launches(name) if name else ""


def _search(image: bytes, left: int) -> Searched:
    name, unpacked = _name_in(image), 0
    if not name:
        for code in packed_codes(image, left):
            unpacked += len(code)
            name = _name_in(code)
            del code  # before the next is unpacked
            if name:
                break
    return Searched(name, unpacked)


_SEARCH = ImageSearch(_search)


def _name_in(code: bytes) -> str:
    return next((name.decode() for name in NAMES if name in code), "")


def _launches(name: str) -> str:
    return (
        f"a kernel launches graphs from the device ({name}), which may run on after the call; "
        "launch graphs from the host"
    )
