"""Build what the package ships: python -m benchguard.toolchain.native [--out FOLDER] [PART...]; the parts are in PARTS.

Runs when the package is built and from build.py. Each library is made again only if something that goes
into it has changed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchguard.codegen.emit import emit_shim
from benchguard.codegen.emit.sim import emit_sim
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.generate import generic_surface, hip_sim_files, write_files
from benchguard.codegen.headers import Headers, newest_headers
from benchguard.codegen.hip import HipHeaders, find_hip_headers
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.vendor import HIP

from .abi import write_abi
from .compiler import SANITIZERS, Compiler, Library, compile_library, find_compiler
from .errors import ShimError
from .paths import (
    ENGINE,
    HIP_BRIDGE_SONAME,
    HIP_SONAME,
    INLINE_ENGINE,
    INLINE_SONAME,
    NATIVE,
    PRELOAD_SONAME,
    REPLAY_ABI,
    REPLAY_SONAME,
    RUNTIME_SONAME,
    SONAME,
    SOURCE,
)
from .sources import (
    fingerprint,
    hip_bridge_library,
    hip_sim_library,
    inline_library,
    preload_library,
    replay_library,
    runtime_library,
    shim_library,
    sim_library,
)

_STAMP = ".fingerprint"


def _shim(headers: Headers, scratch: Path) -> tuple[Library, ...]:
    write_files(emit_shim(generic_surface(headers)), scratch)
    return (shim_library(scratch, headers, SONAME),)


def _preload(headers: Headers, scratch: Path) -> tuple[Library, ...]:  # noqa: ARG001 - one signature for all
    return (preload_library(),)


def _sim(headers: Headers, scratch: Path) -> tuple[Library, ...]:
    write_files(emit_sim(parse_headers(headers)), scratch)
    return sim_library(scratch, headers), runtime_library(headers)


def _replay(headers: Headers, scratch: Path) -> tuple[Library, ...]:
    write_abi(ENGINE / "replay.h", scratch / REPLAY_ABI)
    return (replay_library(headers),)


def _inline(headers: Headers, scratch: Path) -> tuple[Library, ...]:  # noqa: ARG001 - one signature for all parts
    return (inline_library(headers),)


def _hip(headers: Headers, scratch: Path) -> tuple[Library, ...]:
    hip_headers = find_hip_headers()
    write_files(hip_sim_files(hip_headers, headers, SOURCE / "sim" / "hip"), scratch)
    return hip_sim_library(scratch, headers, hip_headers), hip_bridge_library(headers, hip_headers)


def _hip_headers() -> HipHeaders:
    """Raises CodegenError where there are none that sim/hip is written for."""
    headers = find_hip_headers()
    release = HIP.release(headers.version)
    if not release.startswith("5."):
        raise CodegenError(
            f"{headers.origin}: HIP {release}: the CPU driver's HIP face is of HIP 5, as Debian's libamdhip64-dev; "
            "point ROCM_PATH at one"
        )
    return headers


class _Part:
    """Libraries of one folder: which sources they depend on, and which files of their build are kept."""

    def __init__(
        self,
        prepare: Callable[[Headers, Path], tuple[Library, ...]],
        folders: tuple[Path, ...],
        products: tuple[str, ...],
        more_headers: Callable[[], Headers] | None = None,
    ) -> None:
        self.prepare = prepare
        self.folders = folders
        self.products = products
        self.more_headers = more_headers
        """Where it raises CodegenError, the part is left out."""


PARTS = {
    "shim": _Part(_shim, (SOURCE / "hook",), (SONAME, "surface.json")),
    "preload": _Part(_preload, (SOURCE / "preload", SOURCE / "hook" / "core"), (PRELOAD_SONAME,)),
    "sim": _Part(
        _sim, tuple(SOURCE / "sim" / part for part in ("driver", "ptx", "runtime")), (SONAME, RUNTIME_SONAME)
    ),
    "replay": _Part(_replay, (ENGINE, SOURCE / "hook" / "core"), (REPLAY_SONAME, REPLAY_ABI)),
    "inline": _Part(_inline, (INLINE_ENGINE,), (INLINE_SONAME,)),
    "hip": _Part(
        _hip, (SOURCE / "sim", SOURCE / "hook" / "hip"), (HIP_SONAME, HIP_BRIDGE_SONAME), _hip_headers
    ),
}


def build_native(
    names: Sequence[str] = tuple(PARTS), folder: Path = NATIVE, sanitize: str | None = None
) -> dict[str, bool]:
    """Build the named parts into `folder`/<name>/; for each, whether it had to be compiled.

    A part whose vendor's headers are not there is left out, with a line that says so. Raises ShimError where there is
    no compiler or other header, or a source does not compile.
    """
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise ShimError(f"no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    compiler = find_compiler()
    try:
        headers = newest_headers()
        possible = [name for name in names if _is_possible(name)]
        return {name: _build(name, compiler, headers, folder / name, sanitize) for name in possible}
    except CodegenError as error:
        raise ShimError(str(error)) from error


def _is_possible(name: str) -> bool:
    try:
        _more_headers(PARTS[name])
    except CodegenError as error:
        print(f"native: {name}: left out: {error}", file=sys.stderr)
        return False
    return True


def _more_headers(part: _Part) -> list[str]:
    """What of them goes into a fingerprint."""
    if part.more_headers is None:
        return []
    headers = part.more_headers()
    return [headers.origin, str(headers.version)]


def _build(name: str, compiler: Compiler, headers: Headers, folder: Path, sanitize: str | None) -> bool:
    part = PARTS[name]
    stamp = fingerprint(compiler, headers, part.folders, [sanitize or "", *_more_headers(part)])
    if all((folder / product).is_file() for product in part.products) and _read(folder / _STAMP) == stamp:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        for library in part.prepare(headers, scratch):
            compile_library(compiler, library, scratch / library.soname, scratch, sanitize)
        for product in part.products:  # renamed one by one: a program that has the old one mapped keeps it
            (scratch / product).rename(folder / product)
        (folder / _STAMP).write_text(stamp)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return True


def _read(path: Path) -> str | None:
    return path.read_text() if path.is_file() else None


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        built = build_native(options.parts or tuple(PARTS), options.out, options.sanitize)
    except ShimError as error:
        print(f"native: {error}", file=sys.stderr)
        return 1
    for name, compiled in built.items():
        print(f"{options.out / name}: {'built' if compiled else 'up to date'}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchguard.toolchain.native",
        description="Compile the libraries that the package ships; those that are up to date are left alone.",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--out", type=Path, default=NATIVE, metavar="FOLDER", help="default: the package's own folder"
    )
    parser.add_argument("--sanitize", metavar="NAME", help=" or ".join(SANITIZERS))
    return parser


if __name__ == "__main__":
    sys.exit(main())
