"""A submission on its way to a machine, and its outcome. Source code travels as data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

import msgspec

from ..errors import UsageError
from ..grade.result import GradeResult
from ..quarantine.contract import Language
from ..quarantine.submission import LANGUAGES, check_name, contents_of, files_of

JOB_BYTES_MAX = 64 << 20
"""Bytes of the files of one submission."""

SUFFIXES: dict[Language, str] = {language: suffix for suffix, language in LANGUAGES.items()}


@dataclass(frozen=True)
class Source:
    """A submission as text: the content of one file in `language`."""

    source: str
    language: Language


Submission: TypeAlias = "str | os.PathLike[str] | Source"
"""A path of a file or a folder, or a text."""


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A submission to grade as an answer to `problem` (PATH or PATH:NAME). `files` are its contents by relative path;
    `is_folder`: they are a folder `name`, else there is one file of that name."""

    id: str
    problem: str
    name: str
    is_folder: bool
    files: dict[str, bytes]

    def write(self, folder: Path) -> Path:
        """Write the files into an empty folder; return the submission's path there. Raises UsageError."""
        root = folder / _one_name(self.name) if self.is_folder else folder
        for name, content in self.files.items():
            path = root.joinpath(*_parts(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return root if self.is_folder else folder / _one_name(self.name)


@dataclass(frozen=True)
class Graded:
    """The outcome of a job.

    Attributes:
        id: the job's.
        result: the result of the grade. None: the machines failed.
        trouble: why there is no result, with each attempt's failure; empty with a result.
        attempts: how often the job was tried.
        place: the machine that graded it, or failed last.
        stage: "cpu" if the first stage of a cascade decided, else "final".
        bundle: the id of the stored bundle; empty without one.
    """

    id: str
    result: GradeResult | None
    trouble: str = ""
    attempts: int = 1
    place: str = ""
    stage: Literal["cpu", "final"] = "final"
    bundle: str = ""


def jobs_of(
    problem: str,
    submissions: Iterable[Submission] | Mapping[str, Submission],
    check: Callable[[Submission], None] = lambda _: None,
) -> Iterator[Job]:
    """A job for each submission, read when it is asked for.

    Args:
        problem: PATH or PATH:NAME.
        submissions: paths and texts; a mapping gives their ids. Otherwise the id is the number, from 0.
        check: raises UsageError for a submission that cannot be graded.

    Raises:
        UsageError: a path cannot be read, or is too large.
    """
    pairs: Iterable[tuple[Any, Submission]]
    pairs = submissions.items() if isinstance(submissions, Mapping) else enumerate(submissions)
    for name, submission in pairs:
        check(submission)
        yield job_of(str(name), problem, submission)


def job_of(name: str, problem: str, submission: Submission) -> Job:
    """The job `name` of a submission. Raises UsageError as jobs_of()."""
    if isinstance(submission, Source):
        file = f"submission{SUFFIXES[submission.language]}"
        content = submission.source.encode("utf-8", "surrogatepass")
        return _checked(Job(name, problem, file, False, {file: content}))
    path = Path(submission)
    check_name(path)
    try:
        place = path.resolve(strict=True)
        is_folder = place.is_dir()
        if is_folder:
            files = {each: contents_of(place, each) for each in files_of(place)}
            return _checked(Job(name, problem, place.name, True, files))
        # Stores of contents have links with a suffix to files without one: the suffix tells the language.
        file = place.name if place.suffix in LANGUAGES else path.name
        return _checked(Job(name, problem, file, False, {file: contents_of(place.parent, place.name)}))
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself, before Python 3.13
        raise UsageError(
            f"the submission {path} cannot be read: {getattr(error, 'strerror', error)}"
        ) from error


def _checked(job: Job) -> Job:
    size = sum(map(len, job.files.values()))
    if size > JOB_BYTES_MAX:
        raise UsageError(
            f"the submission {job.id} has {size >> 20} MiB, and {JOB_BYTES_MAX >> 20} MiB can be sent"
        )
    return job


def _parts(name: str) -> tuple[str, ...]:
    parts = PurePosixPath(name).parts
    if not parts or any(_is_odd(part) for part in parts):
        raise UsageError(f"{name!r} is not the path of a file in a submission")
    return parts


def _one_name(name: str) -> str:
    if _is_odd(name):
        raise UsageError(f"{name!r} is not the name of a submission")
    return name


def _is_odd(part: str) -> bool:
    return part in ("", ".", "..") or "/" in part or "\x00" in part
