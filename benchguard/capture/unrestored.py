"""Finds memory that a replay cannot restore between samples: by what the images contain, not by what the capture lists.

The engine restores every global whose name is in an image. It cannot restore the heap of `malloc` in kernels, which no
call empties, and memory that has no name outside of the code: a variable inside a function of PTX, bytes of a cubin's
data sections that no symbol covers, bytes between aligned globals of PTX. A kernel may keep results there, so the time
of such code is that of the one-use inputs.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from .cubin_data import PADDING_MAX, CubinError, unnamed_bytes
from .fatbin import all_entries, readable
from .image_search import ImageSearch, Searched
from .layout import Vendor
from .reader import Capture
from .unpack import CodeError

_FUNCTIONS = (
    rb"(malloc|__nv_aligned_device_malloc"
    rb"|(?:__cudaCDP2|cuda|cnp)(?:Malloc|GetParameterBuffer(?:V2)?)(?:_ptsz)?)"
)
"""Functions by which kernels take memory from the heap, or for the arguments of kernels that they launch. Code that
calls one has its name, which is cudaMalloc's in the device runtime of CUDA 11, and __cudaCDP2Malloc since CUDA 12."""

HEAP = re.compile(rb"(?<![\w$.])" + _FUNCTIONS + rb"(?![\w$.])")

_HEAP_SYMBOL = re.compile(_FUNCTIONS + rb"\0")
"""The same in a table of symbols, where a name may be the end of a longer one."""

_ELF = b"\x7fELF"
_SCOPED = re.compile(rb"[{}]|(?<![\w$.])(?:\d[\w$]*)?\.(?:global|const)(?![\w$])")
"""A number may stand in front of a declaration without a space: `.loc` ends without a semicolon. No instruction begins
with a digit."""
_ALIGN = re.compile(rb"(\.(?:shared|local|param|ptr[ \t]*\.\w+)[ \t]*)?\.align(?![\w$])[ \t\r\n]*(\w*)")
"""An alignment, and before it on its line the space of memory other than a global's."""
_COMMON_ALIGNMENT = 16
"""Up to this alignment a global of PTX leaves no more unnamed memory than compilers do."""
_MARKS = re.compile(rb"/(?=[/*])|\"")


def unrestored(capture: Capture) -> str:
    """Why a kernel may keep something from sample to sample; empty if no memory is known that it could use.

    Raises CaptureError.
    """
    if capture.device.vendor is Vendor.HIP:
        return "AMD's code is not searched for memory that kernels may keep and that is not restored"
    try:
        return _SEARCH.first(capture)
    except (CodeError, CubinError, struct.error) as error:
        return f"code that cannot be read may keep data in memory that is not restored ({error})"


def _search(image: bytes, left: int) -> Searched:
    unpacked = 0
    for code in _codes(image, left):
        unpacked += len(code)
        if reason := _reason(code):
            return Searched(reason, unpacked)
    return Searched("", unpacked)


_SEARCH = ImageSearch(_search)


def _codes(image: bytes, left: int) -> Iterator[bytes]:
    found = all_entries(image)
    if not found:
        yield image
        return
    if sum(entry.raw_bytes if entry.method else entry.stored for entry in found) > left:
        raise CodeError("is too large")
    for entry in found:
        yield readable(entry, image)


def _reason(code: bytes) -> str:
    is_elf = code.startswith(_ELF)
    is_named = b"alloc" in code or b"GetParameterBuffer" in code
    found = (_HEAP_SYMBOL if is_elf else HEAP).search(code) if is_named else None
    if found:
        return f"a kernel may keep data in the device's heap ({found[1].decode()}), which cannot be restored"
    if is_elf:
        size = unnamed_bytes(code)
        what = f"{size} bytes of global memory that no symbol covers" if size else ""
    elif _has_scoped_variable(code):
        what = "a variable inside a function of PTX"
    else:
        what = "memory between aligned globals of PTX" if _has_padding(code) else ""
    return f"a kernel may keep data in {what}, which cannot be restored" if what else ""


def _has_scoped_variable(text: bytes) -> bool:
    """Whether `.global` or `.const` may declare a variable between braces.

    Comments and strings are not left out, because another reader might see them elsewhere: at worst the time is that of
    the one-use inputs. So a closing brace in a comment or a string ends nothing, and variables may be anywhere.
    """
    words = list(_SCOPED.finditer(text))
    if all(word[0] in b"{}" for word in words):
        return False
    depth = 0
    for word in words:
        if word[0] == b"{":
            depth += 1
        elif word[0] == b"}":
            depth = max(0, depth - 1)
        elif depth > 0:
            return True
    return _closes_in_comment(text)


def _has_padding(text: bytes) -> bool:
    """Whether globals with large alignments may leave more than PADDING_MAX bytes between them."""
    padding = 0
    for found in _ALIGN.finditer(text):
        if found[1]:
            continue
        number = found[2]
        alignment = int(number) if number.isdigit() and len(number) < 4 else PADDING_MAX + 2
        padding += alignment - 1 if alignment > _COMMON_ALIGNMENT else 0
    return padding > PADDING_MAX


def _closes_in_comment(text: bytes) -> bool:
    """Whether a closing brace is in what some reader may take for a comment or a string."""
    for mark in _MARKS.finditer(text):
        end = text.find(b"*/" if text.startswith(b"/*", mark.start()) else b"\n", mark.end() + 1)
        if text.find(b"}", mark.end(), end if end >= 0 else len(text)) >= 0:
            return True
    return False
