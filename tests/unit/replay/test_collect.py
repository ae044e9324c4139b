"""The supervisor's collector: hostile lines end the replay, valid lines make a verdict."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from benchguard.ipc.child import Ended
from benchguard.ipc.lines import LineError
from benchguard.replay.collect import Collector, Progress
from benchguard.replay.convergence import Count
from benchguard.replay.protocol import (
    BAD_CAPTURE,
    CANNOT,
    FAILED,
    NO_DRIVER,
    OTHER_READ,
    OURS,
    TIMEOUT,
    Batch,
    Done,
    Event,
    Failed,
    Measured,
    Opened,
    Options,
    Phase,
    Ready,
    TimedSample,
    Verified,
    encode,
)
from benchguard.replay.result import Different
from benchguard.replay.verdict import verdict_of
from tests.unit.replay.fake_engine import DEVICE, OVERHEAD, PREPARED, request, sample

OPENED = Opened(())
READY = Ready(DEVICE, PREPARED)
MEASURED = Measured(OVERHEAD)
DONE = Done(True, "", 0.001, 0.0025, 20, ())
EXITED = Ended(0, False, "", "")


def batch(count: int = 1) -> Batch:
    return Batch((TimedSample(sample(10.0), 1),) * count)


def collected(*events: Event, **changes: object) -> Collector:
    collector = Collector(request(Count(300), **changes))
    for event in events:
        collector.handle(encode(event))
    return collector


def verdict(*events: Event, ended: Ended = EXITED, **changes: object) -> tuple[str, str]:
    return verdict_of(collected(*events, **changes), ended, (), 120.0)


def test_events_in_order_are_collected() -> None:
    results: list[Progress] = []
    collector = Collector(request(Count(300)), results.append)
    events = [OPENED, Phase("prepare"), READY, Phase("overhead"), MEASURED, Phase("sample"), batch(200)]
    assert [collector.handle(encode(event)) for event in events] == [True] * 7
    assert not collector.handle(encode(DONE))
    assert len(collector.samples) == 200
    assert results[0] == Progress("prepare", 0, None) and results[-1] == Progress("sample", 200, 10.0)


@pytest.mark.parametrize(
    "before",
    [
        [READY],
        [MEASURED],
        [batch()],
        [DONE],
        [OPENED, OPENED],
        [OPENED, READY, READY],
        [OPENED, READY, batch()],
        [OPENED, READY, MEASURED, MEASURED],
        [OPENED, READY, MEASURED, DONE],
        [OPENED, READY, Verified(0, ())],
        [OPENED, READY, MEASURED, batch(200), batch(101)],
    ],
)
def test_events_out_of_turn_are_refused(before: list[Event]) -> None:
    with pytest.raises(LineError, match="out of turn"):
        collected(*before)


def test_missing_verification_is_refused() -> None:
    with pytest.raises(LineError, match="out of turn"):
        collected(OPENED, READY, MEASURED, verify=True)


def hostile_lines() -> list[bytes]:
    good = json.loads(encode(batch()))
    ready = json.loads(encode(READY))

    def changed(document: dict[str, object], *path: object, to: object) -> bytes:
        copy = json.loads(json.dumps(document))
        at = copy
        for word in path[:-1]:
            at = at[word]
        at[path[-1]] = to
        return json.dumps(copy).encode()

    device_us = ("samples", 0, 0, "device_us")
    return [
        b"",
        b"{}",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"\0" * 100,
        b'{"event":"surprise"}',
        b'{"event":"batch"}',
        b"[" * 100_000,
        b'{"event":"phase","name":"x","more":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        changed(good, "samples", 0, 0, "span_us", to=-1.0),
        changed(good, *device_us, to="10"),
        changed(good, *device_us, to=None),
        encode(batch()).replace(b"10.0", b"NaN", 1),
        encode(batch()).replace(b"10.0", b"1e999", 1),
        encode(batch()).replace(b"10.0", b"9" * 5000, 1),
        changed(good, "samples", 0, 0, "flags", to=1 << 32),
        changed(good, "samples", 0, 0, "input_set", to=-1),
        changed(good, "samples", 0, 1, to=1 << 70),
        changed(good, "samples", to=[]),
        changed(good, "samples", to=good["samples"] * 257),
        changed(ready, "device", "name", to="x" * 129),
        changed(ready, "device", "memory_bytes", to=-1),
        json.dumps({"event": "opened", "refusals": ["x"] * 17}).encode(),
        json.dumps({"event": "opened", "refusals": ["x" * 1025]}).encode(),
        json.dumps({"event": "failed", "status": 0, "text": "", "phase": ""}).encode(),
        json.dumps({"event": "verified", "count": 1, "differences": [{}]}).encode(),
    ]


@pytest.mark.parametrize("text", hostile_lines(), ids=lambda text: repr(text[:40]))
def test_hostile_lines_are_refused(text: bytes) -> None:
    collector = collected(OPENED, READY, MEASURED, batch())
    with pytest.raises(LineError):
        collector.handle(text)
    assert len(collector.samples) == 1


def test_complete_replay_passes() -> None:
    assert verdict(OPENED, READY, MEASURED, batch(), DONE) == ("pass", "")


@pytest.mark.parametrize("strict", [False, True])
def test_negative_time_fails_a_replay_without_checks_of_its_times(strict: bool) -> None:
    """A kernel overwrote the time of an event. The checks of a strict replay find that (grade/time_tests.py)."""
    backwards = Batch((TimedSample(replace(sample(10.0), device_us=-10.0), 1),))
    collector = collected(OPENED, READY, MEASURED, batch(), backwards, DONE, options=Options(strict=strict))
    result = verdict_of(collector, EXITED, (), 1.0)
    assert result == ("pass", "") if strict else result[0] == "failed" and "events show -10 us" in result[1]


def test_unconverged_replay_passes_unless_convergence_is_required() -> None:
    result = Done(False, "too wide", 0.1, 0.005, 20, ())
    assert verdict(OPENED, READY, MEASURED, batch(), result) == ("pass", "")
    collector = collected(OPENED, READY, MEASURED, batch(), result)
    assert verdict_of(collector, EXITED, (), 1.0, require_converged=True) == ("unconverged", "too wide")
    collector = collected(OPENED, READY, MEASURED, batch(), DONE)
    assert verdict_of(collector, EXITED, (), 1.0, require_converged=True) == ("pass", "")


def test_wrong_verdict_precedes_unconverged() -> None:
    result = Done(False, "too wide", 0.1, 0.0025, 20, ())
    collector = collected(OPENED, READY, Verified(3, ()), MEASURED, batch(), result, verify=True)
    assert verdict_of(collector, EXITED, (), 1.0, require_converged=True) == (
        "wrong",
        "memory differs from the recorded one in 3 places",
    )


@pytest.mark.parametrize("again", [False, True])
def test_wrong_verdict_names_the_allocation(again: bool) -> None:
    different = Different("cuMemAlloc_v2", 0x300000000000, 64, 1, 16, again, "00", "01")
    collector = collected(OPENED, READY, Verified(1, ()), MEASURED, batch(), DONE, verify=True)
    result, reason = verdict_of(collector, EXITED, (different,), 1.0)
    assert result == "wrong"
    assert "1 place, first cuMemAlloc_v2 at 0x300000000000 from offset 0x10" in reason
    assert ("is not deterministic" in reason) == again


def test_refused_capture_is_unreplayable() -> None:
    refused = Opened(("cuLaunchHostFunc: a host callback",))
    result, reason = verdict(refused)
    assert result == "unreplayable" and reason.startswith("cuLaunchHostFunc: a host callback; ")
    assert verdict(refused, READY, MEASURED, batch(), DONE, ignore_refusals=True) == ("pass", "")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (BAD_CAPTURE, "failed"),
        (CANNOT, "unreplayable"),
        (FAILED, "failed"),
        (TIMEOUT, "timeout"),
        (NO_DRIVER, "error"),
        (OURS, "error"),
        (200, "error"),
    ],
)
def test_engine_failures_map_to_verdicts(status: int, said: str) -> None:
    assert verdict(OPENED, Failed(status, "why", "prepare")) == (said, "why")


@pytest.mark.parametrize(
    ("input_set", "where"), [(None, ""), (2, " on repeated input set 2"), (3, " on one-use input set 3")]
)
def test_other_host_read_is_unreplayable_and_names_the_set(input_set: int | None, where: str) -> None:
    failed = Failed(OTHER_READ, "operation 1: 05 were recorded", "sample", input_set)
    result, reason = verdict(OPENED, failed, input_sets=5, one_use_sets=2)
    assert result == "unreplayable"
    assert reason.startswith(f"operation 1: 05 were recorded{where}; the host's decisions may depend")


def test_timeout_names_the_phase() -> None:
    result, reason = verdict(OPENED, Phase("prepare"), ended=Ended(-9, True, "", ""))
    assert result == "timeout" and "within 120 s, in phase 'prepare'" in reason


@pytest.mark.parametrize(
    ("events", "said"),
    [([], "error"), ([OPENED, READY, MEASURED, batch()], "failed")],
    ids=["before", "after"],
)
def test_protocol_error_after_the_capture_was_opened_is_the_captures(events: list[Event], said: str) -> None:
    ended = Ended(-9, False, "a line is not a valid event", "")
    assert verdict(*events, ended=ended)[0] == said


@pytest.mark.parametrize(
    ("events", "status", "said"),
    [
        ([OPENED, Phase("warm-up")], -11, "failed"),
        ([OPENED, Phase("warm-up")], 1, "failed"),
        ([], -11, "failed"),
        ([], 1, "error"),
        ([OPENED, Phase("warm-up")], -9, "error"),
        ([OPENED, Phase("warm-up")], -15, "error"),
    ],
)
def test_verdict_of_worker_that_ended_early_names_who_ended_it(
    events: list[Event], status: int, said: str
) -> None:
    result, reason = verdict(*events, ended=Ended(status, False, "", "oh no\n"))
    assert result == said
    assert "the replay process ended without a result" in reason and "last output: oh no" in reason


def test_crash_reason_names_phase_and_signal() -> None:
    _, reason = verdict(OPENED, Phase("warm-up"), ended=Ended(-11, False, "", "oh no\n"))
    assert "in phase 'warm-up': killed by SIGSEGV; last output: oh no" in reason
