"""Fuzzing targets: sources, seed inputs and builds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchguard.capture.layout import Compression
from benchguard.policy import NAMES, compile_policy, load_policy
from benchguard.policy.file import parse_policy
from benchguard.shim.interposer import interposer_for
from tests.support.altered import Altered, compressed
from tests.support.captures import CAPTURES
from tests.support.code_objects import code_object, sim_bundle
from tests.support.code_objects import compressed as packed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "programs"
ENGINE = ("fuzz.c", "input.c", "mutate.c", "bytes.c", "capture_mutate.c", "corpus.c", "tokens.c")
HASH = ("hook/core/image/sha256.c", "hook/core/image/sha256_x86.c")
VERSIONS: tuple[Literal[1, 2, 3], ...] = (1, 2, 3)
"""Versions of compressed bundles."""

FORMATS = ("engine", "hook")
"""The input generator also makes captures, so it needs their hashes and structs."""

FLAGS = (
    "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-omit-frame-pointer",
    "-ffp-contract=off", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all",
)  # fmt: skip


class FuzzError(Exception):
    """An invalid request, such as an unknown target. The message says why."""


@dataclass(frozen=True)
class Target:
    program: str
    what: str
    sources: tuple[str, ...]
    """Globs below the root: the fuzzed sources."""
    corpora: tuple[str, ...]
    includes: tuple[str, ...]
    make_corpus: Callable[[Path], Sequence[Path]] | None = None
    """Writes further seed inputs into a folder."""


def make_captures(folder: Path) -> Sequence[Path]:
    """Small captures, their blobs as they are, so that a changed byte is not just a wrong checksum; and one that
    is compressed."""
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    for name, make in CAPTURES.items():
        path = make(folder / f"{name}.ncap")
        results.append(Altered(path).write(path))
    altered = Altered(results[0])
    for blob in altered.blobs:
        frame = compressed(blob.raw)
        if len(frame) < len(blob.raw):
            blob.stored, blob.compression = frame, Compression.ZSTD
    return [*results, altered.write(folder / "compressed.ncap")]


def make_hip_images(folder: Path) -> Sequence[Path]:
    """PTX in every container format of HIP."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "tests/unit/ptx/kernels/kernels.ptx").read_text()
    bundled = sim_bundle(text)
    images = {"object": code_object(text), "bundle": bundled}
    images |= {f"zlib{version}": packed(bundled, "zlib", version) for version in VERSIONS}
    images |= {f"zstd{version}": packed(bundled, "zstd", version) for version in VERSIONS}
    for name, image in images.items():
        (folder / f"{name}.co").write_bytes(image)
    return [folder / f"{name}.co" for name in images]


def make_policies(folder: Path) -> Sequence[Path]:
    """The tables of the named policies, for the generic shim's exports, and a small one."""
    folder.mkdir(parents=True, exist_ok=True)
    surface = interposer_for("sim")[0].surface
    rule = '[[rule]]\nname = "a"\naction = "deny"\ncall = ["cuMemAlloc"]\nwhere = { bytes = 1, library = "a*" }\n'
    small = parse_policy(f'format = "neutrino-bench/policy/1"\nname = "small"\n{rule}', "small")
    tables = {
        policy.name: compile_policy(policy, surface).table for policy in (*map(load_policy, NAMES), small)
    }
    for name, table in tables.items():
        (folder / f"{name}.table").write_bytes(table)
    return [folder / f"{name}.table" for name in tables]


_PTX = ("tests/unit/ptx/kernels/*.ptx", "tests/corpus/ptx/**/*.ptx", "tests/fuzz/seeds/*.ptx")
_IMAGE_READERS = ("hook/core/image/*.c",)
TARGETS = {
    "ptx": Target("parse.c", "the PTX parser", ("sim/ptx/*.c",), _PTX, ("sim",)),
    "run": Target(
        "run.c", "the PTX interpreter, on what the parser accepts", ("sim/ptx/*.c",), _PTX, ("sim",)
    ),
    "link": Target("link.c", "the linker of PTX texts", ("sim/ptx/*.c",), _PTX, ("sim",)),
    "fatbin": Target(
        "fatbin.c",
        "the reader of fat binaries",
        ("sim/driver/code/fatbin.c", "sim/driver/code/decompress.c"),
        ("tests/sim/data/*.fatbin", "tests/unit/hook/images/*.fatbin"),
        ("sim",),
    ),
    "hip": Target(
        "hip_code.c",
        "the CPU driver's reader of HIP's code objects and bundles",
        ("sim/hip/code.c", "sim/hip/code_object.c", "sim/hip/bundle.c", "sim/driver/code/decompress.c"),
        (),
        ("sim",),
        make_hip_images,
    ),
    "globals": Target(
        "globals.c",
        "the names of an image's globals",
        _IMAGE_READERS,
        (
            "tests/sim/data/*.fatbin",
            "tests/unit/hook/images/*.fatbin",
            "tests/unit/hook/images/*.cubin",
            "tests/unit/hook/images/*.ptx",
            "tests/data/hip/*.hsaco",
            "tests/data/hip/*.hipfb",
        ),
        ("hook",),
    ),
    "kernels": Target(
        "kernels.c",
        "sizes of images, and what code objects, bundles and PTX say of kernels",
        _IMAGE_READERS,
        (
            "tests/unit/hook/images/*.ptx",
            "tests/unit/hook/images/*.cubin",
            "tests/data/hip/*.hsaco",
            "tests/data/hip/*.hipfb",
        ),
        ("hook",),
    ),
    "capture": Target(
        "capture.c",
        "the engine's reader of captures",
        (
            "engine/replay/base/error.c",
            "engine/replay/capture/decode_blob.c",
            "engine/replay/capture/[!dprsv]*.c",
            "engine/replay/capture/re*.c",  # the program replaces raw.c
        ),
        (),
        (),
        make_captures,
    ),
    "policy": Target(
        "policy.c",
        "the shim's reader of a policy's table",
        ("hook/core/policy/table.c",),
        (),
        ("hook",),
        make_policies,
    ),
    "control": Target("control.c", "what is wrong on purpose", (), ("tests/fuzz/control.txt",), ()),
}


def corpus_of(target: Target, folder: Path) -> list[Path]:
    """Seed files, sorted, so that equal trees give equal inputs."""
    items = sorted({path for pattern in target.corpora for path in ROOT.glob(pattern)})
    if target.make_corpus is not None:
        items += sorted(target.make_corpus(folder))
    if not items:
        raise FuzzError(f"no corpus: nothing matches {', '.join(target.corpora)}")
    return items


def build(name: str, folder: Path) -> Path:
    """Build the target's program if a source is newer."""
    target = TARGETS[name]
    own = [PROGRAMS / source for source in (*ENGINE, target.program)] + [ROOT / source for source in HASH]
    readers = sorted(path for pattern in target.sources for path in ROOT.glob(pattern))
    sources = list(dict.fromkeys(own + readers))  # a reader may be one of the hash's sources
    program = folder / name
    headers = [path for source in sources for path in source.parent.glob("*.h")]
    newest = max(path.stat().st_mtime for path in {*sources, *headers, Path(__file__)})
    if program.exists() and program.stat().st_mtime >= newest:
        return program
    objects = folder / f"{name}-objects"
    objects.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{path}" for path in (PROGRAMS, *(ROOT / each for each in (*target.includes, *FORMATS)))]

    def compile_one(source: Path) -> str:
        output = objects / f"{source.parent.name}-{source.stem}.o"
        _cc([*FLAGS, *includes, "-c", str(source), "-o", str(output)])
        return str(output)

    with ThreadPoolExecutor() as pool:
        items = list(pool.map(compile_one, sources))
    fresh = program.with_suffix(".new")  # another run may be using the old file
    _cc([*FLAGS, *items, "-o", str(fresh), "-lm", "-ldl", "-pthread"])
    fresh.rename(program)
    return program


def _cc(arguments: Sequence[str]) -> None:
    result = subprocess.run(["cc", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise FuzzError(f"the C compiler failed:\n{result.stderr.strip()}")
