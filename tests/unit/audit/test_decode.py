"""Decoding of trace rings, above all of hostile ones."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from benchguard.audit import decode, layout
from benchguard.audit.layout import RecordKind
from tests.unit.audit.ring_writer import call, image, kernel, launch, record, repeated

SLOTS = 20
GOOD = [
    call(1, 2**64 - 1, slot=4),
    kernel(1, b"scale", [(0, 8), (8, 4)], image=3),
    launch(1, b"12345678abcd", [(4, b"\1" * 64)]),
    image(3, 0x9000, 0, 100),
    record(RecordKind.CLOCK, struct.pack("<Q", 5)),
    record(RecordKind.UNMAPPED, layout.UNMAPPED.pack(2, 12000) + b"cuNew", count=5),
    record(
        RecordKind.GRAPH_NODE, layout.GRAPH_NODE.pack(1, 1, 1, 1, 1, 32, 1, 1, 0, 0, 4, 4) + b"abcd", count=0
    ),
    record(RecordKind.GRAPH, layout.GRAPH.pack(1, 0x7000, 3, 1), count=1),
    record(RecordKind.GRAPH_LAUNCH, layout.GRAPH_LAUNCH.pack(1, 0x77)),
    record(RecordKind.PROCESS, layout.PROCESS.pack(10, 1, 5, 6, 7, 8, 4, 3) + b"/exelib", count=7),
    record(RecordKind.NOTE, b"hello", count=5),
    record(RecordKind.PHASE, layout.PHASE_MARK.pack(3, 0, 7) + b"case 3/lib.so", count=6),
    record(
        RecordKind.DECISION,
        layout.DECISION.pack(2, 2, 3, 7, 5, 1, b"\xab" * 32) + struct.pack("<QQ", 6, 1) + b"/lib.soscale",
        slot=4,
        result=800,
        count=2,
    ),
    repeated(3, 7, 8),
    record(RecordKind.LAUNCH_TIME, layout.LAUNCH_TIME.pack(9, 1, 0, 7, 2500, 11), count=1),
]


def test_all_record_kinds_decoded() -> None:
    records, corrupt = decode.decode(b"".join(GOOD), SLOTS)
    assert corrupt is None
    assert [type(one).__name__ for one in records] == [
        "Call", "Kernel", "Launch", "Image", "Clock", "Unmapped", "GraphNode", "Graph", "GraphLaunch", "Process",
        "Note", "PhaseMark", "Decision", "Repeated", "LaunchTime",
    ]  # fmt: skip
    first, second, third, *_, mark, decision, _, time = records
    assert isinstance(time, decode.LaunchTime) and time.is_early
    assert (time.number, time.kernel, time.nanoseconds, time.thread) == (9, 1, 2500, 11)
    assert isinstance(mark, decode.PhaseMark) and (mark.phase, mark.label, mark.origin) == (
        3,
        "case 3",
        "/lib.so",
    )
    assert isinstance(decision, decode.Decision)
    assert (decision.rule, decision.action, decision.result, decision.arguments) == (2, 2, 800, (6, 1))
    assert (decision.origin, decision.kernel, decision.image) == ("/lib.so", "scale", "ab" * 32)
    assert isinstance(first, decode.Call) and first.arguments == (1, 2**64 - 1) and first.slot == 4
    assert isinstance(second, decode.Kernel) and (second.name, second.layout) == ("scale", ((0, 8), (8, 4)))
    assert isinstance(third, decode.Launch)
    assert (third.grid, third.block, third.parameters) == ((4, 1, 1), (256, 1, 1), b"12345678abcd")
    assert third.attributes == ((4, b"\1" * 64),)


def test_number_of_repeated_calls_is_bounded() -> None:
    (one,), corrupt = decode.decode(repeated(3, 7, 8), SLOTS)
    assert isinstance(one, decode.Repeated) and (one.repeats, one.arguments, corrupt) == (3, (7, 8), None)
    for repeats in (0, 2**63):
        records, corrupt = decode.decode(GOOD[0] + repeated(repeats), SLOTS)
        assert len(records) == 1
        assert corrupt == f"{repeats} repeated calls"


def test_decoding_stops_at_corruption() -> None:
    """An export that does not exist, in the middle: what came before is kept, what comes after is not trusted."""
    records, corrupt = decode.decode(GOOD[0] + call(1, slot=SLOTS) + GOOD[0], SLOTS)
    assert len(records) == 1
    assert corrupt is not None and "export 20 of 20" in corrupt


@given(st.binary(max_size=400))
def test_random_bytes_never_raise(data: bytes) -> None:
    decode.decode(data, SLOTS)


@settings(max_examples=400)
@given(st.data())
def test_mutated_records_never_raise(data: st.DataObject) -> None:
    content = bytearray(b"".join(data.draw(st.lists(st.sampled_from(GOOD), min_size=1, max_size=4))))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    records, corrupt = decode.decode(bytes(content), SLOTS)
    assert corrupt is not None or records


def test_timed_launches_end_with_their_number() -> None:
    flags = struct.pack("<I", layout.LaunchFlag.TIMED)
    plain = launch(1, b"12345678abcd")
    at = layout.RECORD.size + layout.LAUNCH.size - 12  # flags, and two sizes behind them
    size = struct.pack("<I", len(plain) + 8)
    timed = size + plain[4:at] + flags + plain[at + 4 :] + struct.pack("<Q", 77)
    graph = record(RecordKind.GRAPH_LAUNCH, layout.GRAPH_LAUNCH.pack(1, 7) + struct.pack("<Q", 78), count=1)
    records, corrupt = decode.decode(plain + timed + graph, SLOTS)
    assert corrupt is None
    assert [getattr(one, "number", None) for one in records] == [0, 77, 78]
    assert isinstance(records[1], decode.Launch) and records[1].parameters == b"12345678abcd"


def test_number_that_a_launch_has_no_room_for_ends_the_reading() -> None:
    body = layout.GRAPH_LAUNCH.pack(1, 7)
    for data in (
        record(RecordKind.GRAPH_LAUNCH, body, count=1),
        record(RecordKind.LAUNCH, layout.LAUNCH.pack(1, 7, *[1] * 6, 0, layout.LaunchFlag.TIMED, 0, 0)),
        record(RecordKind.LAUNCH_TIME, body),
    ):
        records, corrupt = decode.decode(data, SLOTS)
        assert not records and corrupt is not None
