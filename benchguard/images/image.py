"""Entries of code images, and the kernels of each entry. Images are hostile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..capture import fatbin
from ..capture.bundle import COMPRESSED_MAGIC
from ..capture.bundle import MAGIC as BUNDLE_MAGIC
from ..capture.code_object import code_objects
from ..capture.unpack import CodeError
from .kernels import CUBIN, Kernel, cubin_kernels, cubin_target, ptx_kernels, ptx_target

IMAGE_MAX = 2 << 30
PTX_MAX = 256 << 20
"""Bytes of one PTX text that is searched for kernels."""

UNPACKED_MAX = 4 << 30
"""Bytes of all entries of an image together."""


@dataclass(frozen=True)
class Code:
    """One entry: code for one target. `problem` says why its kernels are not known; it is empty if they are."""

    format: str
    target: str
    compression: str
    stored_bytes: int
    raw_bytes: int
    kernels: tuple[Kernel, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class CodeImage:
    sha256: str
    format: str
    bytes: int
    codes: tuple[Code, ...]
    problem: str = ""


def format_of(image: bytes) -> str:
    """`fatbin`, `cubin`, `code_object`, `offload_bundle`, `compressed_bundle`, `ptx`, `elf` or `unknown`."""
    if image[:4] == fatbin.MAGIC.to_bytes(4, "little"):
        return "fatbin"
    if image.startswith(CUBIN):
        machine = int.from_bytes(image[18:20], "little")
        return {190: "cubin", 224: "code_object"}.get(machine, "elf")
    if image.startswith(BUNDLE_MAGIC):
        return "offload_bundle"
    if image.startswith(COMPRESSED_MAGIC):
        return "compressed_bundle"
    return "ptx" if b".version" in image[: 1 << 16] and b"\0" not in image[:256].rstrip(b"\0") else "unknown"


def read_image(image: bytes) -> CodeImage:
    """Read all entries of an image."""
    kind, problem = format_of(image), ""
    codes: tuple[Code, ...] = ()
    try:
        if kind in ("code_object", "offload_bundle", "compressed_bundle"):
            codes = _amd(image)
        else:
            codes = tuple(code for code, _ in codes_of(image))
    except CodeError as error:
        problem = f"the image {error}"
    return CodeImage(hashlib.sha256(image).hexdigest(), kind, len(image), codes, problem)


def codes_of(image: bytes) -> Iterator[tuple[Code, bytes]]:
    """The entries of NVIDIA's images, with their unpacked bytes (none if unpacking failed). Raises CodeError."""
    kind = format_of(image)
    if kind == "ptx":
        yield _ptx(image, "", len(image)), image
    elif kind == "cubin":
        yield _cubin(image, "", len(image), ""), image
    elif kind == "fatbin":
        found = list(fatbin.entries(image))
        if sum(entry.raw_bytes for entry in found if entry.method is not None) > UNPACKED_MAX:
            raise CodeError(f"unpacks to more than {UNPACKED_MAX} bytes")
        for entry in found:
            yield _entry(entry, image)


def _entry(entry: fatbin.Entry, image: bytes) -> tuple[Code, bytes]:
    compression = entry.method.name.lower() if entry.method is not None else ""
    target, kind = f"sm_{entry.architecture}", fatbin.KINDS.get(entry.kind, f"kind {entry.kind}")
    if entry.kind not in (fatbin.PTX, fatbin.ELF):  # LTO IR is compressed in a way of its own
        return Code(kind, target, "", entry.stored, entry.stored), image[
            entry.begin : entry.begin + entry.stored
        ]
    try:
        raw = entry.code(image)
    except CodeError as error:
        return Code(
            kind, target, compression, entry.stored, entry.raw_bytes, problem=f"the entry {error}"
        ), b""
    if entry.kind == fatbin.PTX:
        return _ptx(raw, compression, entry.stored, f"compute_{entry.architecture}"), raw
    return _cubin(raw, compression, entry.stored, target), raw


def _ptx(raw: bytes, compression: str, stored: int, target: str = "") -> Code:
    if len(raw) > PTX_MAX:
        return Code(
            "ptx",
            target,
            compression,
            stored,
            len(raw),
            problem=f"PTX of more than {PTX_MAX} bytes is not read",
        )
    text = raw.decode("utf-8", "replace")
    named = ptx_target(text).replace("sm_", "compute_")
    return Code("ptx", named or target, compression, stored, len(raw), ptx_kernels(text))


def _cubin(raw: bytes, compression: str, stored: int, target: str) -> Code:
    named = cubin_target(raw) or target
    try:
        return Code("cubin", named, compression, stored, len(raw), cubin_kernels(raw))
    except ValueError as error:
        return Code("cubin", named, compression, stored, len(raw), problem=str(error))


def _amd(image: bytes) -> tuple[Code, ...]:
    return tuple(
        Code(
            "code_object",
            each.target,
            "",
            0,
            0,
            tuple(
                Kernel(
                    kernel.name,
                    kernel.parameters,
                    kernel.vector_registers,
                    kernel.shared_bytes,
                    kernel.local_bytes,
                    kernel.max_threads,
                )
                for kernel in each.kernels
            ),
            each.problem,
        )
        for each in code_objects(image)
    )
