"""The submissions of a batch: files, folders, and lines of JSONL. The lines are hostile bytes."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec
from msgspec import Meta

from ..errors import UsageError
from ..grade.options import GradeOptions
from ..grade.problem_identity import sha256_of
from ..ipc.json_text import UNREADABLE, unique, without_halves
from ..ipc.text import one_line
from ..quarantine.contract import Language
from ..shim.vendors import Api
from .job import Job, Source, Submission, job_of
from .vendors import check_vendor

LINE_MAX = 8 << 20
"""Bytes of a line of JSONL."""

ENTRIES_MAX = 1_000_000
LINES_SUFFIX = ".jsonl"


class EntryLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A submission as a line of JSONL. `problem` is the name of one of the batch's problems, never a path to run."""

    id: Annotated[str, Meta(min_length=1, max_length=256)]
    source: Annotated[str, Meta(max_length=LINE_MAX)]
    problem: Annotated[str, Meta(max_length=4096)] | None = None
    language: Language | None = None


@dataclass(frozen=True)
class Entry:
    """A submission of a batch.

    Attributes:
        id: the path, or the id of the line.
        problem: PATH or PATH:NAME.
        submission: a path, or the text of a line.
        key: SHA-256 of the job's content: problem, files and options. Equal keys are the same job, whatever its id.
        sha256: SHA-256 of the submission's files alone.
    """

    id: str
    problem: str
    submission: Submission
    key: str
    sha256: str

    def job(self, number: int) -> Job:
        """The job, read now. Its id is `number`, as text. Raises UsageError as job_of()."""
        return job_of(str(number), self.problem, self.submission)


@dataclass(frozen=True)
class Keys:
    """Makes the keys of jobs. `variant` describes the options, and all else that changes a result."""

    variant: bytes
    problems: Mapping[str, str]
    """SHA-256, and name in the file, by PATH or PATH:NAME."""

    @classmethod
    def of(cls, problems: Sequence[str], options: GradeOptions, cascade: bool, version: str) -> Keys:
        """Raises UsageError if a problem cannot be read."""
        same = replace(options, wait_for_gpu=GradeOptions.wait_for_gpu)  # a wait changes no result
        variant = msgspec.json.encode([same.changed(), cascade, version], order="deterministic")
        return cls(variant, {each: f"{sha256_of(each)} {_class_of(each)}" for each in problems})

    def key(self, job: Job) -> str:
        parts = (self.variant, self.problems[job.problem].encode(), sha256_of_job(job).encode())
        return hashlib.sha256(b"\n".join(parts)).hexdigest()


def sha256_of_job(job: Job) -> str:
    """SHA-256 of a submission's files. The name of a single file does not count, except for its suffix."""
    whole = hashlib.sha256()
    for name in sorted(job.files):
        label = (name if job.is_folder else PurePosixPath(name).suffix).encode("utf-8", "surrogateescape")
        content = hashlib.sha256(job.files[name]).hexdigest()
        whole.update(b"%d %d %s %s\n" % (job.is_folder, len(label), label, content.encode()))
    return whole.hexdigest()


def entries_of(
    paths: Sequence[Path],
    problems: Mapping[str, str],
    options: GradeOptions,
    keys: Keys,
    apis: frozenset[Api],
) -> Iterator[Entry]:
    """Every submission, each checked. None of their code runs.

    Args:
        paths: files and folders, each one submission, and files of JSONL.
        problems: PATH or PATH:NAME by name.
        options: how to grade; their language holds for lines without one.
        keys: makes the keys.
        apis: the vendors whose submissions are graded; see apis_of().

    Raises:
        UsageError: a path or a line cannot be used, or an id is there twice. The message has the place.
        ShimError: a submission is in HIP, and this installation cannot grade HIP.
    """
    seen: set[str] = set()
    for name, problem, submission, place in _submissions(paths, problems, options):
        if name in seen:
            raise UsageError(
                f"{place}: the id {name!r} is there twice; give each submission an id of its own"
            )
        if len(seen) == ENTRIES_MAX:
            raise UsageError(f"{place}: a batch has at most {ENTRIES_MAX} submissions; make another batch")
        seen.add(name)
        check_vendor(submission, options, apis, place)
        job = job_of(name, problem, submission)
        yield Entry(name, problem, submission, keys.key(job), sha256_of_job(job))


def _submissions(
    paths: Sequence[Path], problems: Mapping[str, str], options: GradeOptions
) -> Iterator[tuple[str, str, Submission, str]]:
    """Id, problem, submission, and the place for messages."""
    for path in paths:
        if path.suffix == LINES_SUFFIX and not path.is_dir():
            for number, line in enumerate(_lines(path), 1):
                if not line.strip():
                    continue
                place = f"{path}, line {number}"
                name, problem, source = _of_line(line, problems, options.language, place)
                yield name, problem, source, place
            continue
        problem = _problem(None, problems, str(path))
        yield str(path), problem, path, str(path)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LINE_MAX + 1):
                number += 1
                if len(line) > LINE_MAX:
                    raise UsageError(f"{path}, line {number}: a line may have {LINE_MAX} bytes")
                yield line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
    except OSError as error:
        raise UsageError(f"the submissions {path} cannot be read: {error.strerror}") from error


def _of_line(
    line: bytes, problems: Mapping[str, str], language: Language | None, place: str
) -> tuple[str, str, Source]:
    try:
        entry = msgspec.json.decode(without_halves(line), type=EntryLine)
        unique(line)
    except UNREADABLE as error:
        raise UsageError(
            f"{place}: {one_line(str(error))}; write {{id, problem, source, language}} as one line of JSON"
        ) from error
    chosen = entry.language or language
    if chosen is None:
        raise UsageError(f"{place}: the language is missing; add `language` to the line, or give --language")
    return entry.id, _problem(entry.problem, problems, place), Source(entry.source, chosen)


def _problem(name: str | None, problems: Mapping[str, str], place: str) -> str:
    """The problem of this name, or the only one."""
    if name is None and len(problems) == 1:
        return next(iter(problems.values()))
    if name is None or name not in problems:
        known = ", ".join(problems)
        what = "names no problem" if name is None else f"names the problem {name!r}"
        raise UsageError(f"{place}: it {what}, and the batch's problems are {known}; give one of these names")
    return problems[name]


def _class_of(problem: str) -> str:
    """The NAME of PATH:NAME, else empty."""
    return "" if Path(problem).exists() else problem.rpartition(":")[2]
