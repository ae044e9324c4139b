"""Events are believed as far as times that no kernel can write agree with them."""

from __future__ import annotations

import dataclasses
import random
import statistics
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from benchguard.grade.agreement import agreement
from benchguard.grade.outcome import Findings, evidence_of
from benchguard.grade.time_tests import FLOOR_US, TimeTests
from benchguard.grade.timing import believed, reported
from benchguard.judge.ceilings import rates_of
from benchguard.replay.protocol import Overhead, Sample, TimedSample
from benchguard.replay.result import ReplayResult, SampleRow

BESIDE = 110.0
NOISE = 0.4
"""Standard deviation of BESIDE, in microseconds, as on an H200."""


def rows(count: int, draw: random.Random, device_us: float = 30.0, outliers: float = 0.02) -> list[SampleRow]:
    return [
        SampleRow(
            10 * n, us, us + 120 + draw.gauss(0, 1), 5.0, 1980.0, n % 4, False, (), tail_us=draw.gauss(9, 1),
            span_us=us + beside(draw, outliers),
        )
        for n in range(count)
        for us in [device_us * draw.lognormvariate(0, 0.01)]
    ]  # fmt: skip


def beside(draw: random.Random, outliers: float) -> float:
    return BESIDE + draw.gauss(0, NOISE) + (50 * draw.random() if draw.random() < outliers else 0)


def empty(count: int, draw: random.Random, outliers: float = 0.02) -> tuple[TimedSample, ...]:
    """Between the samples of rows()."""
    return tuple(
        TimedSample(
            Sample(
                2.0, 122 + draw.gauss(0, 1), 5.0, 1980.0, 0, 0,
                tail_us=draw.gauss(9, 1), span_us=2.0 + beside(draw, outliers),
            ),
            10 * n + 5,
        )
        for n in range(count)
    )  # fmt: skip


def replay_with(
    table: list[SampleRow],
    empties: tuple[TimedSample, ...],
    pci_bus: str = "0000:19:00.0",
    before: float = BESIDE,
    primed: bool = True,
    streams: int = 1,
    unrestored: str = "",
) -> TimeTests:
    fields = SimpleNamespace(
        table=tuple(table),
        empty=empties,
        overhead=Overhead(0.03, 1.2, 2.0, before),
        device=SimpleNamespace(pci_bus=pci_bus),
        prepared=SimpleNamespace(primed=primed, streams=streams),
    )
    return TimeTests(cast(ReplayResult, fields), unrestored)


def reasons(tests: TimeTests) -> list[str]:
    every = (tests.anchor_reason(), tests.host_reason(), tests.tail_reason(), tests.empty_reason())
    return [each for each in every if each]


def test_honest_samples_are_never_accused() -> None:
    """600 replays have every size that a grade may have, and outliers as on a busy machine, where the noise of few
    samples may be as large as their time."""
    draw = random.Random(1)
    for number in range(600):
        count = (14, 40, 100, 400)[number % 4]
        outliers = (0.0, 0.02, 0.2)[number % 3]
        found = replay_with(rows(count, draw, outliers=outliers), empty(8 + count // 5, draw, outliers))
        assert reasons(found) == []
        assert not found.unknown or (outliers == 0.2 and "are noise here" in found.unknown)


Tamper = Callable[[SampleRow], SampleRow]


def shifted(us: float) -> Tamper:
    """The start event's time is written anew, later."""
    return lambda row: dataclasses.replace(row, device_us=row.device_us - us)


@pytest.mark.parametrize("shift", [3.0, 5.0, 20.0, -3.0])
def test_shifted_start_time_is_seen_from_three_microseconds_on(shift: float) -> None:
    draw = random.Random(2)
    for _ in range(50):
        table = [shifted(shift)(row) for row in rows(100, draw)]
        found = replay_with(table, empty(28, draw))
        assert "events show" in found.anchor_reason()
        assert found.anchored is not None
        assert found.anchored.median == pytest.approx(30, abs=FLOOR_US + 0.5)


@pytest.mark.parametrize("pci_bus", ["", "0000:19:00.0"])
def test_time_below_zero_is_seen_within_any_noise(pci_bus: str) -> None:
    """A short call on the CPU driver, whose noise is half of an empty sample."""
    draw = random.Random(21)
    table = rows(100, draw, device_us=5.0)
    table[7] = shifted(6)(table[7])
    for count in (4, 100):
        found = replay_with(table[5 : 5 + count], empty(28, draw), pci_bus=pci_bus)
        assert "one of them was tampered with" in found.anchor_reason()


def test_shift_in_fewer_than_half_of_the_samples_is_seen() -> None:
    draw = random.Random(3)
    table = [shifted(20)(row) if n % 9 < 4 else row for n, row in enumerate(rows(100, draw))]
    assert "of 100 samples events disagree" in replay_with(table, empty(28, draw)).anchor_reason()


@pytest.mark.parametrize(("shift", "seen"), [(6.0, False), (-6.0, False), (20.0, True)])
def test_small_shift_in_some_samples_changes_no_time_and_accuses_nobody(shift: float, seen: bool) -> None:
    """An honest call that ends with a copy may have two lengths outside its events."""
    draw = random.Random(23)
    for _ in range(20):
        honest = rows(400, draw)
        table = [shifted(shift)(row) if n % 10 < 3 else row for n, row in enumerate(honest)]
        found = replay_with(table, empty(88, draw))
        assert bool(reasons(found)) == seen
        times = [row.device_us for row in found.table]
        assert min(times) > min(row.device_us for row in honest) - FLOOR_US
        assert statistics.median(times) == pytest.approx(30, rel=0.02)


def test_shift_of_the_reported_samples_alone_is_seen() -> None:
    """A kernel with memory that is not restored knows inputs again, and tampers with the times of new ones only."""
    draw = random.Random(15)
    table = [dataclasses.replace(row, one_use=n % 8 == 0) for n, row in enumerate(rows(100, draw))]
    honest = replay_with(table, empty(28, draw), unrestored="kernels allocate memory")
    assert (honest.unknown, reasons(honest)) == ("", [])
    table = [shifted(20)(row) if row.one_use else row for row in table]
    found = replay_with(table, empty(28, draw), unrestored="kernels allocate memory")
    assert "events show 10" in found.anchor_reason()
    assert found.anchored is not None
    assert found.anchored.median == pytest.approx(30, abs=FLOOR_US)


@pytest.mark.parametrize("count", [14, 40, 100])
def test_shifts_that_vary_do_not_count_as_noise(count: int) -> None:
    draw = random.Random(16)
    for _ in range(50):
        table = [shifted(20 * draw.random())(row) for row in rows(count, draw)]
        assert "events " in replay_with(table, empty(8 + count // 5, draw)).anchor_reason()


def test_one_use_samples_that_make_the_time_because_of_a_doubt_are_tested() -> None:
    draw = random.Random(19)
    table = rows(100, draw)
    for n in range(4, 100, 8):
        table[n] = shifted(20)(dataclasses.replace(table[n], one_use=True, input_set=n))
    replay = replay_with(table, empty(28, draw)).replay
    for doubt, state in (("", "held"), ("one-use inputs take longer", "failed")):
        evidence = evidence_of(Findings(replay, None, rates_of(None, None, None, ""), "", doubt=doubt))
        assert evidence[0].check == "anchored time" and evidence[0].state == state


@pytest.mark.parametrize(
    ("device_us", "state"), [(5.0, "could not tell"), (90.0, "could not tell"), (500.0, "held")]
)
def test_checks_of_the_cpu_driver_whose_noise_hides_the_time_could_not_tell(
    device_us: float, state: str
) -> None:
    """Half of an empty sample is noise there: 55 us by the device's clock, and 60 us by the host's."""
    draw = random.Random(25)
    found = replay_with(rows(100, draw, device_us), empty(28, draw), pci_bus="")
    rates = rates_of(None, None, None, "")
    anchored, by_host = evidence_of(Findings(found.replay, None, rates, ""))[:2]
    assert (anchored.check, anchored.state, by_host.check, by_host.state) == (
        "anchored time", state, "host clock", state,
    )  # fmt: skip
    assert not reasons(found)
    if state != "held":
        assert "are noise here, and the time is" in anchored.text and "are noise here" in by_host.text
        assert found.anchored is not None and found.anchored.noise == pytest.approx(55, abs=2)


def test_host_clock_of_the_cpu_driver_could_not_tell_of_long_samples() -> None:
    """As much time as a sample takes may pass before the host's nap ends."""
    draw = random.Random(26)
    found = replay_with(rows(100, draw, 5000.0), empty(28, draw), pci_bus="")
    assert (found.anchor_unknown, found.unknown) == ("", "")
    assert "are noise here, and the time is" in found.host_unknown


def test_shift_beyond_the_noise_of_the_cpu_driver_fails_a_check_that_could_not_tell_otherwise() -> None:
    draw = random.Random(27)
    found = replay_with([shifted(200)(row) for row in rows(100, draw, 230.0)], empty(28, draw), pci_bus="")
    assert found.anchor_unknown and "have passed by the device's clock" in found.anchor_reason()
    assert evidence_of(Findings(found.replay, None, rates_of(None, None, None, ""), ""))[0].state == "failed"


def few_own(draw: random.Random, shift: float) -> list[SampleRow]:
    """100 samples of 10 us and of 30 us, which are those on the problem's own inputs. 12 are on one-use inputs, half of
    these on the problem's own: only there the start event's time is moved."""
    table = []
    for n, row in enumerate(rows(100, draw)):
        own = n % 16 == 4
        times = {
            each: getattr(row, each) - (0 if own else 20) for each in ("device_us", "host_us", "span_us")
        }
        table.append(dataclasses.replace(row, one_use=n % 8 == 4, own=own, **times))
    return [shifted(shift)(row) if row.own else row for row in table]


def test_few_reported_samples_cannot_tell_and_take_the_time_around_their_events() -> None:
    draw = random.Random(17)
    for shift in (0.0, 18.0) * 25:
        found = replay_with(few_own(draw, shift), empty(28, draw), unrestored="kernels allocate memory")
        times = [row.device_us for row in reported(found.table, "kernels allocate memory")]
        assert "6 samples make the time, and 8 are needed" in found.unknown
        assert len(times) == 6 and statistics.median(times) == pytest.approx(30, abs=FLOOR_US)
        assert bool(reasons(found)) == (shift > 0)


@pytest.mark.parametrize(("loaded", "longer"), [(3, False), (6, True)])
def test_load_of_some_of_few_samples_of_the_cpu_driver_is_no_longer_time(loaded: int, longer: bool) -> None:
    draw = random.Random(22)
    table = few_own(draw, 0.0)
    for number in [n for n, row in enumerate(table) if row.one_use and row.own][:loaded]:
        table[number] = dataclasses.replace(table[number], span_us=table[number].span_us + 2000)
    found = replay_with(table, empty(28, draw), pci_bus="", unrestored="kernels allocate memory")
    times = [row.device_us for row in reported(found.table, "kernels allocate memory")]
    assert (statistics.median(times) > 1000) == longer


@pytest.mark.parametrize(("pci_bus", "share"), [("", 0.85), ("", 0.6), ("", 0.3), ("0000:19:00.0", 0.05)])
def test_shift_of_some_samples_makes_no_sample_faster_than_the_fastest(pci_bus: str, share: float) -> None:
    """Load of the CPU driver could explain fewer than nine tenths, and chance a twentieth on a GPU."""
    draw = random.Random(24)
    honest = [dataclasses.replace(row, one_use=n % 8 == 0) for n, row in enumerate(rows(100, draw, 3000.0))]
    table = [shifted(2700)(row) if draw.random() < share else row for row in honest]
    found = replay_with(table, empty(28, draw), pci_bus=pci_bus)
    assert reasons(found) == []
    assert min(row.device_us for row in found.table) > min(row.device_us for row in honest) - FLOOR_US
    assert statistics.median(row.device_us for row in found.table) > 2900


def test_load_outside_of_events_lengthens_no_time_of_the_cpu_driver() -> None:
    draw = random.Random(25)
    for loaded in (0.1, 0.5, 0.9):
        honest = rows(100, draw)
        table = [
            dataclasses.replace(row, span_us=row.span_us + (5000 if draw.random() < loaded else 0))
            for row in honest
        ]
        times = [row.device_us for row in replay_with(table, empty(28, draw), pci_bus="").table]
        assert statistics.median(times) == pytest.approx(30, rel=0.02) and max(times) < 33


def test_mean_is_not_below_the_time_around_a_one_use_sample() -> None:
    """Few samples are tampered with, which the tests do not see, and one of them is on one-use inputs."""
    draw = random.Random(18)
    table = [dataclasses.replace(row, one_use=n % 8 == 4) for n, row in enumerate(rows(100, draw))]
    table = [shifted(28)(row) if n == 4 or n % 16 == 7 else row for n, row in enumerate(table)]
    found = replay_with(table, empty(28, draw))
    assert reasons(found) == []
    times = believed(reported(found.table), found.safe([row for row in table if row.one_use]))
    assert statistics.fmean(times) > 29


def test_forged_span_is_contradicted_by_the_host() -> None:
    draw = random.Random(4)
    table = [dataclasses.replace(row, device_us=3.0, span_us=3.0 + BESIDE) for row in rows(100, draw)]
    found = replay_with(table, empty(28, draw))
    assert found.anchor_reason() == ""
    assert "by the host's clock" in found.host_reason()


def test_work_after_the_end_event_is_seen_from_twenty_microseconds_on() -> None:
    draw = random.Random(5)
    table = [dataclasses.replace(row, tail_us=row.tail_us + 21) for row in rows(100, draw)]
    assert "after the end event" in replay_with(table, empty(28, draw)).tail_reason()


def test_slower_empty_samples_are_seen() -> None:
    draw = random.Random(6)
    found = replay_with(rows(100, draw), empty(28, draw), before=BESIDE - 40)
    assert "an empty sample keeps the device busy" in found.empty_reason()


def test_shorter_empty_samples_are_seen() -> None:
    """A kernel that changed the engine's code, say, so that the caches are not flushed."""
    draw = random.Random(6)
    found = replay_with(rows(100, draw), empty(28, draw), before=2.5 * BESIDE)
    assert "caches are not made cold" in found.shortened and not found.empty_reason()
    assert not replay_with(rows(100, draw), empty(28, draw), before=1.5 * BESIDE).shortened


@pytest.mark.parametrize(("samples", "empties"), [(7, 28), (100, 7)])
def test_few_samples_cannot_tell(samples: int, empties: int) -> None:
    draw = random.Random(7)
    found = replay_with(rows(samples, draw), empty(empties, draw))
    assert found.unknown and found.anchored is None


def test_samples_without_a_second_time_cannot_tell() -> None:
    draw = random.Random(8)
    table = [dataclasses.replace(row, span_us=0.0) for row in rows(100, draw)]
    assert "0 samples and 28 empty samples have a second time" in replay_with(table, empty(28, draw)).unknown


@pytest.mark.parametrize("shift", [0.0, 25.0])
def test_times_of_samples_without_a_second_time_do_not_count(shift: float) -> None:
    """Half of the one-use samples have none, and there the start event's time is moved, which no test would see."""
    draw = random.Random(23)
    table = [dataclasses.replace(row, one_use=n % 5 == 4) for n, row in enumerate(rows(100, draw))]
    for number in range(4, 100, 10):
        late = dataclasses.replace(table[number], span_us=0.0, unprimed=True)
        table[number] = shifted(shift)(late)
    found = replay_with(table, empty(28, draw), unrestored="kernels allocate memory")
    times = [row.device_us for row in reported(found.table, "kernels allocate memory")]
    assert (len(times), found.unknown, reasons(found)) == (10, "", [])
    assert min(times) > 25


def test_region_queued_while_it_runs_has_the_hosts_noise() -> None:
    draw = random.Random(9)
    table = [dataclasses.replace(row, span_us=row.span_us + 10) for row in rows(100, draw)]
    assert replay_with(table, empty(28, draw)).anchor_reason()
    assert not replay_with(table, empty(28, draw), primed=False).anchor_reason()


def test_long_call_may_be_two_thousandths_longer() -> None:
    draw = random.Random(14)
    table = rows(100, draw, device_us=9000.0)
    for shift, is_seen in ((15.0, False), (40.0, True)):
        longer = [dataclasses.replace(row, span_us=row.span_us + shift) for row in table]
        assert bool(replay_with(longer, empty(28, draw)).anchor_reason()) == is_seen


def test_region_on_two_streams_may_be_four_microseconds_longer() -> None:
    draw = random.Random(14)
    longer = [dataclasses.replace(row, span_us=row.span_us + 3) for row in rows(100, draw)]
    assert not replay_with(longer, empty(28, draw), streams=2).anchor_reason()
    longer = [dataclasses.replace(row, span_us=row.span_us + 5) for row in rows(100, draw)]
    assert replay_with(longer, empty(28, draw), streams=2).anchor_reason()


@pytest.mark.parametrize(
    ("streams", "primed", "shifts"), [(2, True, (3.0, 2.4)), (1, False, (8.0, 4.5))], ids=["streams", "live"]
)
def test_noise_that_could_hide_most_of_the_time_cannot_tell(
    streams: int, primed: bool, shifts: tuple[float, float]
) -> None:
    draw = random.Random(20)
    for us, shift in ((30.0, 0.0), (30.0, shifts[0]), (6.0, 0.0), (6.0, shifts[1])):
        table = [shifted(shift)(row) for row in rows(100, draw, device_us=us)]
        found = replay_with(table, empty(28, draw), streams=streams, primed=primed)
        assert reasons(found) == []
        assert bool(found.unknown) == (us == 6.0 or not primed) and found.unknown.count("are noise") <= 1
        assert statistics.median(row.device_us for row in found.table) == pytest.approx(us, abs=0.3)


@pytest.mark.parametrize("shift", [0.0, 8.0])
def test_noise_of_the_machine_hides_no_part_of_the_time(
    shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty samples vary by 5 us, so that the tests do not see a shift of 8 us."""
    monkeypatch.setattr(sys.modules[__name__], "NOISE", 5.0)
    draw = random.Random(24)
    for us in (40.0, 12.0) * 20:
        table = [shifted(shift)(row) for row in rows(100, draw, device_us=us, outliers=0.0)]
        found = replay_with(table, empty(28, draw, outliers=0.0))
        time = statistics.median(row.device_us for row in found.table)
        assert (shift > 0 and reasons(found)) or abs(time - us) < 3.2


def test_noise_on_the_cpu_driver_is_half_an_empty_sample() -> None:
    draw = random.Random(10)
    near = [shifted(20)(row) for row in rows(100, draw, device_us=80.0)]
    far = [shifted(60)(row) for row in rows(100, draw, device_us=80.0)]
    assert not replay_with(near, empty(28, draw), pci_bus="").anchor_reason()
    assert replay_with(far, empty(28, draw), pci_bus="").anchor_reason()


def test_load_during_the_reported_samples_of_the_cpu_driver_is_no_tampering() -> None:
    """The one-use samples are few, so load may have met most of them, and none of the others."""
    draw = random.Random(16)
    table = [dataclasses.replace(row, one_use=n % 8 == 0) for n, row in enumerate(rows(100, draw))]
    table = [dataclasses.replace(row, span_us=row.span_us + 2000) if row.one_use else row for row in table]
    found = replay_with(table, empty(28, draw), pci_bus="", unrestored="kernels allocate memory")
    assert found.anchor_reason() == ""


def test_agreement_counts_strays_by_fishers_exact_test() -> None:
    found = agreement([0.0] * 6 + [9.0] * 4, [0.0] * 9 + [9.0], [0.0] * 10, floor=1.0)
    assert (found.strays, found.shift, found.noise) == (4, 0.0, 1.0)
    assert found.by_chance == pytest.approx(0.152, abs=0.001)  # R: fisher.test(..., alternative="greater")


def test_drift_of_the_machine_is_not_a_shift() -> None:
    """Samples and empty samples become slower together, and most empty samples come first."""
    draw = random.Random(11)

    def slower(us: float, at: int) -> float:
        return us + at / 100

    table = [dataclasses.replace(row, span_us=slower(row.span_us, row.ended_ns)) for row in rows(100, draw)]
    empties = tuple(
        TimedSample(
            msgspec.structs.replace(each.sample, span_us=slower(each.sample.span_us, each.ended_ns)),
            each.ended_ns,
        )
        for each in empty(28, draw)
    )
    assert reasons(replay_with(table, empties)) == []


def test_nap_of_the_host_in_a_long_sample_is_no_tampering() -> None:
    draw = random.Random(12)
    table = [dataclasses.replace(row, host_us=row.host_us + 80) for row in rows(100, draw, device_us=3000)]
    assert replay_with(table, empty(28, draw)).host_reason() == ""
    table = [dataclasses.replace(row, host_us=row.host_us + 80) for row in rows(100, draw, device_us=300)]
    assert "by the host's clock" in replay_with(table, empty(28, draw)).host_reason()


@pytest.mark.parametrize(("pci_bus", "seen"), [("", False), ("0000:19:00.0", True)])
def test_late_end_of_each_nap_on_a_loaded_cpu_driver_is_no_tampering(pci_bus: str, seen: bool) -> None:
    """Seen at 10 processes on two cores: an honest graph of 3439 us, and 353 us more by the host's clock."""
    draw = random.Random(26)
    table = [
        dataclasses.replace(row, host_us=row.host_us + draw.uniform(350, 450))
        for row in rows(24, draw, device_us=3439)
    ]
    assert bool(replay_with(table, empty(12, draw), pci_bus=pci_bus).host_reason()) == seen


def test_load_of_the_cpu_driver_is_no_tampering() -> None:
    """Half of the samples, or of the empty ones, meet other work."""
    draw = random.Random(13)
    for _ in range(100):
        busy, calm = (0.5, 0.0) if draw.random() < 0.5 else (0.0, 0.5)
        table = [
            dataclasses.replace(row, span_us=row.span_us + (400 if draw.random() < busy else 0))
            for row in rows(40, draw)
        ]
        empties = tuple(
            TimedSample(
                msgspec.structs.replace(
                    each.sample, span_us=each.sample.span_us + (400 if draw.random() < calm else 0)
                ),
                each.ended_ns,
            )
            for each in empty(15, draw)
        )
        found = replay_with(table, empties, pci_bus="")
        assert found.anchor_reason() == found.host_reason() == ""


def test_load_of_every_sample_of_the_cpu_driver_is_no_tampering() -> None:
    """Other work meets all samples of a short replay, each for another time, and few of the empty ones."""
    draw = random.Random(17)
    table = [
        dataclasses.replace(row, host_us=row.host_us + 300 + draw.choice((0, 200, 4000, 9000)))
        for row in rows(17, draw, device_us=2000)
    ]
    found = replay_with(table, empty(9, draw), pci_bus="")
    assert found.host_reason() == ""
    constant = [
        dataclasses.replace(row, host_us=row.host_us + 4000) for row in rows(17, draw, device_us=2000)
    ]
    assert "by the host's clock" in replay_with(constant, empty(9, draw), pci_bus="").host_reason()
