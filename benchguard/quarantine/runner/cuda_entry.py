"""A submission in CUDA C++ or PTX: compiled here, if need be, and loaded."""

from __future__ import annotations

from pathlib import Path

from ..contract import Order
from .driver import Driver
from .entry import Entry
from .failure import SubmissionError
from .flags import flags_of
from .kernel_entry import KernelEntry
from .library_entry import LibraryEntry
from .nvcc import compile_library, compile_ptx, find_nvcc
from .nvrtc import compile_kernels, find_nvrtc
from .source_text import directive, kernel_of, ptx_entry


def load_cuda(order: Order, driver: Driver) -> Entry:
    """Raises SubmissionError, with a compiler's first error."""
    path, scratch = Path(order.submission), Path(order.confine.scratch)
    source = path.read_text(errors="replace")
    flags = flags_of(directive(source, "nvcc"))
    arch = order.arch or driver.arch
    kernel, nvcc = kernel_of(source, order.entry), find_nvcc()
    if kernel is None:
        if nvcc is None:
            raise SubmissionError(
                f"{order.entry} of {path.name} is a function of the host, and to compile it takes nvcc, which is "
                f"neither on PATH nor in /usr/local/cuda/bin; install it, or make {order.entry} a __global__ function"
            )
        library = compile_library(nvcc, path, arch, flags, scratch)
        return LibraryEntry(library, order.entry, path.name, order.convention)
    if nvcc is not None:
        ptx = compile_ptx(nvcc, path, arch, flags, scratch)
    else:
        nvrtc = find_nvrtc()
        if nvrtc is None:
            raise SubmissionError(
                f"to compile {path.name} takes nvcc or NVRTC, and neither is there; "
                "install a CUDA toolkit, or the package nvidia-cuda-nvrtc"
            )
        ptx = compile_kernels(nvrtc, path, arch, flags)
    name = ptx_entry(ptx, kernel, path.name)
    return KernelEntry(driver, ptx, name, path.name, directive(source, "launch"), order.convention)


def load_ptx(order: Order, driver: Driver) -> Entry:
    """Raises SubmissionError, with the driver's first error."""
    path = Path(order.submission)
    ptx = path.read_bytes()
    name = ptx_entry(ptx, order.entry, path.name)
    said = directive(ptx.decode(errors="replace"), "launch")
    return KernelEntry(driver, ptx, name, path.name, said, order.convention)
