"""Read, hash and copy a submission, which is a file or a folder. The copy runs."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ..errors import BenchguardError, UsageError
from ..ipc.deadline import Deadline
from .contract import Convention, Language
from .inside import open_inside

LANGUAGES: dict[str, Language] = {".py": "python", ".cu": "cuda", ".ptx": "ptx", ".hip": "hip"}
MAIN_NAMES = ("submission", "solution", "kernel", "main")
"""The file of a folder that is loaded: the first of these names, without suffix, that exists."""

FILES_MAX = 4096
FILE_BYTES_MAX = 256 << 20
TREE_BYTES_MAX = 1 << 30
DEPTH_MAX = 32
_LEFT_OUT = frozenset({"__pycache__", ".git"})
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Submission:
    """`files` are relative to `root` and sorted; `main` is the loaded file; `path` is as the user gave it."""

    path: Path
    language: Language
    entry: str
    convention: Convention
    sha256: str
    files: tuple[str, ...]
    main: str

    @property
    def root(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent


def submission_of(
    path: str | os.PathLike[str], language: str | None, entry: str | None, convention: str
) -> Submission:
    """Raises UsageError for an invalid submission or option."""
    source = Path(path)
    try:
        place = source.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"the submission {source} cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    if language is not None and language not in get_args(Language):
        raise UsageError(f"unknown language {language!r}; give {', '.join(get_args(Language))}")
    if convention not in get_args(Convention):
        raise UsageError(f"unknown convention {convention!r}; give {', '.join(get_args(Convention))}")
    if entry is not None and not entry.isidentifier():
        raise UsageError(f"invalid entry {entry!r}; give the name of a function or of a class")
    check_name(place)
    whole = place.is_dir()
    root = place if whole else place.parent
    files = files_of(place) if whole else (place.name,)
    main = _main_of(place, files, language) if whole else place.name
    # Stores of contents have links with a suffix to files without one.
    detected_language = language or LANGUAGES.get(Path(main).suffix) or LANGUAGES.get(source.suffix)
    if detected_language is None:
        raise UsageError(
            f"cannot tell the language of {place / main if whole else place}; use a suffix of "
            f"{', '.join(LANGUAGES)}, or pass --language"
        )
    return Submission(
        path=place,
        language=detected_language,  # type: ignore[arg-type]  # one of Language, as checked above
        entry=entry or "solution",
        convention=convention,  # type: ignore[arg-type]
        sha256=hash_of(root, files),
        files=files,
        main=main,
    )


def check_name(path: Path) -> None:
    """Raises UsageError for a path that is not UTF-8, which messages between processes and results cannot have."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the submission's path {path} is not UTF-8; rename the file") from error


def check_outside(path: Path, submissions: Iterable[str | os.PathLike[str]]) -> None:
    """Raises UsageError for an output's path in a submission.

    The output would replace a file of the submission, or later grades would copy it to where the submission can read.
    """
    place = Path(os.path.realpath(path))  # Path.resolve() raises RuntimeError for a link to itself
    for each in submissions:
        if place.is_relative_to(os.path.realpath(each)):
            raise UsageError(f"{path} is a part of the submission {each}; name another path")


def files_of(root: Path) -> tuple[str, ...]:
    """The files of a tree, relative and sorted, without bytecode and without .git.

    Raises UsageError for a link that leaves the tree, for special files, for names that are not UTF-8, and for too many
    files or bytes.
    """
    names: list[str] = []
    total = 0
    for path in _walk(root, root, 0):
        check_name(path)
        status = _status_of(path, root)
        total += status.st_size
        names.append(str(path.relative_to(root)))
        if len(names) > FILES_MAX or total > TREE_BYTES_MAX:
            raise UsageError(
                f"the submission {root} has more than {FILES_MAX} files or {TREE_BYTES_MAX >> 20} MiB; "
                "remove files that it does not need"
            )
    if not names:
        raise UsageError(f"the submission {root} has no files")
    return tuple(sorted(names))


def hash_of(root: Path, files: tuple[str, ...]) -> str:
    """SHA-256 over the name, size and content of each file, in order. Raises UsageError."""
    return hash_of_contents(_hashed(root, name) for name in files)


def hash_of_contents(files: Iterable[tuple[str, int, str]]) -> str:
    """As hash_of(), for the name, size and SHA-256 of each file."""
    whole = hashlib.sha256()
    for name, size, sha256 in files:
        label = os.fsencode(name)
        whole.update(b"%d %s %d %s\n" % (len(label), label, size, sha256.encode()))
    return whole.hexdigest()


def _hashed(root: Path, name: str) -> tuple[str, int, str]:
    content = hashlib.sha256()
    size = 0
    for chunk in _chunks(root, name):
        size += len(chunk)
        content.update(chunk)
    return name, size, content.hexdigest()


def copy_to(submission: Submission, target: Path, deadline: Deadline | None = None) -> None:
    """Make the copy that runs: only its owner can write to it, all users can read it.

    The copy cannot change between hash and run, and other users can read it even if they cannot read the original's
    folder. Raises BenchguardError, and UsageError for a submission that is not copied by `deadline`, too.
    """
    try:
        target.mkdir(mode=0o755)
        for name in submission.files:
            place = target / name
            place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            with place.open("xb") as copy:
                for chunk in _chunks(submission.root, name):
                    copy.write(chunk)
                    _check_time(submission, deadline)
            place.chmod(0o444)
        for folder in {target, *(target / name for name in _folders(submission.files))}:
            folder.chmod(0o755)
    except OSError as error:
        raise BenchguardError(
            f"cannot copy the submission to {target}: {error.strerror}; make room there"
        ) from error
    if hash_of(target, submission.files) != submission.sha256:
        raise UsageError(f"the submission {submission.path} was changed while it was read; try again")
    _check_time(submission, deadline)


def _check_time(submission: Submission, deadline: Deadline | None) -> None:
    if deadline is not None and deadline.left() < 0:
        raise UsageError(
            f"the submission {submission.path} was not copied within half of the time-out; end other programs, remove "
            "files that it does not need, or raise --timeout"
        )


def is_altered(root: Path, submission: Submission) -> bool:
    """Whether the copy differs from the hashed files."""
    try:
        return files_of(root) != submission.files or hash_of(root, submission.files) != submission.sha256
    except (UsageError, OSError):
        return True


def _folders(files: tuple[str, ...]) -> set[Path]:
    return {parent for name in files for parent in Path(name).parents}


def _main_of(folder: Path, files: tuple[str, ...], language: str | None) -> str:
    sources = [
        name
        for name in files
        if "/" not in name
        and LANGUAGES.get(Path(name).suffix, "") in ({language} if language else set(LANGUAGES.values()))
    ]
    for stem in MAIN_NAMES:
        matches = [name for name in sources if Path(name).stem == stem]
        if len(matches) == 1:
            return matches[0]
    if len(sources) == 1:
        return sources[0]
    raise UsageError(
        f"cannot tell which file of {folder} to load; rename one to "
        f"{' or '.join(f'{each}.py' for each in MAIN_NAMES[:2])} (.cu, .ptx), or pass the file itself"
    )


def _walk(folder: Path, root: Path, depth: int) -> Iterator[Path]:
    if depth > DEPTH_MAX:
        raise UsageError(f"the submission's folder {folder} is more than {DEPTH_MAX} deep")
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _LEFT_OUT:
                        yield from _walk(Path(entry.path), root, depth + 1)
                else:
                    yield Path(entry.path)
    except OSError as error:
        raise UsageError(f"the submission's folder {folder} cannot be read: {error.strerror}") from error


def _status_of(path: Path, root: Path) -> os.stat_result:
    """Status of a file. Links are followed if their target is in the same tree."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            target = path.resolve(strict=True)
            if target.is_relative_to(root) and target.is_dir():
                raise UsageError(f"the submission's {path} is a link to a folder; replace it by the folder")
            if not target.is_relative_to(root) or not target.is_file():
                raise UsageError(
                    f"the submission's link {path} leads outside the submission; replace it by the file"
                )
            status = target.stat()
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"the submission's {path} cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    _check_status(path, status)
    return status


def _check_status(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"the submission's {path} is neither a file nor a folder; remove it")
    if status.st_size > FILE_BYTES_MAX:
        raise UsageError(f"the submission's {path} has more than {FILE_BYTES_MAX >> 20} MiB")


def contents_of(root: Path, name: str) -> bytes:
    """The content of a file of the tree. Raises UsageError."""
    return b"".join(_chunks(root, name))


def _chunks(root: Path, name: str) -> Iterator[bytes]:
    """Content of a file. The tree may change meanwhile, but no file outside of it is read, and no endless pipe."""
    path = root / name
    try:
        descriptor = open_inside(root, name)
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            _check_status(path, os.fstat(descriptor))
            room = FILE_BYTES_MAX
            while room > 0 and (chunk := stream.read(min(room, _CHUNK))):
                room -= len(chunk)
                yield chunk
    except OSError as error:
        raise UsageError(f"the submission's {path} cannot be read: {error.strerror}") from error
