"""Jobs, orders and answers: source code travels as data, and an answer is parsed against its schema."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.fleet import job as module
from benchguard.fleet.job import Job, Source, job_of, jobs_of
from benchguard.fleet.order import Answer, order_bytes, parse_answer, parse_order
from benchguard.grade.options import GradeOptions
from benchguard.ipc.json_text import json_line
from tests.support.results import graded_result


def test_options_and_files_survive_the_journey(tmp_path: Path) -> None:
    options = GradeOptions(
        driver="sim",
        samples=8,
        cases=("a", "b"),
        adapter_options={"x": "y"},
        forbid_library=("cublas*",),
        timeout=5,
    )
    source = tmp_path / "folder"
    (source / "deep").mkdir(parents=True)
    (source / "main.py").write_bytes(b"\xff\x00 no text")
    (source / "deep" / "data.bin").write_bytes(b"1")
    order = parse_order(order_bytes(job_of("7", "p.py:Name", source), options))
    assert order.grade_options() == options
    assert (order.job.id, order.job.problem) == ("7", "p.py:Name")
    target = tmp_path / "target"
    target.mkdir()
    written = order.job.write(target)
    assert written == target / "folder"
    assert (written / "main.py").read_bytes() == b"\xff\x00 no text"
    assert (written / "deep" / "data.bin").read_bytes() == b"1"


def test_text_gets_the_suffix_of_its_language(tmp_path: Path) -> None:
    written = job_of("0", "p.py", Source("x = '\udcff'", "python")).write(tmp_path)
    assert written.name == "submission.py"
    assert written.read_bytes() == b"x = '\xed\xb3\xbf'"


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out", "", ".", "a/\x00b"])
def test_path_that_leaves_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    """With the honest control: a path in a folder is written."""
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match="is not the path of a file"):
        Job("0", "p.py", "s", True, {name: b"x"}).write(tmp_path / "in")
    assert [each.name for each in tmp_path.iterdir()] == ["in"]
    Job("0", "p.py", "s", True, {"a/b": b"x"}).write(tmp_path / "in")
    assert (tmp_path / "in" / "s" / "a" / "b").read_bytes() == b"x"


def test_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not the name of a submission"):
        Job("0", "p.py", "../s", True, {"a": b"x"}).write(tmp_path)


def test_large_submission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOB_BYTES_MAX", 3)
    (tmp_path / "s.cu").write_text("1234")
    with pytest.raises(UsageError, match="can be sent"):
        list(jobs_of("p.py", [tmp_path / "s.cu"]))
    with pytest.raises(UsageError, match="cannot be read"):
        list(jobs_of("p.py", [tmp_path / "absent.cu"]))


def test_ids_are_names_or_numbers() -> None:
    source = Source("", "ptx")
    assert [each.id for each in jobs_of("p.py", [source, source])] == ["0", "1"]
    assert [each.id for each in jobs_of("p.py", {"a": source, "b": source})] == ["a", "b"]


def test_random_answers_are_parsed_or_refused() -> None:
    """A fuzzer with a fixed seed. No bytes are unpickled, whatever they are."""
    good = json_line(Answer(graded_result("wrong", reason="r")))
    assert parse_answer(good).result == graded_result("wrong", reason="r")
    kept = 0
    for seed in range(1000):
        draw = random.Random(seed)
        data = bytearray(good)
        at = draw.randrange(len(data))
        data[at : at + draw.randrange(4)] = draw.randbytes(draw.randrange(4))
        try:
            kept += parse_answer(bytes(data)).result is not None
        except BenchguardError as error:
            assert "invalid answer" in str(error)
    assert kept > 20
    for data in (b"\x80\x04\x95", b"null", b"[" * 100_000, b'{"trouble":""}'):
        with pytest.raises(BenchguardError, match="invalid answer"):
            parse_answer(data)


def test_random_orders_are_parsed_or_refused() -> None:
    good = order_bytes(job_of("0", "p.py", Source("x", "cuda")), GradeOptions())
    for seed in range(500):
        draw = random.Random(seed)
        data = bytearray(good)
        at = draw.randrange(len(data))
        data[at : at + draw.randrange(4)] = draw.randbytes(draw.randrange(4))
        try:
            parse_order(bytes(data))
        except BenchguardError as error:
            assert "invalid order" in str(error)
