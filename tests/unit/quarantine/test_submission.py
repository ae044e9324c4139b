"""Accepted submissions, their hash, and the copy that runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchguard.errors import UsageError
from benchguard.fleet.job import job_of
from benchguard.ipc.deadline import Deadline
from benchguard.quarantine import submission as module
from benchguard.quarantine.submission import (
    check_outside,
    contents_of,
    copy_to,
    files_of,
    hash_of,
    is_altered,
    submission_of,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "handed-in"
    (place / "parts").mkdir(parents=True)
    (place / "submission.py").write_text("from parts import one")
    (place / "parts" / "one.py").write_text("one = 1")
    return place


@pytest.mark.parametrize(("suffix", "language"), [("py", "python"), ("cu", "cuda"), ("ptx", "ptx")])
def test_language_from_suffix(tmp_path: Path, suffix: str, language: str) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_text("text")
    submission = submission_of(path, None, None, "arguments")
    assert (submission.language, submission.entry, submission.main, submission.files) == (
        language,
        "solution",
        path.name,
        (path.name,),
    )


def test_language_option_overrides_suffix(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("text")
    assert submission_of(tmp_path / "x.txt", "cuda", "kernel", "tuple").language == "cuda"


def test_folder_loads_main_file(folder: Path) -> None:
    submission = submission_of(folder, None, None, "arguments")
    assert submission.files == ("parts/one.py", "submission.py")
    assert (submission.main, submission.root) == ("submission.py", folder)


def test_hash_covers_names_and_contents(folder: Path) -> None:
    def sha256() -> str:
        return submission_of(folder, None, None, "arguments").sha256

    first = sha256()
    assert first == sha256()
    (folder / "parts" / "one.py").write_text("one = 2")
    second = sha256()
    (folder / "parts" / "one.py").rename(folder / "parts" / "two.py")
    third = sha256()
    (folder / "parts" / "empty").touch()
    assert len({first, second, third, sha256()}) == 4
    fourth = sha256()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").touch()
    assert sha256() == fourth


def test_altered_copy_detected(folder: Path, tmp_path: Path) -> None:
    submission = submission_of(folder, None, None, "arguments")
    for number, alter in enumerate(
        [
            lambda copy: (copy / "new").touch(),
            lambda copy: (copy / "submission.py").unlink(),
            lambda copy: ((copy / "submission.py").chmod(0o644), (copy / "submission.py").write_text("x")),
            lambda copy: ((copy / "parts" / "one.py").unlink(), os.mkfifo(copy / "parts" / "one.py")),
        ]
    ):
        copy = tmp_path / f"copy-{number}"
        copy_to(submission, copy)
        assert not is_altered(copy, submission)
        alter(copy)  # type: ignore[no-untyped-call]
        assert is_altered(copy, submission)


def test_link_within_submission_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "link.py").symlink_to("parts/one.py")
    submission = submission_of(folder, None, None, "arguments")
    copy_to(submission, tmp_path / "copy")
    assert not (tmp_path / "copy" / "link.py").is_symlink()
    assert (tmp_path / "copy" / "link.py").read_text() == "one = 1"


def test_link_upwards_within_submission_followed(folder: Path) -> None:
    (folder / "parts" / "up.py").symlink_to("../link.py")
    (folder / "link.py").symlink_to("./parts/../submission.py")
    assert contents_of(folder, "parts/up.py") == (folder / "submission.py").read_bytes()


def _replace_folder(folder: Path, secrets: Path) -> None:
    (folder / "parts").rename(folder / "moved")
    (folder / "parts").symlink_to(secrets)


def _replace_file(folder: Path, secrets: Path) -> None:
    (folder / "parts" / "one.py").unlink()
    (folder / "parts" / "one.py").symlink_to(secrets / "one.py")


def _climb(folder: Path, secrets: Path) -> None:
    (folder / "parts" / "one.py").unlink()
    (folder / "parts" / "one.py").symlink_to(f"../../{secrets.name}/one.py")


def _lead_through_a_folder(folder: Path, secrets: Path) -> None:
    (folder / "way").symlink_to(secrets)
    (folder / "parts" / "one.py").unlink()
    (folder / "parts" / "one.py").symlink_to("../way/one.py")


def _replace_root(folder: Path, secrets: Path) -> None:
    folder.rename(folder.with_name("moved"))
    (secrets / "parts").mkdir()
    (secrets / "one.py").rename(secrets / "parts" / "one.py")
    folder.symlink_to(secrets)


@pytest.mark.parametrize(
    "replace", [_replace_folder, _replace_file, _climb, _lead_through_a_folder, _replace_root]
)
def test_file_outside_is_not_read_in_place_of_one_that_was_listed(
    folder: Path, tmp_path: Path, replace: Callable[[Path, Path], None]
) -> None:
    """The owner of the folder may be another user than the grader, and change the folder after its files are listed."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "one.py").write_text("a secret of root's")
    names = files_of(folder)
    replace(folder, secrets)
    assert (folder / "parts" / "one.py").read_text() == "a secret of root's"
    with pytest.raises(UsageError, match="cannot be read"):
        contents_of(folder, "parts/one.py")
    with pytest.raises(UsageError, match="cannot be read"):
        hash_of(folder, names)


def test_change_before_copy_refused(folder: Path, tmp_path: Path) -> None:
    submission = submission_of(folder, None, None, "arguments")
    (folder / "submission.py").write_text("other")
    with pytest.raises(UsageError, match="was changed while it was read"):
        copy_to(submission, tmp_path / "copy")


def _link_outside(folder: Path) -> None:
    (folder / "x").symlink_to("/etc/passwd")


def _link_to_a_folder(folder: Path) -> None:
    (folder / "x").symlink_to("parts")


def _link_to_itself(folder: Path) -> None:
    (folder / "x").symlink_to("x")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "x")


def _not_utf8(folder: Path) -> None:
    (folder / os.fsdecode(b"parts/\xff.py")).touch()


def _deep(folder: Path) -> None:
    (folder / "/".join("d" * 40)).mkdir(parents=True)


def _many(folder: Path) -> None:
    for number in range(60):
        (folder / str(number)).touch()


def _large(folder: Path) -> None:
    with (folder / "x").open("wb") as stream:
        stream.truncate(257 << 20)


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (_link_outside, "leads outside the submission"),
        (_link_to_a_folder, "is a link to a folder"),
        (_link_to_itself, "cannot be read"),
        (_pipe, "neither a file nor a folder"),
        (_not_utf8, "is not UTF-8"),
        (_deep, "deep"),
        (_many, "more than 50 files"),
        (_large, "more than 256 MiB"),
    ],
)
def test_invalid_trees_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, prepare, why: str) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "FILES_MAX", 50)
    prepare(folder)
    with pytest.raises(UsageError, match=why):
        submission_of(folder, None, None, "arguments")


def test_path_that_is_not_utf8_refused(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.py")
    path.touch()
    with pytest.raises(UsageError, match="is not UTF-8"):
        submission_of(path, None, None, "arguments")
    with pytest.raises(UsageError, match="is not UTF-8"):
        job_of("0", "problem.py", path)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("gone.py", None, None, "arguments"), "No such file"),
        (("submission.py", "rust", None, "arguments"), "unknown language 'rust'; give python, cuda, ptx"),
        (("submission.py", None, "a b", "arguments"), "invalid entry 'a b'"),
        (("submission.py", None, None, "guess"), "unknown convention 'guess'"),
        (("parts", "cuda", None, "arguments"), "cannot tell which file of"),
    ],
)
def test_invalid_options_refused(folder: Path, arguments: tuple[str, str, str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        submission_of(folder / arguments[0], *arguments[1:])


def test_link_with_a_suffix_to_a_file_without_one_has_a_language(tmp_path: Path) -> None:
    """As in stores that name a file by its content: Hugging Face's cache, bazel's."""
    (tmp_path / "5f0c").write_text("x")
    (tmp_path / "kernel.ptx").symlink_to("5f0c")
    assert submission_of(tmp_path / "kernel.ptx", None, None, "arguments").language == "ptx"
    job = job_of("0", "problem.py", tmp_path / "kernel.ptx")
    assert (job.name, job.files) == ("kernel.ptx", {"kernel.ptx": b"x"})


def test_unknown_suffix_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").touch()
    with pytest.raises(
        UsageError, match=r"cannot tell the language of .*; use a suffix of \.py, \.cu, \.ptx"
    ):
        submission_of(tmp_path / "x.txt", None, None, "arguments")


@pytest.mark.parametrize("place", ["submission.py", "kept/result.json", "link/result.json", "."])
def test_output_in_a_submission_is_refused(tmp_path: Path, place: str) -> None:
    """It would replace a file, or the next grade's copy would have the result of this one."""
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "submission.py").write_text("")
    (folder / "link").symlink_to(folder)
    with pytest.raises(UsageError, match="is a part of the submission"):
        check_outside(folder / place, [folder])
    check_outside(tmp_path / "result.json", [folder])
    check_outside(folder / "result.json", [folder / "submission.py"])
    (tmp_path / "loop").symlink_to("loop")
    check_outside(tmp_path / "loop", [folder])


@pytest.mark.parametrize(("seconds", "is_late"), [(-1.0, True), (1e6, False)])
def test_copy_ends_at_the_deadline(tmp_path: Path, seconds: float, is_late: bool) -> None:
    """A submission of 1 GiB took 9 s of a time-out of 10 s, and then passed for a sandbox that does not start."""
    path = tmp_path / "s.py"
    path.write_text("def solution(): pass\n")
    submission = submission_of(path, None, "solution", "arguments")
    deadline = Deadline(time.monotonic() + seconds)
    with pytest.raises(UsageError, match="not copied within half") if is_late else nullcontext():
        copy_to(submission, tmp_path / "copy", deadline)
