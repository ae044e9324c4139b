"""Lines of a log by their numbers: those of the whole log, from the nearest frame, or an error that names the file."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
import zstandard

from benchguard import LogError, read_log, verify_log
from benchguard.audit import compact, span
from benchguard.audit.chain import unchained
from benchguard.audit.line_index import LineIndex, Place, read_index
from benchguard.audit.log import LogWriter
from benchguard.audit.parts import PART_BYTES_MIN, part_path
from benchguard.audit.span import count_lines, numbered_lines
from benchguard.audit.typed_log import end_time
from benchguard.ipc.json_text import json_line
from tests.support.log_lines import end, launch, session

COUNT = 600
LINES = [session(), *(launch(f"k{n}", None, None, time_ns=n) for n in range(COUNT)), end(time_ns=COUNT)]
PLACE = 48
TAIL = 24
GOLDEN = Path(__file__).parent / "golden" / "indexed.jsonl"


@pytest.fixture(autouse=True)
def _small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "FRAME_BYTES", 8 << 10)
    monkeypatch.setattr(span, "READ_BYTES", 64)


def write(path: Path, part_bytes: int | None = None) -> LogWriter:
    log = LogWriter(path, part_bytes=part_bytes)
    for line in LINES:
        log.write(json_line(line))
        log.flush()
    log.close()
    return log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "x.zst").path


def index_of(path: Path) -> LineIndex:
    with path.open("rb") as file:
        index = read_index(file)
        assert index is not None
        index.places = [index.place(n) for n in range(index._frames + 1)]  # type: ignore[attr-defined]
    return index


def without_index(path: Path) -> bytes:
    return path.read_bytes()[: index_of(path).end.offset]


def altered_place(path: Path, frame: int, **changes: int | str) -> None:
    index, data = index_of(path), bytearray(path.read_bytes())
    old: Place = index.places[frame]  # type: ignore[attr-defined]
    new = Place(**{**vars(old), **changes})  # type: ignore[arg-type]
    at = index._start + frame * PLACE
    assert data[at : at + PLACE] == old.packed()
    data[at : at + PLACE] = new.packed()
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "part_bytes"), [("x", None), ("x.zst", None), ("x", PART_BYTES_MIN), ("x.zst", 4 << 10)]
)
def test_lines_have_the_numbers_of_the_whole_log(tmp_path: Path, name: str, part_bytes: int | None) -> None:
    log = write(tmp_path / name, part_bytes)
    assert (log.parts > 2) == (part_bytes is not None)
    whole = list(enumerate(read_log(log.path), 1))
    assert count_lines(log.path) == len(whole)
    for first, last in [
        (1, 1),
        (1, None),
        (300, 310),
        (len(whole), None),
        (599, 9999),
        (len(whole) + 1, None),
    ]:
        assert list(numbered_lines(log.path, first, last)) == whole[first - 1 : last]


def test_index_names_the_places_of_frames(log: Path) -> None:
    places = index_of(log).places  # type: ignore[attr-defined]
    assert len(places) > 8 and places[0] == Place(0, 0, "0" * 64)
    data, heads = log.read_bytes(), ["0" * 64, *(line["previous"] for line in list(read_log(log))[1:])]
    for place in places[:-1]:
        assert data[place.offset : place.offset + 4] == compact.MAGIC
        assert place.head == heads[place.lines]
    assert places[-1].lines == len(LINES) and places[-1].head == verify_log(log).head


def test_only_frames_near_the_lines_are_decompressed(log: Path) -> None:
    index, data = index_of(log), bytearray(log.read_bytes())
    first, second = index.places[:2]  # type: ignore[attr-defined]
    data[first.offset + 4 : second.offset] = bytes(second.offset - first.offset - 4)
    whole = list(read_log(log))
    log.write_bytes(data)
    assert list(numbered_lines(log, 500, 500)) == [(500, whole[499])]
    assert end_time(log) == COUNT
    with pytest.raises(LogError):
        list(numbered_lines(log, 5, 5))


@pytest.mark.parametrize("cut", [0, 7, TAIL, TAIL + 10, PLACE + TAIL])
def test_log_without_whole_index_is_read_from_its_beginning(log: Path, cut: int) -> None:
    whole, data = list(read_log(log)), log.read_bytes()
    log.write_bytes(data[:-cut] if cut else without_index(log))
    assert list(numbered_lines(log, 500, 501)) == [(500, whole[499]), (501, whole[500])]
    assert count_lines(log) == len(whole) and end_time(log) == COUNT
    assert verify_log(log).lines == len(whole)


@pytest.mark.parametrize(
    "changes", [{"lines": 71}, {"lines": 69}, {"offset": 1234}, {"offset": 1 << 60}, {"head": "ab" * 32}]
)
def test_false_index_is_refused(log: Path, changes: dict[str, int | str]) -> None:
    index = index_of(log)
    frame = 4
    if "lines" in changes:
        changes = {"lines": index.places[frame].lines + changes["lines"] - 70}  # type: ignore[attr-defined,operator]
    line = index.places[frame].lines + 5  # type: ignore[attr-defined]
    assert list(numbered_lines(log, line, line))  # control
    altered_place(log, frame, **changes)
    for first in (line, line - 8):  # from the false place, and across it
        with pytest.raises(LogError, match=r"the log was altered|a line was altered|bytes were added"):
            list(numbered_lines(log, first, line))
    with pytest.raises(LogError, match="the index does not match the lines"):
        verify_log(log)


def test_consistently_shifted_index_is_found_by_verification(log: Path) -> None:
    """The lines near the place agree with such an index, so only a reader of the whole file can refuse it."""
    index = index_of(log)
    for frame, place in enumerate(index.places):  # type: ignore[attr-defined]
        if frame:
            altered_place(log, frame, lines=place.lines + 1)
    assert list(numbered_lines(log, 500, 500))
    with pytest.raises(LogError, match="the index does not match the lines"):
        verify_log(log)


def test_altered_line_after_the_place_is_refused(tmp_path: Path) -> None:
    log = write(tmp_path / "x").path
    data = log.read_bytes()
    log.write_bytes(data.replace(b'"name":"k498"', b'"name":"k489"'))
    with pytest.raises(LogError, match=r"line 501: does not match the hash of the previous line"):
        list(numbered_lines(log, 501, 501))
    assert list(numbered_lines(log, 502, 502))  # its own line and the line before are whole


@pytest.mark.parametrize("name", ["x", "x.zst"])
def test_continuation_alone_and_exchanged_files_are_refused(tmp_path: Path, name: str) -> None:
    log = write(tmp_path / name, PART_BYTES_MIN if name == "x" else 4 << 10)
    second = part_path(log.path, 2)
    with pytest.raises(LogError, match="give the log's first file"):
        list(numbered_lines(second, 1, 9))
    second.write_bytes(part_path(log.path, 3).read_bytes())
    with pytest.raises(LogError, match=rf"{second.name}.*(exchanged|hash of the previous|do not match)"):
        list(numbered_lines(log.path, 1, None))
    second.unlink()
    with pytest.raises(LogError, match="is missing"):
        list(numbered_lines(log.path, COUNT, COUNT))


def test_frame_that_ends_without_checkpoint_is_refused(log: Path) -> None:
    log.write_bytes(zstandard.compress(b'{"kind":"session"}\n') + log.read_bytes())
    with pytest.raises(LogError, match="a zstd frame ends without a checkpoint"):
        verify_log(log)


def test_bytes_after_the_end_line_are_refused(log: Path) -> None:
    frames = without_index(log)
    for more in (zstandard.compress(b"{}\n"), b"\x50\x2a\x4d\x18\x01\0\0\0x", b"more"):
        log.write_bytes(frames + more)
        with pytest.raises(LogError, match="bytes were added"):
            verify_log(log)


def test_mutations_of_the_index_show_no_line_that_the_log_does_not_have(log: Path) -> None:
    draw, data, whole = random.Random(46), log.read_bytes(), list(read_log(log))
    lines, start = set(map(json_line, whole)), index_of(log).end.offset
    refused = 0
    for _ in range(300):
        mutant = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            mutant[draw.randrange(start, len(data))] = draw.randrange(256)
        log.write_bytes(mutant)
        first = draw.randint(1, len(whole))
        try:
            shown = [json_line(line) for _, line in numbered_lines(log, first, first + 20)]
        except LogError:
            refused += 1
            continue
        assert set(shown) <= lines
    assert 20 < refused < 300


def test_index_of_the_golden_file_is_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The offsets depend on the compressor, and nothing else does."""
    golden = GOLDEN.with_suffix(".jsonl.zst")
    text = GOLDEN.read_bytes().splitlines(keepends=True)
    assert b"".join(json_line(line) + b"\n" for line in read_log(golden)) == b"".join(text)
    data, start = golden.read_bytes(), index_of(golden).end.offset
    assert struct.unpack_from("<II", data, start) == (0x184D2A5B, len(data) - start - 8)
    assert struct.unpack_from("<QQ8s", data, len(data) - 24) == (2, 0, b"nbLines1")
    assert next(numbered_lines(golden, 3, 3))[1]["text"] == "b"
    monkeypatch.setattr(compact, "FRAME_BYTES", 150)
    log = LogWriter(tmp_path / "y.zst")
    for line in text:
        log.write(unchained(line))
        log.flush()
    log.close()
    places = [(each.lines, each.head) for each in index_of(log.path).places]  # type: ignore[attr-defined]
    assert places == [(each.lines, each.head) for each in index_of(golden).places]  # type: ignore[attr-defined]
