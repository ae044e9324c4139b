"""The manifest of a bundle: the document neutrino-bench/bundle/1. Whoever wrote it may be hostile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..ipc.json_text import UNREADABLE, unique
from ..ipc.text import one_line
from .errors import BundleError

Schema = Literal["neutrino-bench/bundle/1"]
SCHEMA: Schema = "neutrino-bench/bundle/1"

MANIFEST_MAX = 32 << 20
PART_MAX = 256 << 20
"""Bytes of a part: those of the largest file of a submission."""

RESULT_MAX = 64 << 20
BUNDLE_MAX = 64 << 30
"""Bytes of all parts of a bundle together. A part that is named twice counts twice."""

DIGEST = r"^[0-9a-f]{64}\Z"
Digest: TypeAlias = Annotated[str, Meta(pattern=DIGEST)]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4096)]


class Part(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A file of the archive: SHA-256 and size of its content."""

    sha256: Digest
    bytes: Annotated[int, Meta(ge=0, le=PART_MAX)]


class ProblemIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The problem: PATH or PATH:NAME as it was given, and the SHA-256 of its file or folder.

    A bundle has no code of the problem, because that code is trusted where it runs.
    """

    name: Name
    sha256: Digest


class StoredSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The submission: one file, or a folder `name` with files by relative path."""

    name: Name
    is_folder: bool
    files: Annotated[dict[Name, Part], Meta(min_length=1, max_length=4096)]


class StoredCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Both captures of a test case. The parts of each, one after the other, are the capture file."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    captures: tuple[tuple[Part, ...], tuple[Part, ...]]


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parts of a bundle. `options` are those of the grade that differ from the defaults."""

    schema: Schema
    result: Part
    problem: ProblemIdentity
    submission: StoredSource
    cases: Annotated[tuple[StoredCase, ...], Meta(max_length=1 << 16)]
    options: dict[str, Any]

    def parts(self) -> Iterator[Part]:
        yield self.result
        yield from self.submission.files.values()
        for case in self.cases:
            for capture in case.captures:
                yield from capture


def parse_manifest(data: bytes) -> Manifest:
    """Raises BundleError for anything but a manifest whose names and sizes can be used."""
    try:
        manifest = msgspec.json.decode(unique(data), type=Manifest)
    except UNREADABLE as error:
        raise BundleError(f"not a bundle's manifest: {one_line(str(error), 200)}") from error
    refusal = refusal_of(manifest)
    if refusal:
        raise BundleError(refusal)
    return manifest


def refusal_of(manifest: Manifest) -> str:
    """Why a bundle may not be read, or written; empty if it may."""
    if manifest.result.bytes > RESULT_MAX:
        return f"its result has {manifest.result.bytes} bytes; at most {RESULT_MAX} are read"
    total = sum(part.bytes for part in manifest.parts())
    if total > BUNDLE_MAX:
        return f"its parts have {total} bytes together; at most {BUNDLE_MAX} are read"
    source = manifest.submission
    for name in (source.name, *source.files):
        if not _is_relative(name):
            return f"{one_line(name, 100)!r} is not the path of a file in a submission"
    if "/" in source.name or (not source.is_folder and list(source.files) != [source.name]):
        return f"{one_line(source.name, 100)!r} is not the name of a submission"
    names = [case.name for case in manifest.cases]
    if len(set(names)) != len(names):
        return "a test case is there twice"
    return ""


def _is_relative(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "\0" not in name and str(PurePosixPath(*parts)) == name and not {"..", "/", ".", "//"} & {*parts}
