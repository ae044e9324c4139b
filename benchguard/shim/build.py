"""The shim of one driver: generated, compiled once, kept in the user's cache."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from benchguard.codegen.errors import CodegenError

from ..toolchain.cache_folder import cache_folder
from ..toolchain.compiler import Compiler, Library, compile_library, find_compiler
from ..toolchain.errors import ShimError
from ..toolchain.paths import GENERIC_SHIM, GENERIC_SURFACE, SOURCE
from ..toolchain.sources import fingerprint, hip_shim_library, shim_library
from .driver import Driver
from .tools import Tools, find_tools, remembered_compiler

_SURFACE = "surface.json"
_FOLDERS = (SOURCE / "hook",)


@dataclass(frozen=True)
class Gap:
    """How the generic shim differs from the driver, and why the driver has no shim of its own."""

    reason: str
    missing: tuple[str, ...]
    """Exports of the driver that the shim lacks: a program that looks them up finds nothing."""
    extra: tuple[str, ...]
    """Exports of the shim that the driver lacks: they answer "not supported"."""


@dataclass(frozen=True)
class Shim:
    path: Path
    surface_path: Path
    built: bool
    """Whether it was compiled just now, rather than found."""
    gap: Gap | None = None
    """None for a shim made for this very driver."""


class _ExportName(msgspec.Struct):
    name: str


class _Surface(msgspec.Struct):
    exports: list[_ExportName]


def shim_for(
    driver: Driver, *, sanitize: str | None = None, environment: Mapping[str, str] | None = None
) -> Shim:
    """The shim for a driver: from the cache, else built, else the packaged generic one with its gap.

    Two processes may do this at once: each builds in a folder of its own, and the first to rename it wins. There is
    no generic one for HIP, whose exports have versions that only the driver itself tells.
    Raises ShimError if our own sources do not compile, or if not even the generic shim is there.
    """
    environment = os.environ if environment is None else environment
    name = driver.vendor.shim_name(driver.soname)

    def place(compiler: Callable[[], Compiler]) -> tuple[Tools, Path]:
        tools = find_tools(driver.path, driver.soname, driver.vendor, environment, compiler)
        return tools, cache_folder("shim", environment) / _key(driver, tools, sanitize)

    try:
        # The folder may be in an image, with a root that is read-only.
        for compiler in (partial(remembered_compiler, environment), find_compiler):
            tools, folder = place(compiler)
            if _is_complete(folder, name):
                return Shim(folder / name, folder / _SURFACE, built=False)
        _make(folder.parent)
    except (ShimError, CodegenError) as error:
        if driver.api == "hip":
            raise ShimError(f"cannot build a shim for the HIP driver {driver.path}: {error}") from error
        return _generic(driver, str(error))
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        compile_library(tools.compiler, _prepare(driver, tools, scratch), scratch / name, scratch, sanitize)
        _publish(scratch, folder, name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Shim(folder / name, folder / _SURFACE, built=True)


def _prepare(driver: Driver, tools: Tools, folder: Path) -> Library:
    """Generate the driver's sources into a folder; what to compile with them."""
    # Imported here, so that a run with a cached shim does not load the C parser.
    from benchguard.codegen.emit import emit_shim  # noqa: PLC0415
    from benchguard.codegen.generate import hip_surface, shim_surface, write_files  # noqa: PLC0415

    try:
        if tools.hip_headers is None:
            write_files(emit_shim(shim_surface(tools.headers, driver.exports)), folder)
            return shim_library(folder, tools.headers, driver.soname)
        write_files(emit_shim(hip_surface(tools.hip_headers, tools.headers, driver.exports)), folder)
        return hip_shim_library(folder, tools.headers, tools.hip_headers, driver.soname)
    except CodegenError as error:
        raise ShimError(str(error)) from error


def _publish(scratch: Path, folder: Path, name: str) -> None:
    """Give the finished folder its name. If another process was first, its result is as good as ours."""
    try:
        scratch.rename(folder)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY) or not _is_complete(folder, name):
            raise ShimError(f"{folder}: {error.strerror}; remove it and run again") from error


def _is_complete(folder: Path, name: str) -> bool:
    return (folder / name).is_file() and (folder / _SURFACE).is_file()


def _key(driver: Driver, tools: Tools, sanitize: str | None) -> str:
    identity = driver.build_id or ""
    if not re.fullmatch(r"[0-9a-f]{16,64}", identity):
        identity = _sha256(driver.path)
    extra = [
        sanitize or "",
        driver.soname,
        *driver.exports.names,
        *(f"{n}@{v}" for n, v in driver.exports.version_of),
    ]
    made_of = fingerprint(tools.compiler, tools.headers, _FOLDERS, extra, tools.hip_headers)
    return f"{identity}-{made_of}"


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ShimError(
            f"{folder}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    if not os.access(folder, os.W_OK):
        raise ShimError(f"{folder}: cannot be written; set XDG_CACHE_HOME to a folder that can be")


def _generic(driver: Driver, reason: str) -> Shim:
    try:
        surface = msgspec.json.decode(GENERIC_SURFACE.read_bytes(), type=_Surface)
    except (OSError, msgspec.MsgspecError) as error:
        raise ShimError(
            f"{reason} (and the packaged generic shim is not there: {GENERIC_SURFACE})"
        ) from error
    ours = [export.name for export in surface.exports]
    theirs = set(driver.exports.names)
    gap = Gap(
        reason,
        tuple(name for name in driver.exports.names if name not in set(ours)),
        tuple(name for name in ours if name not in theirs),
    )
    return Shim(GENERIC_SHIM, GENERIC_SURFACE, built=False, gap=gap)
