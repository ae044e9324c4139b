"""The compiler and the headers that a shim is built with."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchguard.codegen.headers import Headers, find_headers
from benchguard.codegen.hip import HipHeaders, find_hip_headers, hip_headers_in
from benchguard.codegen.preprocess import compiler_command

from ..toolchain.compiler import Compiler, find_compiler
from ..toolchain.errors import ShimError
from ..toolchain.sources import HEADERS_MINIMUM
from .remembered import remembered
from .vendors import Vendor


@dataclass(frozen=True)
class Tools:
    """A shim for HIP needs both vendors' headers."""

    compiler: Compiler
    headers: Headers
    hip_headers: HipHeaders | None


def find_tools(
    library: Path,
    soname: str,
    vendor: Vendor,
    environment: Mapping[str, str],
    compiler: Callable[[], Compiler] = find_compiler,
) -> Tools:
    """Find the tools for the shim of one driver library. Raises ShimError, CodegenError."""
    return Tools(
        compiler(),
        find_headers(environment, HEADERS_MINIMUM),
        _find_hip_headers(library, soname, vendor, environment) if vendor.api == "hip" else None,
    )


def remembered_compiler(environment: Mapping[str, str]) -> Compiler:
    """As find_compiler(), but the version may be what an earlier run of the same program printed.

    A program that starts another compiler may be the same while that compiler is a new one. So this is good enough to
    find a shim that exists, and not to build one. Raises ShimError, CodegenError.
    """
    command = compiler_command()
    program = Path(shutil.which(command[0]) or command[0]).resolve()
    return remembered("compiler", command, (program,), Compiler, find_compiler, environment)


def _find_hip_headers(
    library: Path, soname: str, vendor: Vendor, environment: Mapping[str, str]
) -> HipHeaders:
    """Prefer the headers installed with the driver: structures change from one HIP release to the next."""
    folders = [root / "include" for root in library.parents[1:3]]  # of lib/ or lib/x86_64-linux-gnu/
    own = next((folder for folder in folders if (folder / vendor.headers.header).is_file()), None)
    headers = (
        find_hip_headers(environment) if own is None else hip_headers_in(own, f"{own}, the driver's own")
    )
    ours = headers.vendor.release(headers.version).partition(".")[0]
    theirs = soname.rpartition(".so.")[2].partition(".")[0]
    if theirs.isdigit() and theirs != ours:
        raise ShimError(
            f"the driver is HIP {theirs} but the headers of {headers.origin} are HIP {ours}; "
            f"install HIP {theirs}'s headers (ROCm: hip-dev, Debian: libamdhip64-dev) and point ROCM_PATH at them"
        )
    return headers
