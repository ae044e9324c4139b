"""Every function and field of replay.h as Python has it, on a library whose answers are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard.replay.binding import NativeEngine, open_engine
from benchguard.replay.contract import Engine, EngineError
from benchguard.replay.protocol import (
    BAD_CAPTURE,
    CANNOT,
    NO_SET,
    Device,
    Difference,
    Limits,
    Options,
    Overhead,
    Prepared,
    Sample,
)
from benchguard.toolchain.abi import BEGIN, write_abi
from benchguard.toolchain.errors import ShimError
from benchguard.toolchain.paths import ENGINE, ENGINES, REPLAY_ABI
from tests.unit.replay.support import PROGRAMS, Compiler

LIMITS = Limits(1, 2, 3, 4)
OPTIONS = Options(
    1, 3, True, False, 4, 5, True, True, (1 << 64) - 1, 1 << 63, True, True, 6, 8, 7, True, True
)


@pytest.fixture(scope="module")
def library(compile_c: Compiler, native: Path) -> Path:
    assert (native / "replay").is_dir()
    return compile_c("canned_engine.so", PROGRAMS / "canned_engine.c", flags=(f"-I{ENGINES}",))


@pytest.fixture
def engine(library: Path) -> Iterator[NativeEngine]:
    opened = open_engine(5, LIMITS, library)
    yield opened
    opened.close()


def test_native_engine_implements_the_engine_protocol(engine: NativeEngine) -> None:
    needed: Engine = engine  # and mypy agrees
    assert [needed.refusal(i) for i in range(3)] == ["first", "second", None]
    assert [needed.note(i) for i in range(2)] == ["a note", None]


def test_fields_of_every_struct_arrive_unchanged(engine: NativeEngine) -> None:
    device, prepared = engine.prepare("libcuda.so.1", OPTIONS)
    assert device == Device("a device", 11, 12, 13, 14, 15, 16, 17, 18, "0" * 32, 19)
    assert prepared == Prepared(1.5, 2.5, 3.5, 4.5, 21, 22, 23, 24, 25, 26, 27, 28, 1, 29, 30, 31)
    assert engine.measure(41) == Sample(1.25, 2.25, 3.25, 1980.0, 41, 1, 4.25, 5.25, 6.25)
    assert engine.measure_overhead() == Overhead(0.032, 1.25, 2.0, 3.0)


@pytest.mark.parametrize("room", [0, 2, 9])
def test_differences_beyond_the_room_are_counted_only(engine: NativeEngine, room: int) -> None:
    count, differences = engine.verify(room)
    assert count == 5
    rest = "00" * 15
    assert differences == [
        Difference(i, 31, 32, 33, 34, True, "ab" + rest, "cd" + rest) for i in range(min(room, 5))
    ]


def test_memory_written_as_input_is_read_back(engine: NativeEngine) -> None:
    engine.output(8, 9)
    engine.once(NO_SET)
    assert engine.find_in_place() is None
    engine.input(7, 1, memoryview(b"abc"))
    assert engine.find_in_place() == 2
    into = bytearray(5)
    engine.read(0, memoryview(into))
    assert into == b"\0abc\0"
    engine.zeros(7, 1, 3)
    engine.read(0, memoryview(into))
    assert into == bytes(5)


def test_refused_call_raises_its_error_line(engine: NativeEngine) -> None:
    with pytest.raises(EngineError, match=r"^read$") as excinfo:
        engine.read(10, memoryview(bytearray(7)))
    assert excinfo.value.status == CANNOT


def test_error_line_of_invalid_utf8_is_decoded(library: Path) -> None:
    with pytest.raises(EngineError, match=r"^�+$") as excinfo:
        open_engine(-1, LIMITS, library)
    assert excinfo.value.status == BAD_CAPTURE


def test_engine_closed_twice_closes_once(library: Path) -> None:
    engine = open_engine(5, LIMITS, library)
    engine.close()
    engine.close()


def test_abi_module_matches_the_header(native: Path, tmp_path: Path) -> None:
    """The module beside the library is of this header."""
    write_abi(ENGINE / "replay.h", tmp_path / REPLAY_ABI)
    assert (tmp_path / REPLAY_ABI).read_bytes() == (native / "replay" / REPLAY_ABI).read_bytes()


def test_header_without_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "replay.h").write_text(BEGIN + "int nb_replay_open(void);")
    with pytest.raises(ShimError, match="no marks"):
        write_abi(tmp_path / "replay.h", tmp_path / "abi.py")


def test_missing_library_error_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"missing\.so.*build\.py build"):
        open_engine(5, LIMITS, tmp_path / "missing.so")
