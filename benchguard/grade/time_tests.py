"""Tests of a replay's times against empty samples.

The time of a sample is the difference of two events. Events keep their times in memory that kernels can write, so this
time is a claim. The engine therefore takes two more times of the device: one that the host has read before the region
begins, and one after all streams of the region have joined. No kernel of the submission can write either in time.
Their difference, `span_us`, includes work of the engine, which makes the caches cold. Samples of an empty kernel are
taken between the others, and show how long this work takes: the rest of a sample, `span_us - device_us`, must be as
long as that of an empty one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from ..replay import in_a_row
from ..replay.protocol import InARow, Sample, is_gpu
from ..replay.result import Anchored, ReplayResult, SampleRow
from .agreement import Agreement, agreement, median
from .timing import comparable, counted, is_one_use_only, reported

FLOOR_US = 2.0
"""Differences up to this are noise: honest kernels differed by up to 0.99 us on an H200 (docs/adr/0019)."""

FLOOR_SHARE = 0.002
"""The same as a share of the time: an honest call of 8.9 ms differed by 7 us on an H100 and by 10 us on an H200, which
other processes used, too."""

HOST_FLOOR_US = 20.0
"""The same for times by the host's clock, which has to see the end of a sample."""

NAP_FLOOR_US = 250.0
NAP_AFTER_US = 1000.0
"""The same for samples that take longer than NAP_AFTER_US: the host naps while it waits for these. On the CPU driver a
nap ends when a core is free, and empty samples have no nap: there the floor is at least the time of a sample."""

STREAMS_FLOOR_US = 4.0
"""The same where a region uses several streams (docs/adr/0019)."""

LIVE_FLOOR_US = 20.0
"""The same where a region has too many operations to be queued first, so that the host is part of a sample."""

SHARED_SHARE = 0.5
"""The same on the CPU driver, as a share of an empty sample."""

HEAD_START_SHARE = 0.3
"""The same for calls in a row, as a share of the time. Between other samples memory is restored, and the host can queue
a thousand operations meanwhile. Calls of PyTorch programs took 6.9 ms of 66 ms and 0.27 of 2.0 longer, in
grades that shared two H200 (81015904)."""

APART_SHARE = 0.1
"""Calls in a row may take as much longer as processes differ, up to this share of the time. Medians of 80.9 to 89.2 us,
and calls that took 4.6 us longer, were those of an honest submission beside six grades."""

INCLUDED_US, INCLUDED_SHARE = 8.0, 0.2
"""If calls in a row take longer by more than is noise, but at most by so much or this share, the time includes that:
then work outside of the calls gains nothing. A task's reference took 4.2 of 54.5 us longer beside three grades, and
4.6 of 24.8 us beside seven (H200s)."""

STRAYS_FLOOR_US = 10.0
"""Strays up to this distance cause no violation. Their samples have the times of safe(), which are not shorter."""

START_FLOOR_US = 20.0
START_SHARE = 0.2
"""Empty samples may take so much longer than before the submission's kernels ran, or this share."""

SKIPPED_SHARE = 0.5
"""By this share they may be shorter, because clocks rise. Most of such a sample makes the caches cold."""

SAFE_SHARE, HIDDEN_SHARE = 0.1, 0.5
"""If the noise is more than FLOOR_US and a larger share of the time, the time is safe(), and from the second share on
the tests could not tell."""

LEAST = 8
"""Least number of samples of each kind."""

Timed: TypeAlias = SampleRow | Sample


class TimeTests:
    """The tests of one replay. Each method returns a reason if the test failed, else an empty text.

    They look at the samples that the reported time is made of, which are only the one-use samples where
    memory is not restored; `unrestored` says why.
    """

    def __init__(self, replay: ReplayResult, unrestored: str = "") -> None:
        self.replay = replay
        self._is_gpu = is_gpu(replay.device)
        self._reported = reported(replay.table, unrestored)
        self._few = self._reported if len(self._reported) < LEAST else []
        if self._few:  # too few on the problem's own inputs
            self._reported = counted(replay.table, is_one_use_only(replay.table, unrestored))
        self._rows = [each for each in self._reported if each.span_us > 0]
        empty = [each for each in replay.empty if each.sample.span_us > 0]
        self._empty: list[Timed] = [each.sample for each in empty]
        self._table = [each for each in comparable(replay.table) if each.span_us > 0]
        self._beside_empty = [_around(self._table, each.ended_ns) for each in empty]

    @property
    def unknown(self) -> str:
        """Why the tests could not tell, even if none of them failed; empty if they could."""
        if self._few and not self._missing:
            return f"{len(self._few)} samples make the time, and {LEAST} are needed to test it"
        return self._missing or (self._hidden(self._beside) if self._is_gpu else "")

    @property
    def anchor_unknown(self) -> str:
        """Why anchor_reason() could not tell."""
        return self.unknown or self._hidden(self._beside)

    @property
    def host_unknown(self) -> str:
        """Why host_reason() could not tell. On a GPU the device's clock sees less than the host's, so that decides."""
        return self.unknown or ("" if self._is_gpu else self._hidden(self._by_host))

    def _hidden(self, found: Agreement) -> str:
        """Why the noise could hide most of the time; empty if it could not."""
        if found.noise <= max(FLOOR_US, HIDDEN_SHARE * self._time_us):
            return ""
        return (
            f"differences up to {found.noise:.3g} us are noise here, and the time is {self._time_us:.4g} us"
        )

    @property
    def _missing(self) -> str:
        """Why the tests cannot run."""
        if min(len(self._rows), len(self._table), len(self._empty)) < LEAST:
            return (
                f"{len(self._rows)} samples and {len(self._empty)} empty samples have a second time; "
                f"{LEAST} of each are needed"
            )
        return ""

    def _hides(self, share: float) -> bool:
        """Whether the noise, raised by streams, by the host or by the machine, is more than this share of the time."""
        if not self._is_gpu or self._beside.noise <= FLOOR_US:
            return False
        return self._beside.noise > share * self._time_us

    @property
    def anchored(self) -> Anchored | None:
        """The second measurement of the reported median; None if unknown."""
        if self.unknown:
            return None
        found = self._beside
        return Anchored(self._time_us + found.shift, found.noise)

    @property
    def table(self) -> tuple[SampleRow, ...]:
        """The samples of the replay, bounded(). Those that make the time are safe() if they are too few to be tested,
        or the noise of the tests could hide much of it, or some disagree with the device's clock."""
        is_unsafe = not self._missing and (self._hides(SAFE_SHARE) or self._has_strays)
        rows = self._few or (self._reported if is_unsafe else [])
        replaced = dict(zip(map(id, rows), self.safe(rows), strict=True))
        bounded = self.bounded(self.replay.table)
        return tuple(
            replaced.get(id(row), other) for row, other in zip(self.replay.table, bounded, strict=True)
        )

    def safe(self, rows: Sequence[SampleRow]) -> list[SampleRow]:
        """Samples whose times are not shorter than by the device's clock around the events, beyond the noise.

        The CPU driver's load makes some samples longer there, so its samples are only bounded().
        """
        if not self._is_gpu:
            return self.bounded(rows)
        return [
            row if clock is None else replace(row, device_us=clock) for row, clock in self._by_clock(rows)
        ]

    def bounded(self, rows: Sequence[SampleRow]) -> list[SampleRow]:
        """Samples whose times are not shorter than that of the fastest sample of their kind by the device's clock.

        A kernel may tamper with some samples only: too few to be seen on a GPU, or fewer than nine tenths on the CPU
        driver. Load makes no sample shorter, so this bound lengthens no honest time. Samples on one-use inputs, and
        on the problem's own distribution, are kinds, because a kernel may honestly take longer for these.
        """
        clocks = self._by_clock(rows)
        fastest: dict[tuple[bool, bool], float] = {}
        for row, clock in clocks:
            if row.span_us > 0:
                kind, time = (row.one_use, row.own), row.device_us if clock is None else clock
                fastest[kind] = min(time, fastest.get(kind, time))
        return [
            row
            if clock is None
            else replace(row, device_us=max(row.device_us, fastest[row.one_use, row.own]))
            for row, clock in clocks
        ]

    def _by_clock(self, rows: Sequence[SampleRow]) -> list[tuple[SampleRow, float | None]]:
        """Each sample, and its time by the device's clock around its events; None if that is not longer, beyond the
        noise, or not known."""
        empty = [_beside(each) for each in self._empty]
        if len(empty) < LEAST:
            return [(row, None) for row in rows]
        engine, floor = median(empty), FLOOR_US if self._is_gpu else self._floor(FLOOR_US, empty)
        return [(row, row.span_us - engine if _beside(row) - engine > floor else None) for row in rows]

    def anchor_reason(self) -> str:
        """A reason if the events contradict the times that kernels cannot write, or themselves."""
        least = min((row.device_us for row in self.replay.table), default=0.0)
        if least < 0:
            return f"events show {least:.4g} us: one of them was tampered with"
        if self._missing:
            return ""
        found = self._beside
        if self._is_longer(found) or (self._is_gpu and -found.shift > found.noise):
            return _shifted(found, self._time_us, "by the device's clock around them")
        if self._has_strays and found.stray_us > STRAYS_FLOOR_US:
            return (
                f"in {found.strays} of {found.samples} samples events disagree with the device's clock around them: "
                "one of them was tampered with, or work runs outside the events"
            )
        return ""

    def host_reason(self) -> str:
        """A reason if more time has passed by the host's clock than by the events."""
        if self._missing:
            return ""
        found = self._by_host
        return _shifted(found, self._time_us, "by the host's clock") if self._is_longer(found) else ""

    def tail_reason(self) -> str:
        """A reason if the device works after the end event."""
        if self._missing or not self._is_gpu:
            return ""
        found = self._compare(_tail, HOST_FLOOR_US)
        if found.shift <= found.noise:
            return ""
        return (
            f"the device was busy for {found.shift:.1f} us after the end event (median of {found.samples} samples, "
            f"noise {found.noise:.1f} us): work outlives the call; synchronise kernels launched from the device or on "
            "other streams"
        )

    def empty_reason(self) -> str:
        """A reason if empty samples take longer than before any kernel of the submission ran."""
        if self._missing or not self._is_gpu:
            return ""
        if self._empty_us - self._first_empty_us <= max(START_FLOOR_US, START_SHARE * self._first_empty_us):
            return ""
        return f"{self._empty_times}: work runs outside the events"

    @property
    def in_a_row_unknown(self) -> str:
        """Why in_a_row_reason() could not tell."""
        if not self._is_gpu:
            return "the CPU driver shares its cores with the host"
        if self.unknown:
            return self.unknown
        alone = any(each.samples and not self._on_sets_of(each) for each in self.replay.in_a_row)
        return "no other sample has the input set of a call" if alone else ""

    def in_a_row_reason(self, found: InARow) -> str:
        """A reason if samples on the memory that the run before left take much longer than the others on their sets."""
        longer = self._longer_us(found)
        if longer <= self._included_max_us:
            return ""
        return (
            f"a call takes {longer:.4g} us longer on the memory that another call left ({len(found.samples)} calls; "
            f"the time is {self._time_us:.4g} us)"
        )

    @property
    def included_us(self) -> float:
        """How much longer calls in a row take, by more than noise, but by too little for in_a_row_reason()."""
        found = [self._longer_us(each) for each in self.replay.in_a_row]
        return max((each for each in found if each <= self._included_max_us), default=0.0)

    @property
    def _included_max_us(self) -> float:
        if self._missing:
            return 0.0
        return max(INCLUDED_US, INCLUDED_SHARE * self._time_us)

    def _longer_us(self, found: InARow) -> float:
        """How much longer samples in a row take; 0 if that is noise, or if nobody can tell."""
        if self._missing or not self._is_gpu:
            return 0.0
        longer = in_a_row.longer_in_rounds_us(found.samples, found.first, self._on_sets_of(found))
        noise = max(
            in_a_row.allowed_us(self._time_us), self._beside.noise, self._apart_us, self._head_start_us
        )
        return longer if longer > noise else 0.0

    @property
    def _apart_us(self) -> float:
        """How far the medians of processes are apart, which nothing in a call explains, up to APART_SHARE."""
        times: dict[int, list[float]] = {}
        for row in self._table:
            times.setdefault(row.process, []).append(row.device_us)
        medians = [median(each) for each in times.values()]
        return min(max(medians) - min(medians), APART_SHARE * self._time_us)

    @property
    def _head_start_us(self) -> float:
        """How much longer a call may take because the host queues no operations while memory is restored; 0 if all of
        them are queued before each sample."""
        prepared = self.replay.prepared
        if prepared is not None and prepared.primed:
            return 0.0
        return max(LIVE_FLOOR_US, HEAD_START_SHARE * self._time_us)

    def _on_sets_of(self, found: InARow) -> list[SampleRow]:
        """The other samples of its process on the input sets of calls in a row; those of all processes if it has none
        (loop.py). A process may have had one-use sets only."""
        numbers = {each.input_set for each in found.samples}
        rows = [row for row in self._table if row.input_set in numbers]
        return [row for row in rows if row.process == found.process] or rows

    @property
    def shortened(self) -> str:
        """Why it is unknown whether the caches are still made cold; empty if they are.

        No accusation follows: the first samples are longer if another process uses the device, too (3.9 ms, then
        125 us, in 2 of 66 honest grades on an H100 that six grades shared).
        """
        if self._missing or not self._is_gpu:
            return ""
        if self._first_empty_us - self._empty_us <= max(START_FLOOR_US, SKIPPED_SHARE * self._first_empty_us):
            return ""
        return f"{self._empty_times}: the device was in use then, or the caches are not made cold any more"

    @property
    def _has_strays(self) -> bool:
        return self._is_gpu and self._beside.has_strays

    @property
    def _first_empty_us(self) -> float:
        overhead = self.replay.overhead
        return overhead.empty_beside_us if overhead is not None else 0.0

    @property
    def _empty_times(self) -> str:
        return (
            f"an empty sample keeps the device busy for {self._empty_us:.0f} us, and {self._first_empty_us:.0f} us "
            "before the submission's kernels ran"
        )

    @cached_property
    def _empty_us(self) -> float:
        return median([_beside(each) for each in self._empty])

    @cached_property
    def _time_us(self) -> float:
        return median([each.device_us for each in self._rows])

    @cached_property
    def _beside(self) -> Agreement:
        return self._compare(_beside, FLOOR_US, bounded=self._is_gpu)

    @cached_property
    def _by_host(self) -> Agreement:
        floor = HOST_FLOOR_US
        if self._time_us >= NAP_AFTER_US:
            floor = NAP_FLOOR_US if self._is_gpu else max(NAP_FLOOR_US, self._time_us)
        return self._compare(_beside_by_host, floor)

    def _compare(self, key: Callable[[Timed], float], floor: float, *, bounded: bool = False) -> Agreement:
        empty = [key(each) for each in self._empty]
        rows = [key(each) for each in self._rows]
        differences = [
            key(row) - time for near, time in zip(self._beside_empty, empty, strict=True) for row in near
        ]
        # One-use samples are too few to lie beside each empty sample: add how far they are from all samples.
        offset = median(rows) - median([key(each) for each in self._table])
        return agreement(rows, empty, differences, self._floor(floor, empty), offset, bounded)

    def _is_longer(self, found: Agreement) -> bool:
        """Whether samples are longer than their events say. The CPU driver's load changes from sample to sample, so
        there nearly all of them must be, too."""
        return found.shift > found.noise and (self._is_gpu or found.least > found.floor)

    def _floor(self, floor: float, empty: Sequence[float]) -> float:
        if not self._is_gpu:
            return max(floor, SHARED_SHARE * median(empty))
        floor = max(floor, FLOOR_SHARE * self._time_us)
        prepared = self.replay.prepared
        if prepared is None or not prepared.primed:
            return max(floor, LIVE_FLOOR_US)
        return floor if prepared.streams == 1 else max(floor, STREAMS_FLOOR_US)


def longest_tail(table: Sequence[SampleRow]) -> float | None:
    """The median time that the device was busy after the end event, in microseconds."""
    return median([row.tail_us for row in table]) if table else None


def _beside(sample: Timed) -> float:
    return sample.span_us - sample.device_us


def _beside_by_host(sample: Timed) -> float:
    return sample.host_us - sample.device_us


def _tail(sample: Timed) -> float:
    return sample.tail_us


def _around(table: Sequence[SampleRow], time_ns: int) -> Sequence[SampleRow]:
    """The samples directly before and after a time."""
    after = bisect_left(table, time_ns, key=lambda row: row.ended_ns)
    return table[max(0, after - 1) : after + 1]


def _shifted(found: Agreement, time: float, clock: str) -> str:
    return (
        f"events show {time:.4g} us, but {time + found.shift:.4g} us have passed {clock} (noise {found.noise:.2g} us): "
        "one of them was tampered with, or work runs outside the events"
    )
