"""Which C sources make which library, and a fingerprint of everything that goes into one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchguard.codegen.headers import Headers
from benchguard.codegen.hip import HipHeaders
from benchguard.codegen.vendor import HIP, INTERNAL

from .compiler import COMPILE_FLAGS, LINK_FLAGS, Compiler, Library
from .errors import ShimError
from .paths import (
    ENGINE,
    ENGINES,
    HIP_BRIDGE_SONAME,
    HIP_SONAME,
    INLINE_ENGINE,
    INLINE_SONAME,
    PACKAGE,
    PRELOAD_SONAME,
    REPLAY_SONAME,
    RUNTIME_SONAME,
    SIM_NVRTC_SONAME,
    SONAME,
    SOURCE,
)

HEADERS_MINIMUM = 12050
"""hook/cuda calls cuKernelGetLibrary, which cuda.h has from 12.5 on."""


def shim_library(generated: Path, headers: Headers, soname: str) -> Library:
    """The shim: hook/ and what was generated."""
    hook = SOURCE / "hook"
    sources = [*_sources(hook / "core"), *_sources(hook / "cuda")]
    return Library(
        sources=(
            *sources,
            *(generated / name for name in ("hooks.c", "operations.c", "surface.c", "surface.S")),
        ),
        soname=soname,
        version_script=generated / "shim.map",
        includes=(hook, generated),
        system_includes=(headers.folder,),
        defines=(INTERNAL,),
        libraries=("-pthread", "-ldl"),
    )


OF_CUDA_ALONE = frozenset({"vendor.c"})
"""Sources of hook/cuda that HIP's shim replaces: they identify the driver."""


def hip_shim_library(generated: Path, headers: Headers, hip_headers: HipHeaders, soname: str) -> Library:
    """HIP's shim: hook/hip, before what CUDA's has."""
    hook = SOURCE / "hook"
    shared = [source for source in _sources(hook / "cuda") if source.name not in OF_CUDA_ALONE]
    own = [*_sources(hook / "hip" / "hooks"), *_sources(hook / "hip" / "driver")]
    return Library(
        sources=(
            *_sources(hook / "core"),
            *shared,
            *own,
            *(
                generated / name
                for name in ("hooks.c", "operations.c", "hip_driver.c", "surface.c", "surface.S")
            ),
        ),
        soname=soname,
        version_script=generated / "shim.map",
        includes=(hook, generated),
        system_includes=(headers.folder, hip_headers.folder),
        defines=(INTERNAL, *hip_headers.vendor.defines),
        libraries=("-pthread", "-ldl"),
    )


def preload_library() -> Library:
    """The dlopen redirection, with the caller filter that it shares with the shim."""
    preload = SOURCE / "preload"
    base = SOURCE / "hook" / "core" / "base"
    sources = [*_sources(preload), *_sources(preload, "*.S"), base / "filter.c", base / "log.c"]
    return Library(
        sources=tuple(sources),
        soname=PRELOAD_SONAME,
        version_script=preload / "preload.map",
        includes=(SOURCE / "hook",),
        libraries=("-ldl",),
    )


def sim_library(generated: Path, headers: Headers) -> Library:
    """The CPU driver."""
    sim = SOURCE / "sim"
    sources = [*_sources(sim / "driver"), *_sources(sim / "ptx")]
    return Library(
        sources=(*sources, generated / "stubs.c", generated / "procaddr.c"),
        soname=SONAME,
        version_script=generated / "sim.map",
        includes=(sim, generated),
        system_includes=(headers.folder,),
        defines=(INTERNAL,),
        libraries=("-lm", "-pthread", "-ldl"),
    )


def runtime_library(headers: Headers) -> Library:
    """The CUDA runtime over whatever driver the process finds."""
    runtime = SOURCE / "sim" / "runtime"
    return Library(
        sources=tuple(_sources(runtime)),
        soname=RUNTIME_SONAME,
        version_script=runtime / "cudart.map",
        includes=(SOURCE / "sim", runtime),
        system_includes=(headers.folder,),
        libraries=("-pthread", "-ldl"),
    )


def sim_nvrtc_library() -> Library:
    """A library to preload beside the CPU driver, for programs linked with NVRTC."""
    nvrtc = SOURCE / "sim" / "nvrtc"
    return Library(
        sources=tuple(_sources(nvrtc)),
        soname=SIM_NVRTC_SONAME,
        version_script=nvrtc / "nvrtc.map",
        libraries=("-ldl",),
    )


def hip_sim_library(generated: Path, headers: Headers, hip_headers: HipHeaders) -> Library:
    """The CPU driver as HIP programs call it, with the driver and the CUDA runtime inside."""
    sim = SOURCE / "sim"
    driver = sim_library(generated, headers)
    runtime = runtime_library(headers)
    opened = {"driver.c", "image.c"}  # sim/hip has its own: the driver is linked in, and code is HIP's
    runtime = replace(runtime, sources=tuple(path for path in runtime.sources if path.name not in opened))
    sources = _sources(sim / "hip")
    return Library(
        sources=(*sources, generated / "hip_stubs.c", generated / "hip_calls.c"),
        soname=HIP_SONAME,
        version_script=generated / "hip.map",
        includes=(
            sim,
            sim / "runtime",
            generated,
            PACKAGE / "codegen" / "semantics",
        ),
        system_includes=(headers.folder, hip_headers.folder),
        defines=HIP.defines,
        libraries=driver.libraries,
        linked=(driver, runtime),
    )


def hip_bridge_library(generated: Path, headers: Headers, hip_headers: HipHeaders) -> Library:
    """CUDA's driver, as far as a replay calls it, over HIP's."""
    hook = SOURCE / "hook"
    bridge = hook / "hip" / "bridge"
    return Library(
        sources=(*_sources(hook / "hip" / "driver"), *_sources(bridge), generated / "hip_driver.c"),
        soname=HIP_BRIDGE_SONAME,
        version_script=bridge / "bridge.map",
        includes=(hook,),
        system_includes=(headers.folder, hip_headers.folder),
        defines=(INTERNAL, "NB_HIP_BRIDGE", *HIP.defines),
        libraries=("-pthread", "-ldl"),
    )


def replay_library(headers: Headers) -> Library:
    """The replay engine: rebuilds and times a capture. It shares the shim's formats and its reader of images."""
    hook = SOURCE / "hook"
    return Library(
        sources=(*_sources(ENGINE), *_sources(ENGINE, "*.S"), *_sources(hook / "core" / "image")),
        soname=REPLAY_SONAME,
        version_script=ENGINE / "replay.map",
        includes=(ENGINES, hook),
        system_includes=(headers.folder,),
        libraries=("-ldl", "-pthread"),
    )


def inline_library(headers: Headers) -> Library:
    """The inline engine: times a submission within the submission's process."""
    return Library(
        sources=(*_sources(INLINE_ENGINE), *_sources(INLINE_ENGINE, "*.S")),
        soname=INLINE_SONAME,
        version_script=INLINE_ENGINE / "inline.map",
        includes=(ENGINES,),
        system_includes=(headers.folder,),
        libraries=("-ldl",),
    )


def fingerprint(
    compiler: Compiler,
    headers: Headers,
    folders: Iterable[Path],
    extra: Iterable[str] = (),
    hip_headers: HipHeaders | None = None,
) -> str:
    """Changes with the sources below `folders`, the generator, the headers, the compiler and its flags."""
    tools = (*compiler.command, compiler.version, *COMPILE_FLAGS, *LINK_FLAGS)
    files = [path for folder in folders for path in _tree(folder)]
    made_by = generator_fingerprint(headers, _tree(PACKAGE / "toolchain"), hip_headers)
    return _digest((*tools, *extra, made_by), files)


def folders_fingerprint(folders: Iterable[Path]) -> str:
    """Changes with the sources below `folders`."""
    return _digest((), [path for folder in folders for path in _tree(folder)])


def generator_fingerprint(
    headers: Headers, inputs: Iterable[Path] = (), hip_headers: HipHeaders | None = None
) -> str:
    """Changes with the generator, the headers, and the other files that the generator reads."""
    origins = [headers.origin]
    files = [headers.folder / "cuda.h", headers.folder / "cudaTypedefs.h"]
    if hip_headers is not None:
        origins.append(hip_headers.origin)
        files += _tree(hip_headers.folder / "hip")
    return _digest(origins, [*files, *_tree(PACKAGE / "codegen"), *inputs])


def _digest(texts: Iterable[str], files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _tree(folder: Path) -> list[Path]:
    suffixes = (".c", ".h", ".S", ".map", ".ptx", ".py", ".toml", ".txt")
    names = [
        f"{place}/{name}"
        for place, _, files in os.walk(folder)  # a third of the time of rglob()
        for name in files
        if name.endswith(suffixes)
    ]
    return [path for path in map(Path, sorted(names)) if path.is_file()]


def _sources(folder: Path, pattern: str = "*.c") -> list[Path]:
    """Every source at or below `folder`."""
    paths = sorted(folder.rglob(pattern))
    if not paths:
        raise ShimError(
            f"{folder}: holds no {pattern}; the installation is incomplete, install neutrino-bench again"
        )
    return paths
