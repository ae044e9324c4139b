"""Searches the code of a capture's images, each image once in a process: the captures of a submission share them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .reader import Capture

UNPACKED_MAX = 4 << 30
"""Bytes of all code that the images of one capture may unpack to."""


@dataclass(frozen=True)
class Searched:
    """`reason` is empty if nothing was found. `unpacked` counts the bytes of code that was decompressed."""

    reason: str
    unpacked: int


@dataclass(frozen=True)
class ImageSearch:
    """`search` gets an image, and how many bytes of code it may unpack.

    Results are kept by the SHA-256 of the image that the capture states. The engine compares it with the bytes, and
    replays no capture that states a false one (engine/replay/capture/elements.c).
    """

    search: Callable[[bytes, int], Searched]
    _known: dict[str, Searched] = field(default_factory=dict)

    def first(self, capture: Capture) -> str:
        """The reason of the first image of a module that has one; empty if none has.

        Raises CaptureError, and what `search` raises.
        """
        left = UNPACKED_MAX
        for index in sorted({module.image for module in capture.modules}):
            key = capture.images[index].sha256
            found = self._known.get(key)
            if found is None or found.unpacked > left:
                found = self._known[key] = self.search(capture.image(index), left)
            if found.reason:
                return found.reason
            left -= found.unpacked
        return ""
