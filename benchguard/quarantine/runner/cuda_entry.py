"""Submissions in CUDA C++ or PTX: compile and load them, and bind their entry to a case."""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...problem.spec import Argument, Buffer, CaseSpec
from ..contract import Convention, Order
from .compilers import (
    NO_NVCC,
    NO_NVRTC,
    Compilation,
    compile_kernels,
    find_nvcc,
    find_nvrtc,
    start_library,
    start_ptx,
)
from .driver import Driver
from .entry import Call, Entry, c_value, ordered
from .launch import shape_of
from .memory import CaseMemory
from .reporting import Reporter, SubmissionError
from .signature import misfit, parameters_of, spelled, written_parameters
from .source import NAMES_SHOWN, directive, flags_of, kernel_of, ptx_entry


def cuda_driver() -> Driver:
    """The driver for load_cuda(). nvcc needs no context, so it is made while nvcc runs."""
    return Driver(context=find_nvcc() is None)


def load_cuda(order: Order, driver: Driver, reporter: Reporter) -> Entry:
    """`driver` is that of cuda_driver(). Raises SubmissionError with the compiler's first error."""
    path, scratch = Path(order.submission), Path(order.confine.scratch)
    source = path.read_text(errors="replace")
    flags = flags_of(directive(source, "nvcc")).including(order.beside)
    arch = order.arch or driver.arch
    kernel, nvcc = kernel_of(source, order.entry), find_nvcc()
    if kernel is None:
        if nvcc is None:
            raise SubmissionError(
                f"{order.entry} of {path.name} is a host function, which only nvcc compiles, and {NO_NVCC}; "
                f"install it, or make {order.entry} a __global__ function",
                lacks=NO_NVCC,
            )
        started = start_library(nvcc, path, arch, flags, scratch, order.machine_code)
        library = _finish(started, driver, reporter, _import_elf_reader)
        return LibraryEntry(library, order.entry, path.name, order.convention, source)
    if nvcc is not None:
        ptx = _finish(start_ptx(nvcc, path, arch, flags, scratch), driver, reporter).read_bytes()
    else:
        nvrtc = find_nvrtc()
        if nvrtc is None:
            raise SubmissionError(
                f"cannot compile {path.name}: {NO_NVRTC}; "
                "install a CUDA toolkit, or the package nvidia-cuda-nvrtc",
                lacks=NO_NVRTC,
            )
        ptx = compile_kernels(nvrtc, path, arch, flags)
    name = ptx_entry(ptx, kernel, path.name)
    return KernelEntry(driver, ptx, name, path.name, directive(source, "launch"), order.convention)


def _finish(
    started: Compilation, driver: Driver, reporter: Reporter, prepare: Callable[[], None] = lambda: None
) -> Path:
    """Make the driver's context and prepare the loading while nvcc runs, then wait for nvcc. Raises SubmissionError."""
    began = time.monotonic()
    driver.make_context()
    ready = time.monotonic()
    prepare()
    output = started.finish()
    reporter.overlapped("driver", ready - began, max(0.0, ready - started.ended))
    return output


def load_ptx(order: Order, driver: Driver) -> Entry:
    """Raises SubmissionError with the driver's first error."""
    path = Path(order.submission)
    ptx = path.read_bytes()
    name = ptx_entry(ptx, order.entry, path.name)
    line = directive(ptx.decode(errors="replace"), "launch")
    return KernelEntry(driver, ptx, name, path.name, line, order.convention)


class KernelEntry:
    def __init__(
        self, driver: Driver, ptx: bytes, name: str, file: str, directive: str | None, convention: Convention
    ) -> None:
        self._driver, self._directive, self._convention = driver, directive, convention
        self._name, self._file = name, file
        self._module = driver.load(ptx if ptx.endswith(b"\0") else ptx + b"\0", file)
        self._function = driver.function(self._module, name)

    def bind(self, case: CaseSpec, memory: CaseMemory, _init: tuple[Any, ...] = (), /) -> Call:
        driver, function = self._driver, self._function
        arguments = ordered(case, self._convention)
        values = [
            ctypes.c_uint64(memory.arrays[each.name].data_ptr())
            if isinstance(each, Buffer)
            else c_value(each)
            for each in arguments
        ]
        self._check(values, ", ".join(each.name for each in arguments))
        shape = shape_of(self._directive, case)
        driver.allow_shared(function, shape.shared)

        def call() -> None:
            driver.launch(function, shape.grid, shape.block, shape.shared, values)

        return call

    def _check(self, values: list[ctypes._SimpleCData[int]], names: str) -> None:
        """Compare sizes: the driver reads one value per parameter of the kernel, even if fewer are passed."""
        parameter_bytes = self._driver.parameter_bytes(self._function)
        sizes = [ctypes.sizeof(each) for each in values]
        if parameter_bytes is None or parameter_bytes == sizes:
            return
        what = f"kernel {self._name} of {self._file}"
        if len(parameter_bytes) != len(sizes):
            raise SubmissionError(
                f"{what} has {len(parameter_bytes)} parameters; the problem gives {len(sizes)}: {names}"
            )
        raise SubmissionError(
            f"{what} has parameters of {parameter_bytes} bytes; the problem gives {sizes}: {names}"
        )


RUNTIME = "libcudart.so.13"


class LibraryEntry:
    """A host function. Raises SubmissionError if the library cannot be loaded or does not export the entry."""

    def __init__(self, library: Path, entry: str, file: str, convention: Convention, source: str) -> None:
        self._convention = convention
        _load_runtime()
        try:
            loaded = ctypes.CDLL(str(library))
        except OSError as error:
            reason = str(error).removeprefix(f"{library}: ")
            raise SubmissionError(f"{file} was compiled but cannot be loaded: {reason}") from error
        names = _exported(library)
        symbols = _symbols_of(names, entry)
        if len(symbols) != 1:
            count = "no" if not symbols else f"{len(symbols)} functions named"
            plain = [each for each in names if not each.startswith("_") and each != "main"]
            others = [] if symbols else plain[:NAMES_SHOWN]
            advice = f'; write extern "C" void {entry}(...), as the starter code has it'
            if others:
                advice = f", only {', '.join(others)}: rename it, or pass --entry {others[0]}"
            raise SubmissionError(f"{file} exports {count} {entry}{advice}")
        is_c = symbols[0] == entry
        self._what = f"{entry} of {file}"
        self._parameters = written_parameters(source, entry) if is_c else parameters_of(symbols[0], entry)
        self._function: Any = loaded[symbols[0]]
        self._function.restype = None

    def bind(self, case: CaseSpec, memory: CaseMemory, _init: tuple[Any, ...] = (), /) -> Call:
        function = self._function

        def value(each: Argument) -> Any:
            if not isinstance(each, Buffer):
                return c_value(each)
            if each.on_host:
                return (ctypes.c_char * each.bytes).from_buffer(memory.on_host(each.name))
            return ctypes.c_void_p(memory.arrays[each.name].data_ptr())

        arguments = ordered(case, self._convention)
        if self._parameters is not None and misfit(self._parameters, arguments):
            raise SubmissionError(
                f"{self._what} has the parameters ({', '.join(self._parameters)}); "
                f"the problem gives {spelled(arguments)}"
            )
        values = [value(each) for each in arguments]
        return lambda: function(*values)


def _import_elf_reader() -> None:
    """Import what _symbols_of() needs. It takes longer than all other imports of the runner."""
    import elftools.elf.elffile  # noqa: PLC0415
    import elftools.elf.sections  # noqa: F401, PLC0415


def _exported(library: Path) -> list[str]:
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415
    from elftools.elf.sections import SymbolTableSection  # noqa: PLC0415

    with library.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)  # every shared library has one
        functions = [each for each in table.iter_symbols() if each["st_info"]["type"] == "STT_FUNC"]
        return [each.name for each in functions if each["st_shndx"] != "SHN_UNDEF"]


def _symbols_of(names: list[str], entry: str) -> list[str]:
    """The exported function `entry`, or the C++ functions of this name: people leave out extern "C"."""
    mangled = re.compile(rf"_Z{len(entry)}{re.escape(entry)}\w*", re.ASCII)
    return [entry] if entry in names else [each for each in names if mangled.fullmatch(each)]


def _load_runtime() -> None:
    """Load the CUDA runtime that comes with the CPU driver, so that submissions' libraries use it."""
    driver = os.environ.get("NEUTRINO_DRIVER")
    if not driver:
        return
    with suppress(
        OSError
    ):  # none is there, as beside a GPU's driver: the library says itself where its own is
        ctypes.CDLL(str(Path(driver).with_name(RUNTIME)))
