"""Logs that are continued in other files: readers take all files, and name the file that is missing or altered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard import LogError, read_log, verify_log
from benchguard.audit.find_log import _open_logs
from benchguard.audit.follow import follow_lines, has_writer
from benchguard.audit.log import LogWriter, checked_lines
from benchguard.audit.parts import PART_BYTES_MIN, part_path, size_of
from benchguard.audit.summary import summarise
from benchguard.audit.typed_log import LogEntries, end_time
from benchguard.errors import BenchguardError
from benchguard.ipc.json_text import json_line
from tests.support.log_lines import call, end, launch, session

LAUNCHES = 600
LINES = [session(), *(launch(f"k{n}", None, None, time_ns=n) for n in range(LAUNCHES)), end(time_ns=LAUNCHES)]


def write(path: Path, part_bytes: int | None = PART_BYTES_MIN, replace: bool = False) -> LogWriter:
    log = LogWriter(path, replace=replace, part_bytes=part_bytes)
    for line in LINES:
        log.write(json_line(line))
        log.flush()
    log.close()
    return log


@pytest.fixture(params=["x.jsonl", "x.jsonl.zst"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> LogWriter:
    # The compact log of all lines has less than the least limit.
    limit = PART_BYTES_MIN if request.param == "x.jsonl" else 4 << 10
    return write(tmp_path / request.param, limit)


def test_files_of_a_log_have_all_lines_and_one_chain(log: LogWriter) -> None:
    assert log.parts > 2
    lines = list(read_log(log.path))
    kinds = [line["kind"] for line in lines]
    assert kinds.count("launch") == LAUNCHES
    assert kinds.count("continued") == kinds.count("part") == log.parts - 1
    assert (verify_log(log.path).lines, verify_log(log.path).head) == (log.lines, log.head.decode())
    assert end_time(log.path) == LAUNCHES
    summary = summarise(log.path)
    assert [kernel.launches for kernel in summary.kernels] == [1] * LAUNCHES
    entries = LogEntries(log.path)
    assert len(list(entries)) == log.lines and not entries.unknown and not entries.problem


def test_json_files_obey_the_limit(tmp_path: Path) -> None:
    log = write(tmp_path / "x.jsonl")
    sizes = [part_path(log.path, part).stat().st_size for part in range(1, log.parts + 1)]
    assert max(sizes) <= PART_BYTES_MIN and min(sizes[:-1]) > PART_BYTES_MIN - 2048
    assert size_of(log.path) == sum(sizes)


def test_line_longer_than_a_file_is_written_alone(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "x", part_bytes=PART_BYTES_MIN)
    long = json_line({**call("cuInit"), "note": "x" * (2 * PART_BYTES_MIN)})
    for line in (json_line(session()), long, long, json_line(end())):
        log.write(line)
    log.close()
    assert log.parts == 4
    assert [line["kind"] for line in read_log(log.path)].count("call") == 2


def test_positions_count_through_all_files(log: LogWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.audit.log.REPORT_LINES", 1)
    positions: list[int] = []
    list(checked_lines(log.path, positions.append))
    assert positions == sorted(positions) and positions[-1] == size_of(log.path)


@pytest.mark.full
def test_log_is_followed_through_all_files(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "x", part_bytes=PART_BYTES_MIN)
    followed = follow_lines(log.path, lambda: False)
    kinds = []
    for line in LINES:
        log.write(json_line(line))
        log.flush()
        assert has_writer(log.path), "a reader would take the log for complete"
        while (entry := next(followed)) is not None:
            kinds.append(entry["kind"])
            if entry["kind"] == "end":
                break
    log.close()
    assert not has_writer(log.path)
    assert log.parts > 2 and kinds.count("launch") == LAUNCHES and kinds[-1] == "end"


def test_log_of_a_process_is_found_in_its_first_file(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "x", part_bytes=PART_BYTES_MIN)
    for line in LINES[:-1]:
        log.write(json_line(line))
    log.flush()
    assert log.parts > 2
    opened = set(_open_logs(os.getpid()))  # logs of other tests may still be open
    assert {each for each in opened if each.parent == tmp_path} == {log.path}
    log.close()


def test_missing_file_is_named(log: LogWriter) -> None:
    second = part_path(log.path, 2)
    second.unlink()
    with pytest.raises(LogError, match=f"{second.name} is missing: the log .* continues there"):
        verify_log(log.path)
    entries = LogEntries(log.path)
    assert [line for line in entries if line] and "is missing" in entries.problem
    assert end_time(log.path) is None


def test_last_file_that_is_missing_is_noticed(log: LogWriter) -> None:
    part_path(log.path, log.parts).unlink()
    with pytest.raises(LogError, match="is missing"):
        verify_log(log.path)


def test_continuation_alone_is_refused(log: LogWriter) -> None:
    with pytest.raises(LogError, match="give the log's first file"):
        verify_log(part_path(log.path, 2))


def test_exchanged_files_are_noticed(log: LogWriter) -> None:
    second, third = part_path(log.path, 2), part_path(log.path, 3)
    second_bytes = second.read_bytes()
    second.write_bytes(third.read_bytes())
    third.write_bytes(second_bytes)
    with pytest.raises(LogError, match=rf"{second.name}.*(was exchanged|do not match)"):
        verify_log(log.path)


def test_lines_after_a_continued_file_are_noticed(tmp_path: Path) -> None:
    log = write(tmp_path / "x")
    with log.path.open("ab") as file:
        file.write(b'{"kind":"note","previous":"%s"}\n' % (b"0" * 64))
    with pytest.raises(LogError, match="continues after its continued line"):
        verify_log(log.path)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir])
def test_other_things_than_files_are_not_opened(tmp_path: Path, make: object) -> None:
    log = write(tmp_path / "x")
    second = part_path(log.path, 2)
    second.unlink()
    make(second)  # type: ignore[operator]
    with pytest.raises(LogError, match="is not a regular file"):
        verify_log(log.path)
    with pytest.raises(LogError, match="is not a regular file"):
        list(follow_lines(log.path, lambda: True))
    assert end_time(log.path) is None


def test_files_of_an_earlier_run_are_kept_or_replaced(tmp_path: Path) -> None:
    before = write(tmp_path / "x")
    before.path.unlink()
    with pytest.raises(BenchguardError, match=r"x\.2 exists already; .*--force"):
        write(tmp_path / "x")
    after = write(tmp_path / "x", 2 * PART_BYTES_MIN, replace=True)
    assert after.parts < before.parts
    assert verify_log(tmp_path / "x").head == after.head.decode()


def test_file_that_cannot_be_made_ends_the_log_with_a_reason(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / "x", part_bytes=PART_BYTES_MIN)
    part_path(log.path, 2).mkdir()
    for line in LINES:
        log.write(json_line(line))
    log.close()
    assert log.error is not None and "x.2 exists already" in log.error
    with pytest.raises(LogError, match="cut short"):
        verify_log(log.path)
