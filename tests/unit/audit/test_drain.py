"""Moving bytes out of rings that a hostile process writes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchguard.audit import drain as drain_module
from benchguard.audit.drain import Chunk, Drain, Ended, Item, Waiting
from benchguard.audit.layout import RingState
from benchguard.audit.session import Session
from tests.unit.audit.ring_writer import RingWriter, call, repeated

RING = 1 << 16
NOBODY = 2**22 - 3  # a process number above the usual limit


@pytest.fixture
def session() -> Iterator[Session]:
    memory = Session(ring_count=4, ring_bytes=RING, image_bytes=1 << 20)
    yield memory
    memory.close()


def items(drain: Drain) -> list[Item]:
    results = []
    while (item := drain.next()) is not None:
        results.append(item)
    return results


def test_records_across_ring_end_joined(session: Session) -> None:
    writer, drain = RingWriter(session), Drain(session)
    written = b""
    for number in range(5000):
        data = call(number, number)
        writer.write(data)
        written += data
        if number % 700 == 0:
            drain.take_all()
    drain.take_all()
    assert b"".join(item.data for item in items(drain) if isinstance(item, Chunk)) == written
    assert len(written) > 3 * RING


def test_closed_ring_freed_and_losses_reported(session: Session) -> None:
    writer, drain = RingWriter(session), Drain(session)
    writer.write(call(1))
    writer.drop(7)
    writer.set_state(RingState.CLOSED)
    drain.take_all()
    drain.take_all()
    chunk, ended = items(drain)
    assert isinstance(chunk, Chunk) and isinstance(ended, Ended)
    assert (ended.dropped, ended.corrupt) == (7, None)
    assert (writer.state, writer.head, writer.tail) == (RingState.FREE, 0, 0)


def test_ring_of_dead_process_reclaimed(session: Session) -> None:
    writer, drain = RingWriter(session, process=NOBODY), Drain(session)
    writer.write(call(1))
    writer.enter(slot=3, since=4242)
    drain._reap()
    chunk, ended = items(drain)
    assert isinstance(chunk, Chunk) and isinstance(ended, Ended)
    assert (ended.in_flight, ended.in_flight_since) == (3, 4242)
    assert writer.state == RingState.FREE


def test_counting_record_of_dead_process_taken(session: Session) -> None:
    writer, drain = RingWriter(session, process=NOBODY), Drain(session)
    writer.write(call(1))
    writer.count(repeated(5, 1))
    drain.take_all()
    assert [item.data for item in items(drain) if isinstance(item, Chunk)] == [call(1)], "it may still change"
    drain._reap()
    *chunks, ended = items(drain)
    assert isinstance(ended, Ended) and ended.corrupt is None
    assert b"".join(chunk.data for chunk in chunks if isinstance(chunk, Chunk)) == repeated(5, 1)


@pytest.mark.parametrize("ahead", [12, RING + 8, 2**64 - 8])
def test_hostile_end_of_counting_record_reported(session: Session, ahead: int) -> None:
    writer, drain = RingWriter(session, process=NOBODY), Drain(session)
    writer._set_word(32, ahead)
    drain._reap()
    (ended,) = items(drain)
    assert isinstance(ended, Ended)
    assert ended.corrupt is not None and "head" in ended.corrupt


def test_ring_of_living_process_kept(session: Session) -> None:
    writer, drain = RingWriter(session), Drain(session)
    drain._reap()
    assert writer.state == RingState.LIVE


@pytest.mark.parametrize(("head", "tail"), [(2**63, 0), (RING + 8, 0), (12, 0), (8, 2**64 - 4)])
def test_hostile_positions_reported_once(session: Session, head: int, tail: int) -> None:
    writer, drain = RingWriter(session), Drain(session)
    writer.head = head
    writer._set_word(64, tail)
    for _ in range(3):
        drain.take_all()
    assert items(drain) == []
    writer.set_state(RingState.CLOSED)
    writer.head = writer.tail
    drain.take_all()
    (ended,) = items(drain)
    assert isinstance(ended, Ended)
    assert ended.corrupt is not None and "head" in ended.corrupt


def test_full_backlog_stops_drain(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer is then the one that waits and drops: memory here stays bounded."""
    monkeypatch.setattr(drain_module, "BACKLOG_BYTES", 1000)
    writer, drain = RingWriter(session), Drain(session)
    writer.write(call(1, 2, 3) * 10)
    drain.take_all()
    count = writer.tail
    writer.write(call(1, 2, 3) * 10)
    drain.take_all()
    assert writer.tail == count == 560
    items(drain)
    drain.take_all()
    assert writer.tail == writer.head


def test_call_inside_the_driver_is_told_once(session: Session) -> None:
    writer, drain = RingWriter(session), Drain(session)
    writer.set_in_flight(5, 1000)
    drain._reap()
    assert items(drain) == []
    drain._reap()
    (waiting,) = items(drain)
    assert isinstance(waiting, Waiting) and (waiting.slot, waiting.since) == (5, 1000)
    drain._reap()
    assert items(drain) == []
    for since in range(2000, 2010):  # calls that return meanwhile
        writer.set_in_flight(5, since)
        drain._reap()
    assert items(drain) == []
    drain._reap()
    assert len(items(drain)) == 1
