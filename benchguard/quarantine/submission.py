"""What was handed in: a file or a folder, hashed, and the copy of it that runs."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ..errors import BenchguardError, UsageError
from .contract import Convention, Language

LANGUAGES: dict[str, Language] = {".py": "python", ".cu": "cuda", ".ptx": "ptx"}
MAIN_NAMES = ("submission", "solution", "kernel", "main")
"""Which file of a folder is loaded, by its name without suffix: the first of these that is there."""

FILES_MAX = 4096
FILE_BYTES_MAX = 256 << 20
TREE_BYTES_MAX = 1 << 30
DEPTH_MAX = 32
_LEFT_OUT = frozenset({"__pycache__", ".git"})
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Submission:
    """`files` are relative to `root`, sorted; `main` is the one that is loaded. `path` is what was named."""

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
    """Raises UsageError for what cannot be a submission."""
    named = Path(path)
    try:
        place = named.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"the submission {named} cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    if language is not None and language not in get_args(Language):
        raise UsageError(f"the language {language!r} is not known; give {', '.join(get_args(Language))}")
    if convention not in get_args(Convention):
        raise UsageError(
            f"the convention {convention!r} is not known; give {', '.join(get_args(Convention))}"
        )
    if entry is not None and not entry.isidentifier():
        raise UsageError(f"the entry {entry!r} is no name; give that of a function, or of a class")
    whole = place.is_dir()
    root = place if whole else place.parent
    files = files_of(place) if whole else (place.name,)
    main = _main_of(place, files, language) if whole else place.name
    found = language or LANGUAGES.get(Path(main).suffix)
    if found is None:
        raise UsageError(
            f"the language of {place / main if whole else place} is not told by its suffix; name it "
            f"{', '.join(LANGUAGES)}, or give the language"
        )
    return Submission(
        path=place,
        language=found,  # type: ignore[arg-type]  # one of Language, as checked above
        entry=entry or "solution",
        convention=convention,  # type: ignore[arg-type]
        sha256=hash_of(root, files),
        files=files,
        main=main,
    )


def files_of(root: Path) -> tuple[str, ...]:
    """The files of a tree, relative and sorted; bytecode and version control's folder are left out.

    Raises UsageError for a link that leaves it, for what is neither a file nor a folder, and for too much.
    """
    found: list[str] = []
    total = 0
    for path in _walk(root, root, 0):
        status = _status_of(path, root)
        total += status.st_size
        found.append(str(path.relative_to(root)))
        if len(found) > FILES_MAX or total > TREE_BYTES_MAX:
            raise UsageError(
                f"the submission {root} has more than {FILES_MAX} files or {TREE_BYTES_MAX >> 20} MiB; "
                "leave out what it does not need"
            )
    if not found:
        raise UsageError(f"the submission {root} has no files")
    return tuple(sorted(found))


def hash_of(root: Path, files: tuple[str, ...]) -> str:
    """SHA-256 over each file's name, size and content, in the order given. Raises UsageError."""
    whole = hashlib.sha256()
    for name in files:
        content = hashlib.sha256()
        size = 0
        for chunk in _chunks(root, name):
            size += len(chunk)
            content.update(chunk)
        label = os.fsencode(name)
        whole.update(b"%d %s %d %s\n" % (len(label), label, size, content.hexdigest().encode()))
    return whole.hexdigest()


def copy_to(submission: Submission, target: Path) -> None:
    """A copy that its owner alone may alter, and everybody read. Raises BenchguardError, UsageError.

    This is what runs: nobody can alter it between its hash and its run, and it can be read where the original's
    folder cannot.
    """
    try:
        target.mkdir(mode=0o755)
        for name in submission.files:
            place = target / name
            place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            with place.open("xb") as written:
                for chunk in _chunks(submission.root, name):
                    written.write(chunk)
            place.chmod(0o444)
        for folder in {target, *(target / name for name in _folders(submission.files))}:
            folder.chmod(0o755)
    except OSError as error:
        raise BenchguardError(
            f"cannot copy the submission to {target}: {error.strerror}; make room there"
        ) from error
    if hash_of(target, submission.files) != submission.sha256:
        raise UsageError(f"the submission {submission.path} was changed while it was read; try again")


def is_altered(root: Path, submission: Submission) -> bool:
    """Whether the copy is not any more what was hashed."""
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
    for wanted in MAIN_NAMES:
        named = [name for name in sources if Path(name).stem == wanted]
        if len(named) == 1:
            return named[0]
    if len(sources) == 1:
        return sources[0]
    raise UsageError(
        f"which file of {folder} is loaded? name one {' or '.join(f'{each}.py' for each in MAIN_NAMES[:2])} "
        "(.cu, .ptx), or name the file itself"
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
    """Of a file, or of the file of the same tree that a link leads to."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            target = path.resolve(strict=True)
            if not target.is_relative_to(root) or not target.is_file():
                raise UsageError(f"the submission's link {path} leaves it; put the file itself there")
            status = target.stat()
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"the submission's {path} cannot be read: {getattr(error, 'strerror', error)}"
        ) from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"the submission's {path} is neither a file nor a folder; take it out")
    if status.st_size > FILE_BYTES_MAX:
        raise UsageError(f"the submission's {path} has more than {FILE_BYTES_MAX >> 20} MiB")
    return status


def _chunks(root: Path, name: str) -> Iterator[bytes]:
    """What a file holds. It may change while it is read, but not into a pipe that never ends."""
    path = root / name
    _status_of(path, root)
    try:
        descriptor = os.open(path.resolve(), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"the submission's {path} is not a file any more; try again")
            left = FILE_BYTES_MAX
            while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
                left -= len(chunk)
                yield chunk
    except OSError as error:
        raise UsageError(f"the submission's {path} cannot be read: {error.strerror}") from error
