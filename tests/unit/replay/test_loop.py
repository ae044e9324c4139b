"""The timing loop's decisions, on an engine without a device and by a clock that the engine moves."""

from __future__ import annotations

import itertools
import random

import msgspec
import pytest

from benchguard.replay.contract import EngineError
from benchguard.replay.convergence import LARGE_BYTES, Count, Interval, Variation, for_copies, rule_of
from benchguard.replay.in_a_row import ROUND, covering, longer_in_rounds_us
from benchguard.replay.protocol import (
    BATCH_MAX,
    FAILED,
    NO_SET,
    OTHER_READ,
    TIMEOUT,
    Batch,
    Difference,
    Done,
    Event,
    Failed,
    InARow,
    InputPart,
    Measured,
    Opened,
    OutputPart,
    Overhead,
    Phase,
    Ready,
    Sample,
    Verified,
    decode_event,
    encode,
)
from tests.unit.replay.fake_engine import DEVICE, START, FakeEngine, events_of, request, sample

FIRST = covering(2, 1)


def noise(spread: float, clock_every: int = 0) -> object:
    generator = random.Random(7)

    def take(number: int) -> Sample:
        clock = 1200.0 if clock_every and number % clock_every == 0 else 1980.0
        return sample(100.0 * (1 + spread * (2 * generator.random() - 1)), clock)

    return take


def done_of(events: list[Event]) -> Done:
    assert isinstance(events[-1], Done), events[-1]
    return events[-1]


def times_of(events: list[Event]) -> list[float]:
    return [each.sample.device_us for event in events if isinstance(event, Batch) for each in event.samples]


def phases_of(events: list[Event]) -> list[str]:
    return [event.name for event in events if isinstance(event, Phase)]


def test_quiet_kernel_converges_at_the_first_check() -> None:
    events = events_of(FakeEngine(), request())
    result = done_of(events)
    assert result.converged and result.reason == "" and result.reached == 0.0
    assert len(times_of(events)) == 100
    assert phases_of(events) == ["prepare", "overhead", "warm-up", "sample"]


def test_noisy_kernel_takes_more_samples() -> None:
    events = events_of(FakeEngine(noise(0.05)), request())  # type: ignore[arg-type]
    assert done_of(events).converged
    assert len(times_of(events)) in {200, 400, 800, 1600, 3200}


def test_wild_kernel_does_not_converge() -> None:
    events = events_of(FakeEngine(noise(0.9)), request())  # type: ignore[arg-type]
    result = done_of(events)
    assert not result.converged and "after 3200 samples" in result.reason
    assert len(times_of(events)) == 3200


def test_kernel_with_two_speeds_is_sampled_until_patience_ends() -> None:
    def speeds(number: int) -> Sample:
        return sample(100.0 if number % 2 else 120.0)

    for rule, cost, n, words in (
        (
            rule_of(None, None),
            0.0041,
            122,
            "after 122 samples in 0.5 s, wanted ±0.50%; quiet the machine, or wait longer",
        ),
        (rule_of("ci=0.005", None), 0.01, 3000, "in 30 s"),
    ):
        events = events_of(FakeEngine(speeds, cost=cost), request(rule))
        result = done_of(events)
        assert not result.converged and words in result.reason
        assert abs(len(times_of(events)) - n) <= 2


def test_long_kernel_is_sampled_a_hundred_times_before_patience_ends() -> None:
    events = events_of(FakeEngine(noise(0.9), cost=0.1), request(rule_of(None, None)))  # type: ignore[arg-type]
    assert not done_of(events).converged
    assert len(times_of(events)) == 100


def test_steady_kernel_with_large_outputs_is_sampled_fifty_times() -> None:
    rule = for_copies(rule_of(None, None), LARGE_BYTES)
    assert len(times_of(events_of(FakeEngine(), request(rule)))) == 50


def test_steady_kernel_with_long_samples_is_sampled_fewer_times_on_as_many_one_use_sets() -> None:
    for seconds, count in ((0.019, 100), (0.02, 50), (0.05, 32)):
        engine = FakeEngine(lambda n, us=seconds * 1e6: sample(us, input_set=engine.sets[n]), cost=seconds)  # noqa: B023
        asked = request(rule_of(None, None), input_sets=20, one_use_sets=12)
        assert len(times_of(events_of(engine, asked))) == count
        assert sum(number >= 8 for number in engine.sets) == 12


def test_time_cap_ends_sampling_unconverged() -> None:
    events = events_of(FakeEngine(noise(0.9), cost=0.1), request())  # type: ignore[arg-type]
    result = done_of(events)
    assert not result.converged and "in 30 s" in result.reason
    assert 295 <= len(times_of(events)) <= 301


def test_interval_narrow_at_the_time_cap_converges() -> None:
    """30 equal samples of 1 s each: the end of the time is the only check."""
    events = events_of(FakeEngine(cost=1.0), request())
    result = done_of(events)
    assert 29 <= len(times_of(events)) <= 31
    assert result.converged and result.reason == ""


def test_deadline_caps_sampling() -> None:
    engine = FakeEngine(noise(0.9), cost=0.01)  # type: ignore[arg-type]
    started = engine.now
    result = done_of(events_of(engine, request(deadline=START + 5.0)))
    assert not result.converged
    assert engine.now - started < 5.0


def test_count_rule_ignores_the_sampling_cap() -> None:
    events = events_of(FakeEngine(cost=0.1), request(Count(500)))
    assert done_of(events).converged and len(times_of(events)) == 500


def test_count_rule_obeys_the_deadline() -> None:
    events = events_of(FakeEngine(cost=1.0), request(Count(500), deadline=START + 20.0))
    result = done_of(events)
    assert not result.converged and "of 500 samples" in result.reason


def test_count_of_one_takes_one_sample() -> None:
    events = events_of(FakeEngine(), request(Count(1)))
    assert done_of(events).converged and len(times_of(events)) == 1


def test_variation_rule_stops_early() -> None:
    events = events_of(FakeEngine(), request(Variation(0.01)))
    assert done_of(events).converged and len(times_of(events)) == 5


def test_samples_at_another_clock_extend_sampling_with_a_note() -> None:
    quiet = FakeEngine(noise(0.0, clock_every=20))  # type: ignore[arg-type]
    events = events_of(quiet, request())
    result = done_of(events)
    assert len(times_of(events)) == 3200
    assert result.converged and "another clock" in result.notes[0]


def test_slow_clock_at_the_start_does_not_prevent_convergence() -> None:
    """Three slow samples are 3 % of 100, 1.5 % of 200 and 0.75 % of 400."""
    warm_up = done_of(events_of(FakeEngine(), request())).warm_up
    slow = range(warm_up, warm_up + 3)
    engine = FakeEngine(lambda n: sample(100.0, 1200.0 if n in slow else 1980.0))
    events = events_of(engine, request())
    assert len(times_of(events)) == 400 and done_of(events).notes == ()


def test_coarse_tick_bounds_the_interval_with_a_note() -> None:
    ticks = [3.072, 4.096, 5.12]
    engine = FakeEngine(lambda n: sample(ticks[n % 3]), overhead=Overhead(1.024, 2.0, 3.0))
    result = done_of(events_of(engine, request()))
    assert result.converged and result.wanted == pytest.approx(0.25)
    assert "tick of the event clock is 1.02 us" in result.notes[0]


def test_warm_up_lasts_until_times_are_steady() -> None:
    """Times that fall by 5 % every round are not at rest until they stop."""
    engine = FakeEngine(lambda n: sample(100.0 * max(1.0, 3.0 - n / 100)), cost=0.002)
    events = events_of(engine, request())
    result = done_of(events)
    assert 200 <= result.warm_up <= 240
    assert set(times_of(events)) == {100.0}


def test_warm_up_of_unsteady_times_ends() -> None:
    engine = FakeEngine(lambda n: sample(100.0 + n), cost=1 / 64)
    assert done_of(events_of(engine, request(Count(5)))).warm_up == 32


def test_warm_up_of_a_slow_kernel_takes_one_sample() -> None:
    assert done_of(events_of(FakeEngine(cost=2.0), request(Count(3)))).warm_up == 1


def test_batches_are_bounded_and_frequent() -> None:
    fast = [e for e in events_of(FakeEngine(cost=1e-5), request(Count(2000))) if isinstance(e, Batch)]
    assert max(len(batch.samples) for batch in fast) == BATCH_MAX
    slow = [e for e in events_of(FakeEngine(cost=0.5), request(Count(20))) if isinstance(e, Batch)]
    assert [len(batch.samples) for batch in slow] == [1] * 20


def test_samples_carry_their_end_time() -> None:
    engine = FakeEngine(cost=0.5)
    batches = [event for event in events_of(engine, request(Count(4))) if isinstance(event, Batch)]
    ends = [each.ended_ns for batch in batches for each in batch.samples]
    assert [b - a for a, b in itertools.pairwise(ends)] == [500_000_000] * 3


def test_refused_capture_does_not_prepare_a_device() -> None:
    engine = FakeEngine(refusals=["cuLaunchHostFunc: a host callback"])
    assert events_of(engine, request()) == [Opened(("cuLaunchHostFunc: a host callback",))]
    assert engine.calls == []


def test_ignored_refusals_are_replayed() -> None:
    engine = FakeEngine(refusals=["cuLaunchHostFunc: a host callback"] * 100)
    events = events_of(engine, request(ignore_refusals=True))
    assert isinstance(events[0], Opened) and len(events[0].refusals) == 16
    assert done_of(events).converged


def test_verification_precedes_given_inputs() -> None:
    difference = Difference(4096, 64, 3, 5, NO_SET, False, "00", "01")
    engine = FakeEngine(differences=[difference] * 100)
    requests = request(verify=True, inputs=(InputPart(0, 8, 1, 0),), input_sets=1)
    events = events_of(engine, requests, inputs=b"x")
    verified = next(event for event in events if isinstance(event, Verified))
    assert verified.count == 100 and len(verified.differences) == 64
    assert engine.calls.index("verify") < engine.calls.index("input")
    assert done_of(events).converged


@pytest.mark.parametrize("call", ["prepare", "verify", "input", "output 64 4", "overhead", "measure"])
def test_engine_failure_is_the_last_event(call: str) -> None:
    engine = FakeEngine(fails={call: EngineError(FAILED, "illegal address\n" + "x" * 5000)})
    requests = request(
        verify=True, inputs=(InputPart(0, 8, 1, 0),), outputs=(OutputPart(64, 4, 0, True),), input_sets=1
    )
    failed = events_of(engine, requests, inputs=b"x")[-1]
    assert isinstance(failed, Failed) and failed.status == FAILED and len(failed.text) <= 1024


def test_host_reads_are_checked_on_each_set_of_a_sample() -> None:
    """After the samples, which a run on their inputs would disturb."""
    engine = FakeEngine()
    engine.samples = lambda taken: sample(100.0, input_set=engine.sets[taken])
    events = events_of(engine, request(Count(40), input_sets=5, one_use_sets=2))
    assert isinstance(events[-1], Done)
    checked = [call for call in engine.calls if call.startswith("check_reads")]
    assert checked == [f"check_reads {number}" for number in range(5)]
    assert engine.calls.index("check_reads 0") > max(
        at for at, call in enumerate(engine.calls) if call == "measure"
    )


@pytest.mark.parametrize("call", ["measure", "check_reads 3"])
def test_failed_host_read_names_its_input_set(call: str) -> None:
    engine = FakeEngine(fails={call: EngineError(OTHER_READ, "other bytes")})
    engine.samples = lambda taken: sample(100.0, input_set=engine.sets[taken])
    failed = events_of(engine, request(Count(40), input_sets=5))[-1]
    assert isinstance(failed, Failed)
    assert failed.input_set in ([3] if call == "check_reads 3" else range(5))


def test_failure_without_input_sets_names_none() -> None:
    engine = FakeEngine(fails={"measure": EngineError(OTHER_READ, "other bytes")})
    failed = events_of(engine, request())[-1]
    assert isinstance(failed, Failed) and failed.input_set is None


def test_inputs_reach_the_engine_part_by_part() -> None:
    engine = FakeEngine()
    parts = (InputPart(0, 100, 3, 0), InputPart(1, 100, 3, 64))
    data = b"abc" + bytes(61) + b"def"
    events_of(engine, request(Count(1), inputs=parts, input_sets=2), inputs=data)
    assert engine.inputs == [(0, 100, b"abc"), (1, 100, b"def")]


def test_outputs_of_the_last_sample_are_kept() -> None:
    engine = FakeEngine(memory=lambda _, count: count % 256)
    outputs = bytearray(72)
    requests = request(
        Count(7),
        outputs=(OutputPart(1, 4, 0, True), OutputPart(9, 8, 64, False)),
        outputs_stride=128,
        output_sets=1,
    )
    result = done_of(events_of(engine, requests, outputs=outputs))
    last = (result.warm_up + 7) % 256
    assert "output 1 4" in engine.calls and "output 9 8" not in engine.calls
    assert outputs == bytes([last] * 4 + [0] * 60 + [last] * 8)


def test_outputs_of_sets_never_drawn_are_kept() -> None:
    engine = FakeEngine(lambda n: sample(100.0, input_set=n % 2), memory=lambda _, count: count % 256)
    outputs = bytearray(3 * 64)
    parts = tuple(InputPart(number, 100, 1, number) for number in range(3))
    requests = request(
        Count(8),
        inputs=parts,
        input_sets=3,
        outputs=(OutputPart(1, 1, 0, True),),
        outputs_stride=64,
        output_sets=3,
    )
    result = done_of(events_of(engine, requests, inputs=b"abc", outputs=outputs))
    warm_up = result.warm_up
    last = {(warm_up + n) % 2: (warm_up + n + 1) % 256 for n in range(8)}
    assert [outputs[0], outputs[64]] == [last[0], last[1]]
    assert "once 2" in engine.calls and "once 0" not in engine.calls


def test_events_survive_encoding() -> None:
    """Sent events are read back, within their bounds."""
    difference = Difference(4096, 64, 3, 5, 2, True, "00" * 16, "01" * 16)
    engine = FakeEngine(refusals=["a", "b"], differences=[difference])
    events = events_of(engine, request(Interval(), verify=True, ignore_refusals=True))
    assert {type(event) for event in events} == {Opened, Phase, Ready, Verified, Measured, Batch, Done}
    for event in events:
        data = encode(event)
        assert b"\n" not in data
        assert decode_event(data) == event


def test_empty_samples_come_between_the_others() -> None:
    engine = FakeEngine()
    result = done_of(events_of(engine, request(Count(30), empty=True)))
    taken = [call for call in engine.calls if call.startswith("measure")][-30 - len(result.empty) :]
    assert 8 < len(result.empty) < 20  # before each of the first 8, then before a fifth
    assert taken[:4] == ["measure_empty", "measure", "measure_empty", "measure"]
    assert taken[-1] == "measure" and taken.count("measure") == 30
    assert [each.ended_ns for each in result.empty] == sorted({each.ended_ns for each in result.empty})


def test_empty_samples_of_a_short_run_are_completed() -> None:
    engine = FakeEngine()
    result = done_of(events_of(engine, request(Count(3), empty=True)))
    taken = [call for call in engine.calls if call.startswith("measure")][-3 - len(result.empty) :]
    assert taken == ["measure_empty", "measure"] * 3 + ["measure_empty"] * 5


def test_no_empty_samples_are_taken_unless_asked() -> None:
    engine = FakeEngine()
    assert done_of(events_of(engine, request(Count(30)))).empty == ()
    assert "measure_empty" not in engine.calls


def test_warm_samples_follow_the_others_and_are_reported_apart() -> None:
    engine = FakeEngine(lambda n: sample(float(n)))
    events = events_of(engine, request(Count(5), warm_samples=3))
    result = done_of(events)
    assert len(times_of(events)) == 5
    assert [each.device_us for each in result.warm] == [result.warm_up + each for each in (5.0, 6.0, 7.0)]
    warm = engine.calls[engine.calls.index("warm True") :]
    assert warm[:5] == ["warm True", "measure", "measure", "measure", "warm False"]


def test_warm_caches_begin_before_the_overhead_and_never_end() -> None:
    """So empty samples, before and between the others, do the same work beside the events."""
    engine = FakeEngine()
    assert done_of(events_of(engine, request(Count(5), warm=True, empty=True))).empty
    assert engine.calls.index("warm True") < engine.calls.index("overhead")
    assert "warm False" not in engine.calls


def test_input_sets_of_samples_are_the_same_with_warm_caches() -> None:
    sets = {"input_sets": 20, "one_use_sets": 12, "schedule_seed": 7}
    parts = tuple(InputPart(number, 100, 4, 4 * number) for number in range(20))
    drawn = []
    for warm in (False, True):
        engine = FakeEngine()
        events = events_of(engine, request(Count(60), warm=warm, inputs=parts, **sets), inputs=bytes(80))
        drawn.append(engine.sets[-60:])
        assert done_of(events).warm_up > 0
    assert drawn[0] == drawn[1] and all(drawn[0].count(number) == 1 for number in range(8, 20))


@pytest.mark.parametrize("count", [0, 3, 25])
def test_fixed_number_of_warm_up_samples_is_discarded(count: int) -> None:
    engine = FakeEngine(lambda n: sample(float(n)))
    events = events_of(engine, request(Count(2), warm_up_samples=count))
    assert done_of(events).warm_up == count
    assert times_of(events) == [float(count), float(count + 1)]


def test_warm_samples_end_at_the_deadline() -> None:
    events = events_of(FakeEngine(cost=1.0), request(Count(5), deadline=START + 20.0, warm_samples=100))
    assert 1 <= len(done_of(events).warm) <= 15


def test_outputs_of_every_sample_are_checked() -> None:
    part = OutputPart(100, 4, 0, True, "y")
    engine = FakeEngine(memory=lambda address, _: address % 256)
    found = done_of(events_of(engine, request(Count(5), warm_samples=3, checked=(part,)))).outputs
    assert found is not None and (found.samples, found.wrong, found.first, found.unknown) == (8, 0, "", "")
    first = engine.calls.index("output 100 4")
    assert engine.calls[first - 2 : first + 2] == [
        f"once {NO_SET}",
        f"once {NO_SET}",
        "output 100 4",
        f"once {NO_SET}",
    ]


def test_output_that_changes_from_sample_to_sample_is_wrong() -> None:
    part = OutputPart(100, 4, 0, True, "y")
    late = FakeEngine(memory=lambda _, taken: 1 if taken < 60 else taken % 2)
    found = done_of(events_of(late, request(Count(100), checked=(part,)))).outputs
    assert found is not None and "y" in (found.first or found.unknown)


def test_calls_in_a_row_follow_the_samples() -> None:
    def calls_of(engine: FakeEngine, **changes: object) -> Done:
        return done_of(events_of(engine, request(Count(40), input_sets=6, one_use_sets=4, **changes)))

    engine = FakeEngine(lambda n: sample(100.0, input_set=n % 2), cost=0.01)
    result = calls_of(engine, in_a_row=True)
    (calls,) = result.in_a_row
    assert not calls.trouble and [each.device_us for each in calls.samples] == [100.0] * 5
    assert engine.calls[-6:] == ["follow True", *["measure"] * 5]
    assert engine.sets[-5:] == [1, 0, 0, 1, 1]
    assert calls_of(FakeEngine(lambda n: sample(100.0, input_set=n % 2))).in_a_row == ()


def test_calls_in_a_row_go_on_for_a_share_of_the_time_of_sampling() -> None:
    for count, wanted in ((100, 5), (1000, 50), (2000, 64)):
        engine = FakeEngine(lambda n: sample(100.0, input_set=n % 2))
        asked = request(Count(count), input_sets=6, one_use_sets=4, in_a_row=True)
        result = done_of(events_of(engine, asked))
        assert abs(len(result.in_a_row[0].samples) - wanted) <= 1


@pytest.mark.parametrize(
    ("pci_bus", "slow", "rounds"),
    [
        ("0000:19:00.0", 1000, 4),
        ("0000:19:00.0", 3, 1),
        ("0000:19:00.0", 30, 2),
        ("0000:19:00.0", 0, 0),
        ("", 1000, 0),
    ],
)
def test_calls_in_a_row_that_take_longer_on_a_gpu_are_repeated_beside_restored_ones(
    pci_bus: str, slow: int, rounds: int
) -> None:
    """The first `slow` calls take longer if memory is not restored."""
    engine = FakeEngine(cost=0.01, device=msgspec.structs.replace(DEVICE, pci_bus=pci_bus))

    def take(number: int) -> Sample:
        modes = [each for each in engine.calls if each.startswith("follow")]
        in_a_row = engine.calls[engine.calls.index("follow True") :] if modes else []
        longer = modes[-1:] == ["follow True"] and in_a_row.count("measure") <= slow
        return msgspec.structs.replace(
            sample(100.0, input_set=engine.sets[number]), span_us=300.0 if longer else 200.0
        )

    engine.samples = take
    result = done_of(events_of(engine, request(Count(40), input_sets=6, one_use_sets=4, in_a_row=True)))
    (calls,) = result.in_a_row
    assert calls.first == FIRST and len(calls.samples) == FIRST + rounds * ROUND
    pauses = max(0, rounds - 1)
    assert engine.calls.count("follow False") == 2 * rounds + pauses


@pytest.mark.parametrize("kernel", ["slow on one set", "slow from the first call in a row on"])
def test_kernel_that_hides_the_length_of_calls_in_a_row_is_seen(kernel: str) -> None:
    """It clears its memory on one input set in every call, or since it found memory that another call left."""
    engine = FakeEngine(cost=0.01, device=msgspec.structs.replace(DEVICE, pci_bus="0000:19:00.0"))

    def take(number: int) -> Sample:
        modes = [each for each in engine.calls if each.startswith("follow")]
        longer = modes[-1:] == ["follow True"] or (
            engine.sets[number] == 0 if "set" in kernel else bool(modes)
        )
        return msgspec.structs.replace(
            sample(100.0, input_set=engine.sets[number]), span_us=300.0 if longer else 200.0
        )

    engine.samples = take
    events = events_of(engine, request(Count(40), input_sets=6, one_use_sets=4, in_a_row=True))
    (calls,) = done_of(events).in_a_row
    others = [each.sample for event in events if isinstance(event, Batch) for each in event.samples]
    assert longer_in_rounds_us(calls.samples, calls.first, others) == 100.0


def test_call_in_a_row_that_does_not_end_is_no_failure_of_the_replay() -> None:
    engine = FakeEngine(
        lambda n: sample(100.0, input_set=n % 2),
    )
    measure = engine.measure

    def fail(number: int) -> Sample:
        if "follow True" in engine.calls:
            raise EngineError(TIMEOUT, "the region did not end")
        return measure(number)

    engine.__dict__["measure"] = fail
    result = done_of(events_of(engine, request(Count(40), input_sets=6, one_use_sets=4, in_a_row=True)))
    assert result.in_a_row == (InARow((), 0, "the region did not end"),)
