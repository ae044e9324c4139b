"""Compile CUDA C++ with nvcc, or with NVRTC if nvcc is missing. Both run in the submission's sandbox."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...ipc.text import one_line
from ...shim.nvrtc import NAMES, nvrtc_files, packages, toolkits
from .reporting import SubmissionError
from .source import Flags

_ERROR = re.compile(r"\b(error|fatal)\b", re.IGNORECASE)
_LINK_ERROR = re.compile(r"cannot find -l|undefined reference to|multiple definition of")
"""Lines of the linker that say more than the line with "error" after them."""

_NO_HOST_COMPILER = re.compile(
    r"host compiler|cannot execute.*cc1plus|\b(gcc|g\+\+|cc|c\+\+|clang): (command )?(not found|No such file)",
    re.IGNORECASE,
)
NO_HOST_COMPILER = "nvcc finds no working host compiler"
NO_NVCC = "nvcc is neither on PATH nor in /usr/local/cuda/bin"
NO_NVRTC = "neither nvcc nor NVRTC was found"
"""Causes that lie in the machine, in messages and events (quarantine/lacking.py)."""

_NO_HEADER = re.compile(r'fatal error: (.+): No such file|(?:could not|cannot) open source file "(.+)"')
_OF_TORCH = ("torch/", "ATen/", "c10/", "pybind11/")

DRIVER = "libcuda.so.1"

_SHELL = re.compile(r"[^\w .+%:,@/-]")
"""Characters that nvcc's shell may read in a file's name. nvcc puts names in double quotes."""

RELAXED = "--expt-relaxed-constexpr"
"""Without it, nvcc refuses sqrt(2) in device code, because libstdc++'s sqrt of integers is a host function. torch's
load_inline and kernelbot compile with it."""

_OURS = ("LD_PRELOAD", "NEUTRINO_", "NVCC_", "SIM_")
"""Prefixes of variables that a compiler does not need, or that add options to it."""


def find_nvcc() -> Path | None:
    for place in _places():
        if place.is_file() and os.access(place, os.X_OK):
            return place
    return None


def _places() -> Iterator[Path]:
    on_path = shutil.which("nvcc")
    if on_path is not None:
        yield Path(on_path)
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            yield Path(home) / "bin" / "nvcc"


class Compilation:
    """A run of nvcc, which goes on while this process does other work."""

    def __init__(self, command: Sequence[str], given: Path, source: Path, output: Path, folder: Path) -> None:
        """Raises SubmissionError if nvcc cannot be started. `source`: the file `given`, or a copy (_readable)."""
        self._given, self._source, self._output = given, source, output
        self._log = b""
        self.ended = 0.0
        """The time of the monotonic clock at which nvcc had ended, after finish()."""
        self._process = _spawn(command, folder)
        # A thread reads what nvcc writes: more than a pipe holds would stop nvcc until finish().
        self._reader = threading.Thread(target=self._read, name="nvcc", daemon=True)
        self._reader.start()

    def finish(self) -> Path:
        """Wait for nvcc, and return the file that it wrote. Raises SubmissionError with the first error."""
        self._reader.join()
        status, log = self._process.wait(), self._log.decode(errors="replace")
        if status == 0 and self._output.is_file():
            return self._output
        if _NO_HOST_COMPILER.search(log):
            raise SubmissionError(
                f"{NO_HOST_COMPILER}; install g++, or name one with -ccbin", log, lacks=NO_HOST_COMPILER
            )
        text = first_error(log, self._source) or f"nvcc ended with status {status}"
        raise SubmissionError(text + _remedy(log, self._given), log)

    def _read(self) -> None:
        self._log, _ = self._process.communicate()
        self.ended = time.monotonic()


def compile_library(
    nvcc: Path, source: Path, arch: str, flags: Flags, scratch: Path, machine_code: bool = True
) -> Path:
    """As start_library(), and wait for nvcc. Raises SubmissionError."""
    return start_library(nvcc, source, arch, flags, scratch, machine_code).finish()


def start_library(
    nvcc: Path, source: Path, arch: str, flags: Flags, scratch: Path, machine_code: bool = True
) -> Compilation:
    """Begin to make a shared library with PTX and, with `machine_code`, machine code for `arch`.

    Raises SubmissionError if nvcc cannot be started.

    The CUDA runtime is linked dynamically, so that the loader finds the version that suits the driver.
    """
    output = scratch / f"{_stem(source)}.so"
    virtual = arch.replace("sm_", "compute_")
    code = f"[{arch},{virtual}]" if machine_code else virtual
    words = [
        "-shared", "-Xcompiler", "-fPIC", "--cudart=shared", f"-gencode=arch={virtual},code={code}",
        *_run_paths(nvcc, source),
    ]  # fmt: skip
    return _start(nvcc, [*words, *flags.link, *_driver_path(scratch)], source, flags, output, scratch)


def _driver_path(scratch: Path) -> list[str]:
    """An option for -lcuda: the driver that this process uses. Some toolkits have no stub of it."""
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
        driver = Path(folder, DRIVER)
        if driver.is_file():
            link = scratch / "driver" / DRIVER.removesuffix(".1")
            link.parent.mkdir(exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(driver)
            return [f"-L{link.parent}"]
    return []


def compile_ptx(nvcc: Path, source: Path, arch: str, flags: Flags, scratch: Path) -> bytes:
    """As start_ptx(), and wait for nvcc. Raises SubmissionError."""
    return start_ptx(nvcc, source, arch, flags, scratch).finish().read_bytes()


def start_ptx(nvcc: Path, source: Path, arch: str, flags: Flags, scratch: Path) -> Compilation:
    """Begin to compile to PTX. Raises SubmissionError if nvcc cannot be started."""
    output = scratch / f"{_stem(source)}.ptx"
    words = ["--ptx", f"-arch={arch.replace('sm_', 'compute_')}"]
    return _start(nvcc, words, source, flags, output, scratch)


def _start(
    nvcc: Path, words: Sequence[str], source: Path, flags: Flags, output: Path, scratch: Path
) -> Compilation:
    standard = () if flags.has_standard else ("-std=c++17",)
    optimise = () if any(each.startswith("-O") for each in flags.nvcc) else ("-O3",)
    options = [*optimise, *standard, RELAXED, *words, *flags.compile, *flags.nvcc]
    command = [str(nvcc), *options, f"-I{source.parent}"]
    readable = _readable(source, scratch)
    return Compilation(
        [*command, "-x", "cu", str(readable), "-o", str(output)], source, readable, output, scratch
    )


def _stem(source: Path) -> str:
    return "submission" if _SHELL.search(source.name) else source.stem


def _readable(source: Path, scratch: Path) -> Path:
    """A path that nvcc reads as it is: the source, or a copy. nvcc follows links, and uses the name of their target."""
    if not _SHELL.search(source.name):
        return source
    copy = scratch / f"{_stem(source)}.cu"
    copy.write_bytes(source.read_bytes())
    return copy


def first_error(output: str, source: Path) -> str | None:
    """The first line of a compiler's or linker's output that names an error, without folders."""
    lines = output.splitlines()
    line = next((line for line in lines if _ERROR.search(line) or _LINK_ERROR.search(line)), None)
    return None if line is None else one_line(line.replace(f"{source.parent}{os.sep}", ""))


def _remedy(output: str, source: Path) -> str:
    """Advice on a header that the file includes and the compiler did not find; empty if no header is missing."""
    missing = _NO_HEADER.search(output)
    header = (missing[1] or missing[2]) if missing else ""
    text = source.read_text(errors="replace")
    included = re.search(rf'^\s*#\s*include\s*(["<]){re.escape(header)}[">]', text, re.MULTILINE)
    if not header or included is None:
        return ""
    if header.startswith(_OF_TORCH):
        return (
            f"; a {source.suffix} file is compiled without torch: leave its headers out, or submit a .py file that "
            "compiles this one with torch.utils.cpp_extension"
        )
    if included[1] == "<":
        return "; the CUDA toolkit here has no such header: leave it out, or have it installed"
    if ".." in Path(header).parts:
        return "; a submission has no files above its own: submit a folder with the header beside this file"
    if len(list(source.parent.iterdir())) == 1:
        return f"; the submission is this file alone: submit a folder that has {header}, too"
    return ""


def _run_paths(nvcc: Path, source: Path) -> list[str]:
    """Linker options for the toolkit's libraries, which the loader searches after LD_LIBRARY_PATH.

    A dry run of nvcc prints the toolkit's folder.
    """
    output, _ = _spawn([str(nvcc), "--dryrun", "-x", "cu", str(source)], source.parent).communicate()
    top = re.search(r"^#\$ TOP=(.+)$", output.decode(errors="replace"), re.MULTILINE)
    if top is None:
        return []
    folders = [Path(top[1].strip()).resolve() / name for name in ("lib64", "lib", "targets/x86_64-linux/lib")]
    options = [f"-Xlinker=-rpath={folder}" for folder in folders if folder.is_dir()]
    return [
        "-Xlinker=--enable-new-dtags",
        *options,
        *(f"-L{folder}/stubs" for folder in folders if folder.is_dir()),
    ]


def compiler_environment() -> dict[str, str]:
    """The variables of this process that a compiler may have."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


def _spawn(command: Sequence[str], folder: Path) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=compiler_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        raise SubmissionError(f"cannot run {command[0]}: {error.strerror}") from error


def find_nvrtc() -> ctypes.CDLL | None:
    """NVRTC from the loader's path, a toolkit, or the package nvidia-cuda-nvrtc."""
    for place in (*NAMES, *map(str, nvrtc_files())):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def compile_kernels(nvrtc: ctypes.CDLL, source: Path, arch: str, flags: Flags) -> bytes:
    """Compile to PTX, which ends with a zero byte. Raises SubmissionError."""
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
            compiler_log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            log = compiler_log.rstrip(b"\0").decode(errors="replace")
            text = first_error(log, source) or f"NVRTC returned error {status}"
            raise SubmissionError(text + _remedy(log, source), log)
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
    """The headers of the first complete toolkit; otherwise those of the packages."""
    folders = [home / "include" for home in (*toolkits(), *packages())]
    whole = [folder for folder in folders if (folder / "crt" / "mma.h").is_file()]
    some = [folder for folder in folders if (folder / "cuda_fp16.h").is_file()]
    include = (whole or some)[:1]
    return [*include, *(folder / "cccl" for folder in include if (folder / "cccl").is_dir())]
