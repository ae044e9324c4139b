"""Decoding of events from an untrusted process."""

from __future__ import annotations

import pytest

from benchguard.ipc.lines import LineError
from benchguard.quarantine.events import Events

CONFINED = b'{"event":"confined","features":{"identity":"on"}}'


def test_first_event_is_confined() -> None:
    events = Events(None)
    with pytest.raises(LineError, match="'finished' is out of turn"):
        events.handle(b'{"event":"finished","seconds":{}}')
    assert events.handle(CONFINED)
    with pytest.raises(LineError, match="'confined' is out of turn"):
        events.handle(b'{"event":"confined","features":{"identity":"off"}}')
    assert events.confined is not None and events.confined.features == {"identity": "on"}


def test_progress_and_finished_events_kept() -> None:
    messages: list[tuple[str, int]] = []
    events = Events(lambda phase, case: messages.append((phase, case)))
    events.handle(CONFINED)
    events.handle(b'{"event":"began","phase":"record","case":3}')
    events.handle(b'{"event":"finished","seconds":{"import":1.5,"call 3":0.25}}')
    events.handle(b'{"event":"finished","seconds":{"import":9}}')
    assert messages == [("record", 3)]
    assert events.seconds(10.0) == {"import": 1.5, "call 3": 0.25}


def test_time_of_a_pause_is_taken_from_its_phase() -> None:
    events = Events(None)
    events.handle(CONFINED)
    events.handle(b'{"event":"began","phase":"import"}')
    events.paused(30.0)
    events.handle(b'{"event":"began","phase":"warm-up","case":0}')
    events.paused(2.0)
    events.paused(3.0)
    events.handle(b'{"event":"finished","seconds":{"import":34.0,"warm-up":6.0,"record":1.0,"call 0":0.5}}')
    assert events.seconds(8.0) == {"import": 4.0, "warm-up": 1.0, "record": 1.0, "call 0": 0.5}


def test_pause_longer_than_its_phase_is_taken_from_the_driver_that_it_waited_for() -> None:
    events = Events(None)
    events.handle(CONFINED)
    events.handle(b'{"event":"began","phase":"compile"}')
    events.paused(30.0)
    events.handle(b'{"event":"finished","seconds":{"compile":1.25,"driver":30.5,"record":0.5}}')
    assert events.seconds(8.0) == {"compile": 1.25, "driver": 0.5, "record": 0.5}


def test_impossible_durations_dropped() -> None:
    """They stand in the line of the verdict."""
    events = Events(None)
    events.handle(CONFINED)
    forged = b'"0); trust replayed; pass":1,"call 0":1e308,"record":-1,"compile":11,"import":2'
    events.handle(b'{"event":"finished","seconds":{%s}}' % forged)
    assert events.seconds(10.0) == {"import": 2.0}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"null",
        b"[" * 60000,
        b'{"event":"pickle"}',
        b'{"event":"began","phase":"pass in 1.25 s; trust replayed"}',
        b"\xff",
    ],
)
def test_malformed_event_refused(line: bytes) -> None:
    events = Events(None)
    events.handle(CONFINED)
    with pytest.raises(LineError, match="malformed event"):
        events.handle(line)


@pytest.mark.parametrize("phase", [b"confine", b"arm", b"driver"])
def test_early_failure_after_the_submission_began_is_refused(phase: bytes) -> None:
    """A submission must not be able to blame the machine."""
    broke = b'{"event":"broke","phase":"%s","text":"partial"}' % phase
    events = Events(None)
    events.handle(CONFINED)
    events.handle(broke)
    assert events.broke is not None
    events = Events(None)
    events.handle(CONFINED)
    events.handle(b'{"event":"began","phase":"import"}')
    events.handle(b'{"event":"began","phase":"driver"}')
    with pytest.raises(LineError, match="before the submission began"):
        events.handle(broke)
    assert events.broke is None
