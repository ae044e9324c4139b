"""Interpretation of records as log lines."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.audit import layout
from benchguard.audit.choice import CallChoice
from benchguard.audit.clock import Clock
from benchguard.audit.cordon import Cordon
from benchguard.audit.drain import Chunk, Ended, Identity, Item, Waiting
from benchguard.audit.interpret import Interpreter
from benchguard.audit.known import split_parameters
from benchguard.audit.layout import Action, RecordKind
from benchguard.audit.session import Session
from benchguard.shim.surface import DriverFacts, Export, HeaderFacts, Parameter, Surface
from tests.unit.audit.ring_writer import call, image, kernel, launch, record, repeated

SURFACE = Surface(
    "neutrino-bench/surface/1",
    DriverFacts("libcuda.so.1", None, 2),
    HeaderFacts(13000, "test"),
    (
        Export(
            "cuMemAlloc_v2", "recorded", "memory", (Parameter("dptr", "out"), Parameter("bytesize", "bytes"))
        ),
        Export("cuModuleUnload", "recorded", "module", (Parameter("hmod", "module"),)),
    ),
)
ONE = Identity(process=10, thread=11, started=5, pid_namespace=1, tsc=1000, nanoseconds=1_000_000)
OTHER = Identity(process=10, thread=12, started=5, pid_namespace=1, tsc=2000, nanoseconds=1_001_000)
CODE = b"some code image" * 1000


@pytest.fixture
def session() -> Iterator[Session]:
    memory = Session(ring_count=1, ring_bytes=1 << 16, image_bytes=1 << 20)
    memory.memory[memory.image_offset : memory.image_offset + len(CODE)] = CODE
    yield memory
    memory.close()


def read(lines: list[bytes]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in lines]


def interpret(session: Session, *items: Item, keep: Path | None = None) -> list[dict[str, Any]]:
    interpreter = Interpreter(session, SURFACE, 0, keep)
    return read([line for item in items for line in interpreter.feed([item])] + interpreter.finish())


def test_items_after_the_deadline_are_counted_as_unread(session: Session) -> None:
    interpreter = Interpreter(session, SURFACE, 0)
    data = call(0x3000, 64)
    interpreter.feed([Chunk(ONE, data)])
    interpreter.skip([Chunk(ONE, data), Chunk(OTHER, data + data), Ended(ONE, 7, 5, -1, 0, None)])
    assert (interpreter.totals.calls, interpreter.totals.unread_bytes) == (1, 3 * len(data))
    assert (interpreter.totals.dropped, interpreter.totals.left_out) == (7, 5)


def test_calls_that_are_not_chosen_have_lines_only_if_they_fail(session: Session) -> None:
    data = call(0x3000, 64) + repeated(3, 0x3000, 64) + call(0x3000, 64, result=2)
    for choice, lines, left_out in (
        (CallChoice(("cuMemFree*",)), [2], 4),
        (CallChoice(("cuMemAlloc_*",)), [0, 0, 2], 0),
        (CallChoice(has_lookups=False), [0, 0, 2], 0),
    ):
        interpreter = Interpreter(session, SURFACE, 0, choice=choice)
        found = read(interpreter.feed([Chunk(ONE, data)]) + interpreter.finish())
        assert [line["result"] for line in found] == lines
        assert interpreter.totals.left_out == left_out


def test_lookups_are_not_chosen_without_lookups() -> None:
    lookup = Export("cuGetProcAddress_v2", "recorded", "entry_point", (), base="cuGetProcAddress")
    assert CallChoice().has(lookup) and not CallChoice(has_lookups=False).has(lookup)
    assert not CallChoice(("cuGet*",), has_lookups=False).has(lookup)


def test_decision_line_has_rule_and_phase(session: Session) -> None:
    session.cordon = Cordon("grading", "00", ("first rule", "no pools"), b"")
    body = (
        layout.DECISION.pack(1, Action.DENY, 3, 7, 0, 0, bytes(32)) + struct.pack("<QQ", 0, 64) + b"/lib.so"
    )
    interpreter = Interpreter(session, SURFACE, 0)
    (line,) = read(
        interpreter.feed([Chunk(ONE, record(RecordKind.DECISION, body, slot=0, result=800, count=2))])
    )
    assert (line["kind"], line["call"], line["action"], line["rule"]) == (
        "decision",
        "cuMemAlloc_v2",
        "deny",
        "no pools",
    )
    assert (line["phase"], line["arguments"], line["origin"]) == (
        "timing",
        {"dptr": 0, "bytesize": 64},
        "/lib.so",
    )
    assert (line["kernel"], line["image"], line["result"]) == (None, None, 800)
    assert interpreter.totals.denied == 1


def test_decision_of_unknown_rule_and_phase_is_logged(session: Session) -> None:
    body = layout.DECISION.pack(9, 77, 99, 0, 0, 0, bytes(32))
    (line,) = interpret(session, Chunk(ONE, record(RecordKind.DECISION, body)))
    assert (line["rule"], line["action"], line["phase"]) == ("rule 9", "unknown", "unknown")


def test_call_line_has_names_times_and_arguments(session: Session) -> None:
    (line,) = interpret(session, Chunk(ONE, call(0x3000, 64, begin=1500, end=1700)), Chunk(OTHER, b""))
    assert line["arguments"] == {"dptr": 0x3000, "bytesize": 64}
    assert (line["call"], line["group"], line["process"], line["thread"]) == (
        "cuMemAlloc_v2",
        "memory",
        10,
        11,
    )


def test_repeated_calls_are_one_line_with_their_number(session: Session) -> None:
    interpreter = Interpreter(session, SURFACE, 0)
    data = call(0x3000, 64) + repeated(1, 0x3000, 64) + repeated(41, 0x3000, 64, begin=2500, end=9500)
    first, second, last = read(interpreter.feed([Chunk(ONE, data)]))
    assert interpreter.totals.calls == 43
    assert "repeats" not in first and "repeats" not in second, "a line stands for one call"
    assert (last.pop("repeats"), last["call"], last["arguments"]) == (41, first["call"], first["arguments"])
    assert last["duration_ns"] == 7 * first["duration_ns"] and set(last) == set(first)


def test_launch_waits_for_kernel_from_other_ring(session: Session) -> None:
    """It waits for the kernel's name; the image is known by its hash."""
    first = Chunk(ONE, launch(1, b"\1\0\0\0\0\0\0\0\2\0\0\0", begin=5000))
    then = Chunk(OTHER, image(1, 0x9000, 0, len(CODE)) + kernel(1, b"_Z5scalePfi", [(0, 8), (8, 4)], image=1))
    lines = interpret(session, first, then)
    (result,) = (line for line in lines if line["kind"] == "launch")
    assert (result["name"], result["demangled"]) == ("_Z5scalePfi", "scale(float*, int)")
    assert result["image"] == hashlib.sha256(CODE).hexdigest()
    assert result["parameters"] == ["0100000000000000", "02000000"]
    assert (result["grid"], result["block"], result["shared_bytes"]) == ([4, 1, 1], [256, 1, 1], 64)


def test_launch_without_kernel_record_written(session: Session) -> None:
    (line,) = interpret(session, Chunk(ONE, launch(9)))
    assert (line["kind"], line["name"], line["image"]) == ("launch", None, None)


@pytest.mark.parametrize(("at", "size"), [(2**64 - 8, 16), (0, 2**63), (1 << 20, 1)])
def test_image_outside_store_has_no_hash(session: Session, at: int, size: int) -> None:
    (line,) = interpret(session, Chunk(ONE, image(1, 0x9000, at, size)))
    assert (line["kind"], line["sha256"], line["bytes"]) == ("image", None, size)


def test_memory_of_unloaded_image_freed(session: Session) -> None:
    interpret(session, Chunk(ONE, image(1, 0x9000, 0, len(CODE)) + call(0x9000, slot=1)))
    at = session.image_offset
    assert session.memory[at : at + len(CODE)] == bytes(len(CODE))


def test_images_kept_by_hash(session: Session, tmp_path: Path) -> None:
    interpret(session, Chunk(ONE, image(1, 0x9000, 0, len(CODE))), keep=tmp_path)
    assert (tmp_path / hashlib.sha256(CODE).hexdigest()).read_bytes() == CODE


def test_losses_of_ring_logged(session: Session) -> None:
    lines = interpret(
        session, Ended(ONE, dropped=3, omitted=0, in_flight=0, in_flight_since=1000, corrupt=None)
    )
    assert {line["kind"]: line.get("records", line.get("call")) for line in lines} == {
        "in_flight": "cuMemAlloc_v2",
        "lost": 3,
    }


def test_corrupt_ring_logged(session: Session) -> None:
    (line,) = interpret(session, Chunk(ONE, b"\xff" * 64))
    assert line["kind"] == "lost" and "record of 4294967295 bytes" in line["corrupt"]


def test_clock_interpolates_and_ignores_contradictions() -> None:
    clock = Clock()
    clock.add(1_000, 1_000_000)
    assert clock.nanoseconds(5_000) == 1_000_000
    clock.add(3_000, 1_001_000)
    clock.add(2_000, 5_000_000)  # before the second by ticks, after it by nanoseconds
    clock.add(7_000, 1_002_000)
    assert [clock.nanoseconds(ticks) for ticks in (1_000, 2_000, 3_000, 5_000, 7_000, 11_000)] == [
        1_000_000, 1_000_500, 1_001_000, 1_001_500, 1_002_000, 1_003_000,
    ]  # fmt: skip


def test_kept_parameters_split() -> None:
    assert split_parameters(b"\1\2\3\4", ((0, 2), (2, 4), (8, 4))) == ["0102", "0304"]
    assert split_parameters(b"\1\2", ()) == ["0102"]


def test_time_of_a_launch_waits_for_the_kernel_s_record_of_another_thread(session: Session) -> None:
    time = record(RecordKind.LAUNCH_TIME, layout.LAUNCH_TIME.pack(9, 1, 0, 7, 2500, 12))
    interpreter = Interpreter(session, SURFACE, 0)
    assert interpreter.feed([Chunk(ONE, time)]) == []
    lines = read(interpreter.feed([Chunk(OTHER, kernel(1, b"scale", []))]))
    (line,) = [line for line in lines if line["kind"] == "launch_time"]
    assert (line["number"], line["name"], line["gpu_ns"], line["thread"], line["graph"]) == (
        9,
        "scale",
        2500,
        12,
        None,
    )


def test_waiting_call_has_a_line_unless_its_slot_is_unknown(session: Session) -> None:
    (line,) = interpret(session, Waiting(ONE, 0, 1000), Waiting(ONE, 2, 1000), Waiting(ONE, 1 << 63, 1000))
    assert (line["kind"], line["call"], line["thread"]) == ("waiting", "cuMemAlloc_v2", ONE.thread)
    interpreter = Interpreter(session, SURFACE, 0)
    interpreter.skip([Waiting(ONE, 0, 1000)])
    assert interpreter.finish() == []
