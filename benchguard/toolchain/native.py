"""Build what the package ships: python -m benchguard.toolchain.native [--out FOLDER] [PART...]; the parts are in PARTS.

Runs when the package is built and from build.py. Each library is made again only if something that goes
into it has changed.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from benchguard.codegen.emit import emit_shim
from benchguard.codegen.emit.sim import emit_sim
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.generate import generic_surface, hip_driver_files, hip_sim_files, write_files
from benchguard.codegen.headers import Headers, newest_headers
from benchguard.codegen.hip import HipHeaders, find_hip_headers
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.vendor import HIP

from .abi import write_abi
from .compiler import (
    SANITIZERS,
    Compiler,
    Library,
    find_compiler,
    link_library,
    start_compiling,
    units_of,
)
from .errors import ShimError
from .freshness import Sources, write_sources
from .objects import Objects, Unit, compiler_pool
from .paths import (
    ENGINE,
    HIP_BRIDGE_SONAME,
    HIP_SONAME,
    INLINE_ENGINE,
    INLINE_SONAME,
    NATIVE,
    PACKAGE,
    PRELOAD_SONAME,
    REPLAY_ABI,
    REPLAY_SONAME,
    RUNTIME_SONAME,
    SIM_NVRTC_SONAME,
    SONAME,
    SOURCE,
)
from .sources import (
    fingerprint,
    generator_fingerprint,
    hip_bridge_library,
    hip_sim_library,
    inline_library,
    preload_library,
    replay_library,
    runtime_library,
    shim_library,
    sim_library,
    sim_nvrtc_library,
)

_STAMP = ".fingerprint"


def _generate_shim(headers: Headers, folder: Path) -> None:
    write_files(emit_shim(generic_surface(headers)), folder)


def _generate_sim(headers: Headers, folder: Path) -> None:
    write_files(emit_sim(parse_headers(headers)), folder)


def _generate_hip(headers: Headers, folder: Path) -> None:
    hip_headers = find_hip_headers()
    write_files(hip_sim_files(hip_headers, headers, SOURCE / "sim" / "hip" / "exports.txt"), folder)
    write_files(hip_driver_files(hip_headers, headers), folder)


def _generate_abi(headers: Headers, folder: Path) -> None:  # noqa: ARG001 - one signature for all
    write_abi(ENGINE / "replay.h", folder / REPLAY_ABI)


def _hip_libraries(headers: Headers, generated: Path) -> tuple[Library, ...]:
    hip_headers = find_hip_headers()
    return hip_sim_library(generated, headers, hip_headers), hip_bridge_library(
        generated, headers, hip_headers
    )


def _hip_headers() -> HipHeaders:
    """Raises CodegenError if HIP's headers are missing or of a release that sim/hip does not serve."""
    headers = find_hip_headers()
    release = HIP.release(headers.version)
    if not release.startswith("5."):
        raise CodegenError(
            f"{headers.origin}: HIP {release}: the CPU driver's HIP face is of HIP 5, as Debian's libamdhip64-dev; "
            "point ROCM_PATH at one"
        )
    return headers


@dataclass(frozen=True)
class _Part:
    """Libraries that are built into one folder."""

    folders: tuple[Path, ...]
    """The C sources that the libraries are made of, headers included."""
    products: tuple[str, ...]
    libraries: Callable[[Headers, Path], tuple[Library, ...]]
    """The libraries, given CUDA's headers and the folder of the generated sources."""
    generate: Callable[[Headers, Path], None] | None = None
    generated_from: tuple[Path, ...] = ()
    """Files that the generator reads beside the headers and its own code."""
    more_headers: Callable[[], HipHeaders] | None = None
    """Raises CodegenError where they are missing; the part is then left out."""


PARTS = {
    "shim": _Part(
        (SOURCE / "hook",),
        (SONAME, "surface.json"),
        lambda headers, generated: (shim_library(generated, headers, SONAME),),
        _generate_shim,
    ),
    "preload": _Part(
        (SOURCE / "preload", SOURCE / "hook" / "core"), (PRELOAD_SONAME,), lambda *_: (preload_library(),)
    ),
    "sim": _Part(
        tuple(SOURCE / "sim" / part for part in ("driver", "ptx", "runtime", "nvrtc")),
        (SONAME, RUNTIME_SONAME, SIM_NVRTC_SONAME),
        lambda headers, generated: (
            sim_library(generated, headers),
            runtime_library(headers),
            sim_nvrtc_library(),
        ),
        _generate_sim,
    ),
    "replay": _Part(
        (ENGINE, SOURCE / "hook" / "core"),
        (REPLAY_SONAME, REPLAY_ABI),
        lambda headers, _: (replay_library(headers),),
        _generate_abi,
        (ENGINE / "replay.h", PACKAGE / "toolchain" / "abi.py"),
    ),
    "inline": _Part((INLINE_ENGINE,), (INLINE_SONAME,), lambda headers, _: (inline_library(headers),)),
    "hip": _Part(
        (SOURCE / "sim", SOURCE / "hook" / "hip"),
        (HIP_SONAME, HIP_BRIDGE_SONAME),
        _hip_libraries,
        _generate_hip,
        (SOURCE / "sim" / "hip" / "exports.txt",),
        _hip_headers,
    ),
}
GROUPS = {"engine": ("replay", "inline")}
"""Names for several parts."""


@dataclass(frozen=True)
class _Build:
    """One run: its tools, and where it reads and writes."""

    compiler: Compiler
    headers: Headers
    folder: Path
    """The products of a part lie in a folder here that has the part's name."""
    objects: Path
    """The folder of objects and generated sources."""
    sanitize: str | None

    def generated(self, name: str) -> Path:
        return self.objects / "generated" / name

    def libraries(self, name: str) -> tuple[Library, ...]:
        return PARTS[name].libraries(self.headers, self.generated(name))

    def units(self, name: str, library: Library) -> list[Unit]:
        return units_of(self.compiler, library, self.generated(name), self.sanitize)


def build_native(
    names: Sequence[str] = tuple(PARTS),
    folder: Path = NATIVE,
    sanitize: str | None = None,
    objects: Path | None = None,
    compile_commands: Path | None = None,
) -> dict[str, bool]:
    """Build the named parts into `folder`/<name>/; for each, whether it had to be compiled.

    Objects and generated sources stay in `objects`, and the next build uses them again; without it they are removed.
    The commands of every unit are written to `compile_commands`. A part whose vendor's headers are missing is left
    out, with a line on stderr. Raises ShimError if the compiler or another header is missing, or a source does not
    compile.
    """
    names = [part for name in names for part in GROUPS.get(name, (name,))]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise ShimError(f"no part {unknown[0]}; the parts are {', '.join([*PARTS, *GROUPS])}")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        _locked(objects) if objects else tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as work
    ):
        try:
            build = _Build(find_compiler(), newest_headers(), folder, Path(work).resolve(), sanitize)
            built = _build_parts(build, [name for name in names if _is_possible(name)])
            if compile_commands:
                _write_compile_commands(build, compile_commands)
        except CodegenError as error:
            raise ShimError(str(error)) from error
    return built


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _is_possible(name: str, quiet: bool = False) -> bool:
    try:
        _more_headers(PARTS[name])
    except CodegenError as error:
        if not quiet:
            print(f"native: {name}: left out: {error}", file=sys.stderr)
        return False
    return True


def _more_headers(part: _Part) -> list[str]:
    """The origin and version of the part's further headers, for the fingerprint."""
    if part.more_headers is None:
        return []
    headers = part.more_headers()
    return [headers.origin, str(headers.version)]


def _build_parts(build: _Build, names: Sequence[str]) -> dict[str, bool]:
    """Sources of the next part are generated while those of the last one compile.

    An edit while this runs leaves a fingerprint of the sources as they were before.
    """
    objects = Objects(build.objects, build.compiler.version)
    started: dict[str, list[tuple[Library, list[Future[Path]]]]] = {}
    stamps = {name: _stamp(build, name) for name in names}
    sources = {name: Sources.below(PARTS[name].folders) for name in names}
    with compiler_pool() as pool:
        for name in names:
            if _is_up_to_date(build, name, stamps[name]):
                continue
            _generate(build, name)
            started[name] = [
                (library, start_compiling(pool, objects, build.units(name, library)))
                for library in build.libraries(name)
            ]
        for name, libraries in started.items():
            for library, compiling in libraries:
                output = build.generated(name) / library.soname
                link_library(build.compiler, library, compiling, output, build.sanitize)
            _publish(build, name, stamps[name])
    for name in names:
        write_sources(build.folder / name, sources[name])
    return {name: name in started for name in names}


def _stamp(build: _Build, name: str) -> str:
    part = PARTS[name]
    return fingerprint(
        build.compiler, build.headers, part.folders, [build.sanitize or "", *_more_headers(part)]
    )


def _is_up_to_date(build: _Build, name: str, stamp: str) -> bool:
    folder = build.folder / name
    return all((folder / product).is_file() for product in PARTS[name].products) and (
        _read(folder / _STAMP) == stamp
    )


def _generate(build: _Build, name: str) -> None:
    """Write the generated sources of a part, unless the generator and its inputs are those of the last time."""
    part, folder = PARTS[name], build.generated(name)
    folder.mkdir(parents=True, exist_ok=True)
    if part.generate is None:
        return
    hip_headers = part.more_headers() if part.more_headers else None
    stamp = generator_fingerprint(build.headers, part.generated_from, hip_headers)
    made_by = folder / ".generator"
    if _read(made_by) != stamp:
        made_by.unlink(missing_ok=True)
        part.generate(build.headers, folder)
        made_by.write_text(stamp)


def _publish(build: _Build, name: str, stamp: str) -> None:
    """Give the products their names. A program that has the former library mapped keeps it."""
    folder = build.folder / name
    folder.mkdir(exist_ok=True)
    (folder / _STAMP).unlink(missing_ok=True)
    for product in PARTS[name].products:
        shutil.copy(build.generated(name) / product, folder / f".{product}.new")
        (folder / f".{product}.new").rename(folder / product)
    (folder / _STAMP).write_text(stamp)


def _write_compile_commands(build: _Build, output: Path) -> None:
    """For editors: how the sources of every part are compiled."""
    possible = [name for name in PARTS if _is_possible(name, quiet=True)]
    units = {
        unit.source.resolve(): unit
        for name in reversed(possible)  # a source of several parts is listed as part of the first
        for library in build.libraries(name)
        for unit in build.units(name, library)
    }
    entries = [
        {"directory": str(build.objects), "file": str(file), "arguments": [*unit.command[:-1], str(file)]}
        for file, unit in sorted(units.items())
    ]
    output.write_text(json.dumps(entries, indent=1) + "\n")


def _read(path: Path) -> str | None:
    return path.read_text() if path.is_file() else None


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        built = build_native(
            options.parts or tuple(PARTS),
            options.out,
            options.sanitize,
            options.keep,
            options.compile_commands,
        )
    except ShimError as error:
        print(*filter(None, [error.output]), f"native: {error}", sep="\n", file=sys.stderr)
        return 1
    for name, compiled in built.items():
        print(f"{options.out / name}: {'built' if compiled else 'up to date'}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchguard.toolchain.native",
        description="Compile the libraries that the package ships; those that are up to date are left alone.",
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join([*PARTS, *GROUPS])} (default: all)"
    )
    parser.add_argument(
        "--out", type=Path, default=NATIVE, metavar="FOLDER", help="default: the package's own folder"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep objects and generated sources here")
    parser.add_argument("--compile-commands", type=Path, metavar="FILE", help="write a compilation database")
    parser.add_argument("--sanitize", metavar="NAME", help=" or ".join(SANITIZERS))
    return parser


if __name__ == "__main__":
    sys.exit(main())
