"""Compile a kernel source with NVRTC, through ctypes."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


class NvrtcError(Exception):
    """A failed compilation; the message is the compiler's log."""


@cache
def library() -> ctypes.CDLL | None:
    """Load NVRTC from the system or from the package nvidia-cuda-nvrtc."""
    for place in ("libnvrtc.so.13", "libnvrtc.so.12", *map(str, _packaged())):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def _packaged() -> list[Path]:
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(each) for each in spec.submodule_search_locations or ()] if spec else []
    return [result for folder in folders for result in folder.glob("*/lib/libnvrtc.so.1?")]


@cache
def includes() -> tuple[Path, ...]:
    """Include folders of a complete toolkit: nvidia-cuda-nvrtc lacks the headers of wmma and libcu++."""
    homes = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    folders = [home / "include" for home in (*homes, Path("/usr/local/cuda"))]
    folders += [result.parents[1] / "include" for result in _packaged()]
    whole = [folder for folder in folders if (folder / "crt" / "mma.h").is_file()]
    chosen = (whole or [folder for folder in folders if (folder / "cuda_fp16.h").is_file()])[:1]
    return (*chosen, *(folder / "cccl" for folder in chosen))


@cache
def compile_source(family: str, target: int) -> bytes:
    """Compile a source to PTX, terminated by a zero byte."""
    source = HERE / "kernels" / f"{family}.cu"
    return compile_text(source.read_bytes(), source.name, target)


def compile_text(source: bytes, name: str, target: int) -> bytes:
    """Compile a source to PTX, terminated by a zero byte."""
    nvrtc = library()
    if nvrtc is None:
        raise NvrtcError("NVRTC is not installed")
    options = [f"--gpu-architecture=compute_{target}", "--std=c++17", "--device-int128"]
    options += [f"--include-path={folder}" for folder in includes()]
    encoded = [option.encode() for option in options]
    program = ctypes.c_void_p()
    status = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, None, None)
    if status == 0:
        status = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
        if status != 0:
            raise NvrtcError(_text(nvrtc, "nvrtcGetProgramLog", program).decode(errors="replace"))
        return _text(nvrtc, "nvrtcGetPTX", program)
    raise NvrtcError(f"nvrtcCreateProgram returned {status}")


def _text(nvrtc: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, what)(program, buffer)
    return buffer.raw
