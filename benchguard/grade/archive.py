"""Write the bundle of a grade: its result, both captures of each case, the submission, the problem's identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..archive import (
    SCHEMA,
    Manifest,
    Part,
    ProblemIdentity,
    Store,
    StoredCase,
    StoredSource,
    capture_pieces,
)
from ..capture import Capture, CaptureError
from ..errors import BenchguardError, UsageError
from ..quarantine.reader import LIMITS
from ..quarantine.submission import Submission, contents_of, hash_of_contents
from .options import GradeOptions
from .problem_identity import sha256_of
from .result import GradeResult


@dataclass(frozen=True)
class Evidence:
    """A finished grade, as long as its captures exist. `captures` are by case."""

    problem: str
    submission: Submission
    captures: Mapping[str, tuple[Path, Path]]
    options: GradeOptions
    result: GradeResult


@dataclass(frozen=True)
class Archived:
    """A result, and the id of its bundle. `trouble` says why there is no bundle; else it is empty."""

    result: GradeResult
    bundle: str = ""
    trouble: str = ""


def archived(folder: Path, found: Evidence) -> Archived:
    """Write the bundle into the archive `folder`. A failure never costs the result."""
    try:
        return Archived(found.result, bundle_of(folder, found))
    except BenchguardError as error:
        return Archived(found.result, trouble=str(error))
    except OSError as error:
        return Archived(found.result, trouble=f"cannot write the archive {folder}: {error.strerror}")


def bundle_of(folder: Path, found: Evidence) -> str:
    """Write the bundle; return its id. Raises BenchguardError, OSError."""
    store = Store(folder)
    submission = found.submission
    source = StoredSource(
        submission.path.name,
        submission.path.is_dir(),
        _files(store, submission, found.result.submission.sha256),
    )
    cases = tuple(
        StoredCase(name, (_capture(store, pair[0]), _capture(store, pair[1])))
        for name, pair in found.captures.items()
    )
    identity = ProblemIdentity(found.problem, sha256_of(found.problem))
    result = store.put(result_bytes(found.result))
    return store.seal(Manifest(SCHEMA, result, identity, source, cases, found.options.changed()))


def result_bytes(result: GradeResult) -> bytes:
    """The result as the file that `grade --json` writes."""
    return f"{result.to_json()}\n".encode()


def source_sha256(files: Mapping[str, Part]) -> str:
    """SHA-256 of stored files, as a result has it for a submission."""
    return hash_of_contents((name, part.bytes, part.sha256) for name, part in sorted(files.items()))


def _files(store: Store, submission: Submission, sha256: str) -> dict[str, Part]:
    """Raises UsageError if the submission is no longer the graded one."""
    files = {name: store.put(contents_of(submission.root, name)) for name in submission.files}
    if source_sha256(files) != sha256:
        raise UsageError(f"the submission {submission.path} was changed while it was graded; grade it again")
    return files


def _capture(store: Store, path: Path) -> tuple[Part, ...]:
    return tuple(store.put(piece) for piece in _pieces(path))


def _pieces(path: Path) -> Iterator[bytes]:
    """Raises CaptureError."""
    with Capture.open(path, LIMITS) as capture, path.open("rb") as file:
        for begin, end in capture_pieces(capture.blobs.places(), capture.file_bytes):
            file.seek(begin)
            piece = file.read(end - begin)
            if len(piece) != end - begin:
                raise CaptureError(f"{path} became shorter while it was read")
            yield piece


def captures_by_case(
    names: Sequence[str], captures: Sequence[tuple[Path, Path]]
) -> dict[str, tuple[Path, Path]]:
    """The captures by name of the case; none if the submission failed before all were there."""
    return dict(zip(names, captures, strict=True)) if captures else {}
