"""Solutions of flashinfer-bench: a name, and the source files. They may be hostile.

The schema is that of flashinfer_bench/data/solution.py at commit 40e6ca7. Fields that are not used are not checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from ..errors import UsageError
from ..ipc.json_text import UNREADABLE, unique
from ..ipc.text import one_line

BYTES_MAX = 64 << 20

Name = Annotated[str, Meta(min_length=1, max_length=4096)]
Hash: TypeAlias = Callable[[Iterable[tuple[str, int, str]]], str]
"""The SHA-256 of a submission, from the name, size and SHA-256 of each file."""

Solutions: TypeAlias = Mapping[tuple[str, str], frozenset[str]]
"""The SHA-256 of the submissions that a solution's files can be, by the names of its definition and of itself."""


class _File(msgspec.Struct):
    path: Name
    content: str


class _Spec(msgspec.Struct):
    entry_point: Name


class _Solution(msgspec.Struct):
    name: Name
    definition: Name
    spec: _Spec
    sources: Annotated[tuple[_File, ...], Meta(min_length=1)]


def read_solutions(paths: Sequence[Path], hash_of: Hash) -> Solutions:
    """Read files of one Solution each. A submission is the folder of its files, or the file of its entry point alone.

    Raises UsageError.
    """
    found: dict[tuple[str, str], frozenset[str]] = {}
    for path in paths:
        solution = _read(path)
        files = sorted((each.path, *_digest(each.content)) for each in solution.sources)
        main = solution.spec.entry_point.partition("::")[0]
        alone = [(PurePosixPath(name).name, size, sha256) for name, size, sha256 in files if name == main]
        hashes = frozenset(hash_of(each) for each in (files, alone) if each)
        key = solution.definition, solution.name
        found[key] = found.get(key, frozenset()) | hashes
    return found


def _digest(content: str) -> tuple[int, str]:
    data = content.encode()
    return len(data), hashlib.sha256(data).hexdigest()


def _read(path: Path) -> _Solution:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
        if len(data) > BYTES_MAX:
            raise UsageError(f"{path}: a Solution may have {BYTES_MAX} bytes")
        return msgspec.json.decode(unique(data), type=_Solution)
    except OSError as error:
        raise UsageError(f"the Solution {path} cannot be read: {error.strerror}; check the path") from error
    except UNREADABLE as error:
        raise UsageError(
            f"{path}: not a Solution of flashinfer-bench: {one_line(str(error), 200)}"
        ) from error
