"""Find cuda.h and cudaTypedefs.h on this machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import CodegenError
from .vendor import CUDA, Vendor

_VERSION = re.compile(rb"^\s*#\s*define\s+CUDA_VERSION\s+(\d+)\s*$", re.MULTILINE)
_NO_HEADERS = (
    "no cuda.h with cudaTypedefs.h found: install the wheel nvidia-cuda-runtime, or a CUDA toolkit "
    "and point CUDA_HOME at it"
)
_WHEELS = ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")


@dataclass(frozen=True)
class Headers:
    """A folder that holds a vendor's headers, the version they give themselves, and whose they are."""

    folder: Path
    version: int
    origin: str
    vendor: Vendor = CUDA


def find_headers(environment: Mapping[str, str] | None = None, minimum: int = 0) -> Headers:
    """The headers of the CUDA toolkit if there is one, else of the nvidia-cuda-runtime wheel.

    Headers older than `minimum` (a CUDA_VERSION) are passed over. Raises CodegenError if none are left.
    """
    old = []
    for headers in _all_headers(environment):  # in this order, because a wheel takes longer to find
        if headers.version >= minimum:
            return headers
        old.append(headers)
    if not old:
        raise CodegenError(_NO_HEADERS)
    raise CodegenError(
        f"{old[0].origin}: its cuda.h {old[0].version} is too old, {minimum} is needed: "
        "install the wheel nvidia-cuda-runtime"
    )


def newest_headers(environment: Mapping[str, str] | None = None) -> Headers:
    """The newest headers on this machine: for what is built once, to run on any driver.

    Raises CodegenError if no headers are found.
    """
    newest = max(_all_headers(environment), key=lambda headers: headers.version, default=None)
    if newest is None:
        raise CodegenError(_NO_HEADERS)
    return newest


def headers_in(folder: Path, origin: str | None = None) -> Headers:
    """The headers in a folder. Raises CodegenError if cuda.h is missing or has no version."""
    path = folder / "cuda.h"
    try:
        match = _VERSION.search(path.read_bytes())
    except OSError as error:
        raise CodegenError(f"{path}: {error.strerror}; name a folder that holds cuda.h") from error
    if match is None:
        raise CodegenError(f"{path}: defines no CUDA_VERSION; name a folder that holds CUDA's own cuda.h")
    return Headers(folder, int(match[1]), origin or f"folder {folder}")


def _all_headers(environment: Mapping[str, str] | None) -> Iterator[Headers]:
    """Best first."""
    for folder, origin in _candidates(os.environ if environment is None else environment):
        if (folder / "cuda.h").is_file() and (folder / "cudaTypedefs.h").is_file():
            yield headers_in(folder, origin)


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for root in _toolkits(environment):
        for below in ("include", "targets/x86_64-linux/include"):
            yield root / below, f"toolkit {root}"
    for name in _WHEELS:
        yield from _wheel(name)


def _toolkits(environment: Mapping[str, str]) -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if environment.get(variable):
            yield Path(environment[variable])
    compiler = shutil.which("nvcc", path=environment.get("PATH", os.defpath))
    if compiler:
        yield Path(compiler).resolve().parent.parent
    yield Path("/usr/local/cuda")


def _wheel(name: str) -> Iterator[tuple[Path, str]]:
    import importlib.metadata  # noqa: PLC0415 - it takes 10 ms to import, and a toolkit is found without it

    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return
    for file in distribution.files or ():
        if file.name == "cuda.h":
            yield Path(str(distribution.locate_file(file))).parent, f"wheel {name} {distribution.version}"
