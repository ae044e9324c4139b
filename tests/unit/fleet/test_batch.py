"""The results of a batch, and its submissions: torn lines, full disks, hostile lines, equal contents."""

from __future__ import annotations

import codecs
import json
import random
import resource
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchguard.errors import BenchguardError, UsageError
from benchguard.fleet import batch_results
from benchguard.fleet.batch import Batch, Settings
from benchguard.fleet.batch_entry import Entry, Keys, entries_of
from benchguard.fleet.batch_results import SCHEMA, BatchLine, BatchResults
from benchguard.grade.options import GradeOptions
from benchguard.shim.vendors import Api
from benchguard.toolchain.paths import HIP_BRIDGE
from tests.support.mixed import PROBLEM
from tests.support.results import graded_result

OPTIONS = GradeOptions(driver="sim")
built = pytest.mark.skipif(
    not HIP_BRIDGE.is_file(), reason=f"{HIP_BRIDGE} is not built: no hip_runtime_api.h on this machine"
)
NAMED = {"add": str(PROBLEM)}
BOTH = frozenset[Api]({"cuda", "hip"})
KEYS = Keys.of([str(PROBLEM)], OPTIONS, False, "1")


def line_of(job: str, verdict: bool = True, name: str = "a") -> BatchLine:
    result = graded_result() if verdict else None
    word = result.verdict if result else None
    trouble = "" if verdict else "the machine failed"
    return BatchLine(SCHEMA, job, name, "p", "s", {}, word, trouble, 1, "here", "final", result)


def stored(path: Path, *lines: BatchLine) -> bytes:
    with BatchResults(path) as results:
        for line in lines:
            results.append(line)
    return path.read_bytes()


def entries(*paths: Path, options: GradeOptions = OPTIONS) -> list[Entry]:
    return list(entries_of(paths, NAMED, options, KEYS, BOTH))


def test_torn_line_at_any_byte_is_removed_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = stored(path, line_of("1"))
    both = stored(path, line_of("2"))
    for end in (*range(len(first) + 1, len(first) + 50), len(both) - 1):
        path.write_bytes(both[:end])
        with BatchResults(path) as results:
            assert set(results.outcomes) == {"1"} and results.repaired == end - len(first)
        assert path.read_bytes() == first
    path.write_bytes(first + bytes(100))  # a file system may have the length of a line without its bytes
    with BatchResults(path) as results:
        assert set(results.outcomes) == {"1"}


@pytest.mark.parametrize(
    "content", [b"notes without an end", b"notes\n", b"{}\n", b"\x80\n", b"[" * 5000 + b"\n"]
)
def test_file_of_other_content_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="name a"):
        BatchResults(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("begin", [b"", b'{"schema":"neutrino-bench/batch/1"'])
def test_line_that_is_too_long_is_refused_and_what_follows_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    """It was taken for the torn last line, and removed with all that follows."""
    monkeypatch.setattr(batch_results, "LINE_MAX", 1000)
    path = tmp_path / "r.jsonl"
    content = stored(path, line_of("1")) + begin + bytes(2000) + b"\nvaluable\n"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="name another file"):
        BatchResults(path)
    assert path.read_bytes() == content


def test_second_batch_on_the_same_file_is_refused(tmp_path: Path) -> None:
    with BatchResults(tmp_path / "r.jsonl"), pytest.raises(UsageError, match="another batch writes"):
        BatchResults(tmp_path / "r.jsonl")


def test_full_disk_is_an_error_and_keeps_whole_lines(tmp_path: Path) -> None:
    """A limit on the size of files cuts a write as a full disk does: a part of the line is written first."""
    path = tmp_path / "r.jsonl"
    first = stored(path, line_of("1"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with BatchResults(path) as results:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(first) + 40, limits[1]))
        try:
            with pytest.raises(BenchguardError, match=r"make room, .* keeps the 1 results"):
                results.append(line_of("2"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == first
        results.append(line_of("2"))
    assert len(path.read_bytes().splitlines()) == 2


def test_failure_of_a_machine_is_stored_and_is_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    stored(path, line_of("1", verdict=False))
    with BatchResults(path) as results:
        assert not results.outcomes
        results.append(line_of("1"))
        assert results.outcomes["1"][0] == "pass" and [each.job for each in results.lines()] == ["1"]


def test_content_and_not_the_name_identifies_a_job(tmp_path: Path) -> None:
    for name, text in (("a.ptx", "x"), ("b.ptx", "x"), ("c.ptx", "y"), ("d.cu", "x")):
        (tmp_path / name).write_text(text)
    a, b, c, d = entries(*(tmp_path / name for name in ("a.ptx", "b.ptx", "c.ptx", "d.cu")))
    assert a.key == b.key and len({a.key, c.key, d.key}) == 3
    other = Keys.of([str(PROBLEM)], GradeOptions(driver="sim", samples=9), False, "1")
    assert other.key(a.job(0)) != a.key == KEYS.key(a.job(0))


def test_resumed_batch_counts_the_results_without_a_bundle(tmp_path: Path) -> None:
    for name in ("a.ptx", "b.ptx"):
        (tmp_path / name).write_text(name)
    found = entries(*sorted(tmp_path.glob("*.ptx")))
    lines = [
        replace(line_of(each.key, name=each.id), bundle=bundle)
        for each, bundle in zip(found, ("", "1"), strict=True)
    ]
    stored(tmp_path / "r.jsonl", *lines)
    with BatchResults(tmp_path / "r.jsonl") as results:
        batch = Batch(found, results, KEYS, Settings(OPTIONS))
        assert (batch.finished, batch.unbundled) == (2, 1)


def test_job_that_was_lost_before_is_tried_after_all_others(tmp_path: Path) -> None:
    """Three submissions that exhaust the machine stop a batch. They must not stop it again before the others."""
    for name in "abcde":
        (tmp_path / f"{name}.ptx").write_text(name)
    found = entries(*sorted(tmp_path.glob("*.ptx")))
    keys = [each.key for each in found]
    lost = [line_of(key, verdict=False) for key in keys[:3]]
    stored(tmp_path / "r.jsonl", *lost, line_of(keys[0]))
    with BatchResults(tmp_path / "r.jsonl") as results:
        batch = Batch(found, results, KEYS, Settings(OPTIONS))
        assert batch.order() == [keys[3], keys[4], keys[1], keys[2]]


def test_job_with_a_verdict_is_not_graded_again_under_another_name(tmp_path: Path) -> None:
    for name in ("a.ptx", "b.ptx", "c.ptx"):
        (tmp_path / name).write_text("y" if name == "c.ptx" else "x")
    found = entries(*sorted(tmp_path.glob("*.ptx")))
    with BatchResults(tmp_path / "r.jsonl") as results:
        results.append(line_of(found[0].key, name=found[0].id))
        batch = Batch(found, results, KEYS, Settings(OPTIONS))
        assert list(batch.waiting) == [found[2].key] and batch.finished == 2
        assert [each.id for each in results.lines()] == [found[0].id, found[1].id]
        assert batch.verdicts() == {"pass": 2, "none": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Input data was truncated"),
        ("[]", "Expected `object`"),
        ('{"id": "a"}', "missing required field `source`"),
        ('{"id": "a", "source": "x", "source": "y", "language": "ptx"}', "the name 'source' twice"),
        ('{"id": "", "source": "x"}', "length >= 1"),
        ('{"id": "a", "source": "x", "path": "/etc"}', "unknown field `path`"),
        ('{"id": "a", "source": "x", "language": "sh"}', "Invalid enum value"),
        ('{"id": "a", "source": "x"}', "the language is missing"),
        (
            '{"id": "a", "source": "x", "language": "ptx", "problem": "/etc/passwd"}',
            "names the problem '/etc/passwd'",
        ),
        ('{"id": "first", "source": "x", "language": "ptx"}', "there twice"),
    ],
)
def test_invalid_line_is_one_message_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        json.dumps({"id": "first", "source": "x", "language": "ptx", "problem": "add"}) + f"\n{line}\n"
    )
    with pytest.raises(UsageError) as caught:
        entries(path)
    text = str(caught.value)
    assert message in text and f"{path}, line 2: " in text and "\n" not in text


def test_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        "\n" + json.dumps({"id": "a", "source": "x", "language": "ptx", "problem": "add"}) + "\n \n\n"
    )
    assert [each.id for each in entries(path)] == ["a"]


def test_byte_order_mark_before_the_first_line_is_left_out(tmp_path: Path) -> None:
    """PowerShell and spreadsheets write one."""
    line = json.dumps({"id": "a", "source": "x", "language": "ptx", "problem": "add"}).encode() + b"\n"
    path = tmp_path / "s.jsonl"
    path.write_bytes(codecs.BOM_UTF8 + line)
    assert [each.id for each in entries(path)] == ["a"]
    path.write_bytes(line.replace(b'"a"', b'"b"') + codecs.BOM_UTF8 + line)
    with pytest.raises(UsageError, match="line 2"):
        entries(path)


def test_hostile_lines_give_entries_or_one_message(tmp_path: Path) -> None:
    source = json.dumps({"id": "a", "source": "x" * 20, "language": "ptx", "problem": "add"}).encode() + b"\n"
    path = tmp_path / "s.jsonl"
    chance = random.Random(18)
    for _ in range(300):
        data = bytearray(source)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            assert all(each.problem == str(PROBLEM) for each in entries(path))
        except UsageError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("half", ["\ud800", "\udc00", "\ude00\ud83d"])
def test_line_with_half_of_a_surrogate_pair_refuses_no_batch(tmp_path: Path, half: str) -> None:
    """As a model emits it and Python's json.dumps writes it. Behind a backslash, the same letters are text."""
    source = rf"// {half} \ud800 " + "\U0001f600"
    rows = [{"id": name, "source": source, "language": "ptx"} for name in ("a", "b")]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = source.replace(half, "\ufffd" * len(half)).encode()
    assert [list(each.job(0).files.values()) for each in entries(path)] == [[expected]] * 2


@pytest.mark.parametrize("as_line", [False, True])
@pytest.mark.parametrize(("suffix", "language", "api"), [(".hip", "hip", "cuda"), (".ptx", "ptx", "hip")])
@built
def test_submission_for_another_vendors_driver_is_refused_with_its_place(
    tmp_path: Path, suffix: str, language: str, api: Api, as_line: bool
) -> None:
    path = tmp_path / ("a.jsonl" if as_line else f"a{suffix}")
    row = {"id": "x", "source": "s", "language": language}
    path.write_text(json.dumps(row) + "\n" if as_line else "s")
    with pytest.raises(UsageError, match="cannot be graded on --driver sim here") as caught:
        list(entries_of([path], NAMED, OPTIONS, KEYS, frozenset({api})))
    assert str(caught.value).startswith(f"{path}, line 1: " if as_line else f"{path}: ")
    assert len(entries(path)) == 1


@built
def test_option_for_cuda_alone_is_refused_with_the_place_of_the_hip_submission(tmp_path: Path) -> None:
    path = tmp_path / "a.hip"
    path.write_text("s")
    with pytest.raises(UsageError, match=r"a\.hip: --inline cannot be used with a submission in HIP"):
        entries(path, options=GradeOptions(driver="sim", inline=True))


def test_line_whose_language_is_not_that_of_the_options_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "x", "source": "s", "language": "ptx"}\n')
    with pytest.raises(UsageError, match="line 1: its language is ptx, and --language is cuda"):
        entries(path, options=GradeOptions(driver="sim", language="cuda"))
    assert len(entries(path, options=GradeOptions(driver="sim", language="ptx"))) == 1
