"""Shared libraries that contain device code, as nvcc makes them."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import lz4.block

from benchguard.capture.device_code import kernel_codes
from benchguard.capture.fatbin import LZ4, MAGIC
from tests.conftest import ROOT

KIT_PTX = (ROOT / "tests/attacks/kit/kernels.ptx").read_bytes()


def code_of(image: bytes, name: str) -> str:
    """The digest of a kernel."""
    (found,) = kernel_codes(image, {name})
    return found.sha256


def library_of(path: Path, ptx: bytes) -> Path:
    """A shared library with PTX in a compressed fat binary, behind the empty one that nvcc's start code has."""
    packed = lz4.block.compress(ptx, store_size=False)
    padded = packed.ljust(-(-len(packed) // 8) * 8, b"\0")
    head = struct.pack("<HHIQI", 1, 1, 64, len(padded), len(packed)).ljust(40, b"\0")
    body = head + struct.pack("<QQQ", LZ4, 0, len(ptx)) + padded
    image = path.with_suffix(".fatbin")
    image.write_bytes(struct.pack("<IHHQIHHQ", MAGIC, 1, 16, 0, MAGIC, 1, 16, len(body)) + body)
    source = f'.section .nv_fatbin,"a"\n.balign 8\n.incbin "{image}"\n.section .note.GNU-stack,"",@progbits\n'
    words = [os.environ.get("CC", "cc"), "-shared", "-nostdlib", "-x", "assembler", "-", "-o", str(path)]
    subprocess.run(words, input=source.encode(), check=True)
    image.unlink()
    return path
