"""NVRTC, where there is no nvcc: it compiles kernels, and nothing of the host's."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

from ...shim.nvrtc import NAMES, nvrtc_files, packages, toolkits
from .failure import SubmissionError
from .flags import Flags
from .nvcc import first_error


def find_nvrtc() -> ctypes.CDLL | None:
    """As the loader, a toolkit or the package nvidia-cuda-nvrtc has it."""
    for place in (*NAMES, *map(str, nvrtc_files())):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def compile_kernels(nvrtc: ctypes.CDLL, source: Path, arch: str, flags: Flags) -> bytes:
    """PTX, ended by a zero byte. Raises SubmissionError."""
    folders = [source.parent, *_includes()]
    options = [f"--gpu-architecture={arch.replace('sm_', 'compute_')}", *flags.compile]
    options += [] if flags.has_standard else ["--std=c++17"]
    options += [f"--include-path={folder}" for folder in folders]
    program = ctypes.c_void_p()
    status = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None
    )
    if status == 0:
        words = [option.encode() for option in options]
        status = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    try:
        if status != 0:
            said = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            log = said.rstrip(b"\0").decode(errors="replace")
            raise SubmissionError(first_error(log, source) or f"NVRTC returned error {status}", log)
        return _text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(size_of: Callable[..., int], read: Callable[..., int], program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(size.value, 1))
    read(program, text)
    return text.raw


def _includes() -> list[Path]:
    """The first whole toolkit's headers; else those of the packages."""
    folders = [home / "include" for home in (*toolkits(), *packages())]
    whole = [folder for folder in folders if (folder / "crt" / "mma.h").is_file()]
    some = [folder for folder in folders if (folder / "cuda_fp16.h").is_file()]
    chosen = (whole or some)[:1]
    return [*chosen, *(folder / "cccl" for folder in chosen if (folder / "cccl").is_dir())]
