"""Decide which kernels a submission may run: by their code first, by who loaded them second."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

import msgspec

from . import libraries
from .evidence import KernelEvidence

SUBMISSION = "submission"
"""The source of code that no installed library contains, and that no installed library loaded."""


def attributed(
    kernels: Sequence[KernelEvidence], forbid: Sequence[str], allow: Sequence[str]
) -> tuple[KernelEvidence, ...]:
    """The kernels with their sources.

    Libraries that a pattern names are searched for the code; with `allow`, all installed ones are. Raises
    BenchguardError.
    """
    indices = searched(forbid, allow)
    return tuple(_attributed(each, indices) for each in kernels)


def searched(forbid: Sequence[str], allow: Sequence[str]) -> dict[Path, bytes]:
    """The indices of the libraries that attributed() searches; the first call takes a while. Raises BenchguardError."""
    paths = libraries.installed() if allow else libraries.installed(forbid) if forbid else ()
    return {path: index for path in paths if (index := libraries.index_of(path))}


def _attributed(kernel: KernelEvidence, indices: Mapping[Path, bytes]) -> KernelEvidence:
    holder = libraries.holder_of(kernel.code_sha256, indices, kernel.origin)
    if holder is not None:
        return msgspec.structs.replace(kernel, source=str(holder), source_by="content")
    source = kernel.origin if libraries.is_installed(kernel.origin) else SUBMISSION
    return msgspec.structs.replace(kernel, source=source, source_by="loader")


def refusal_of(kernels: Sequence[KernelEvidence], forbid: Sequence[str], allow: Sequence[str]) -> str:
    """A reason that names the first kernel that may not run; empty if all may."""
    for kernel in kernels:
        source = PurePath(kernel.source or kernel.origin).name or "unknown origin"
        pattern = _match((kernel.name, *_sources(kernel)), forbid)
        if pattern:
            return f"kernel {kernel.name} of {source} is forbidden by {pattern!r}"
        known = (kernel.image_sha256, *_names(kernel.source)) if _is_known(kernel) else (kernel.image_sha256,)
        if allow and not _match(known, allow):
            return (
                f"kernel {kernel.name} of {source} is not allowed; pass --allow-images with {source!r} or with the "
                f"SHA-256 of its image, {kernel.image_sha256}"
            )
    return ""


def _sources(kernel: KernelEvidence) -> Iterator[str]:
    """Names for --forbid-library. A submission has no gain from a false loader, so its word counts here."""
    yield from _names(kernel.source)
    if kernel.source_by != "content":
        yield from _names(kernel.origin)


def _is_known(kernel: KernelEvidence) -> bool:
    """Whether the source is good enough for --allow-images: code that could be read, not a loader's word."""
    return kernel.source_by == "content" or (kernel.source == SUBMISSION and bool(kernel.code_sha256))


def _names(source: str) -> tuple[str, ...]:
    return (source, PurePath(source).name) if source else ()


def _match(names: Sequence[str], patterns: Sequence[str]) -> str:
    return next((each for each in patterns if any(fnmatch.fnmatchcase(name, each) for name in names)), "")
