"""Decides how often to measure: from an open capture to enough samples. Uses no process, device or real clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TypeAlias

from ..ipc.slots import SlotError, SlotWriter
from .contract import Engine, EngineError, Sampler
from .convergence import SAMPLES_MAX, Count, Decision, decide, for_time, is_impatient, next_check, shortfall
from .in_a_row import CallsInARow, Share
from .inputs import Inputs
from .output_check import OutputChecker
from .processes import Processes
from .protocol import (
    BATCH_MAX,
    CANNOT,
    DIFFERENCES_MAX,
    EMPTY_MAX,
    FAILED,
    NO_SET,
    NOTES_MAX,
    OTHER_READ,
    OURS,
    REFUSALS_MAX,
    TIMEOUT,
    Batch,
    Done,
    Event,
    Failed,
    InARow,
    InputTimes,
    Measured,
    Opened,
    OutputPart,
    Phase,
    Ready,
    Request,
    Sample,
    SlotTimes,
    TimedSample,
    Verified,
    is_gpu,
)
from .schedule import EMPTY_FIRST, Schedule
from .statistics import quantile

SEND_SECONDS = 0.1
"""Seconds between batches of samples: rare enough not to disturb the device, frequent enough for progress."""

WARM_UP_ROUND = 10
WARM_UP_MIN_SECONDS = 0.05
WARM_UP_MAX_SECONDS = 0.5
WARM_UP_STEADY = 0.005
"""Warm-up ends when the medians of two rounds are as near as this."""

LONG_US = 20_000.0
"""From this time on, one process takes all samples. Medians differ between contexts by 0.26 % for 290 us (ADR 39)."""

SAMPLING_SHARE = 0.8
"""Share of the remaining time for samples; the rest is for outputs and the result."""

CLOCK_STRAY = 0.05
"""A sample whose clock is farther than this from the median clock ran at another one."""

_NANOSECONDS = 1e9

Send: TypeAlias = Callable[[Event], None]


@dataclass(frozen=True)
class Buffers:
    """The inherited memory: what the inputs' parts are in, and where the outputs' parts and the output slots are.

    `wait` is called before the first sample, to wait until the memory is prepared.
    """

    inputs: memoryview
    outputs: memoryview
    slots: memoryview = field(default_factory=lambda: memoryview(b""))
    wait: Callable[[], None] = lambda: None


def run(
    engine: Engine,
    request: Request,
    buffers: Buffers,
    send: Send,
    clock: Callable[[], float],
    siblings: Sequence[Sampler] = (),
) -> None:
    """Replay as requested; what happens is sent. `clock` is monotonic, in seconds. `siblings` take samples, too."""
    loop = _Loop(engine, request, buffers, send, clock, siblings)
    try:
        loop.run()
    except EngineError as error:
        read_on = loop.input_set if error.status == OTHER_READ and loop.input_set != NO_SET else None
        send(Failed(error.status, line(str(error)), loop.phase, read_on))


def line(text: str) -> str:
    """A text cut to the length of an event's line."""
    return text if len(text) <= 1024 else text[:1021] + "..."


class _Loop:
    def __init__(
        self,
        engine: Engine,
        request: Request,
        buffers: Buffers,
        send: Send,
        clock: Callable[[], float],
        siblings: Sequence[Sampler],
    ) -> None:
        self._engine, self._request, self._buffers = engine, request, buffers
        self._send, self._clock = send, clock
        self._deadline = request.deadline
        self._sampling_seconds = 0.0
        self._samples: list[Sample] = []
        self._empty: list[TimedSample] = []
        self._unsent: list[TimedSample] = []
        self._sent_at = 0.0
        self._kept_sets: set[int] = set()  # input sets whose outputs have been kept
        self._rule = request.rule
        streamed = request.inputs_ready >= 0
        self._schedule = Schedule(
            request.input_sets, request.one_use_sets, request.schedule_seed, in_order=streamed
        )
        self._processes = Processes((engine, *siblings), request, buffers.inputs, clock)
        self._slots = SlotWriter(request.slots, buffers.slots, request.deadline) if request.slots else None
        self._checker = OutputChecker(engine, request.checked) if request.checked is not None else None
        self._warm: list[Sample] = []
        self._in_a_row: list[InARow] = []
        self._host_wait = self._last_us = 0.0
        self._least_us = inf  # of the warm-up samples
        self.phase = ""
        self.input_set = NO_SET  # of the run in progress

    @property
    def _inputs(self) -> Inputs:
        return self._processes.current.inputs

    def run(self) -> None:
        refusals = self._refusals()
        self._send(Opened(refusals))
        if refusals and not self._request.ignore_refusals:
            return
        self._begin("prepare")
        wait_for_siblings = self._processes.prepare_siblings()
        device, prepared = self._engine.prepare(self._request.driver, self._request.options)
        self._buffers.wait()
        self._send(Ready(device, prepared, self._notes()))
        if self._request.verify:  # of the recorded inputs, so before others take their place
            self._begin("verify")
            count, differences = self._engine.verify(DIFFERENCES_MAX)
            self._send(Verified(count, tuple(differences[:DIFFERENCES_MAX])))
        self._inputs.give(one_set=bool(prepared.one_set))
        if self._request.warm:  # before the overhead, which counts the work that this adds
            self._engine.warm(True)
        wait_for_siblings()
        self._begin("overhead")
        overhead = self._engine.measure_overhead()
        self._send(Measured(overhead))
        self._fill_outputs()
        self._begin("warm-up")
        self._refuse_in_place_outputs()
        warm_up = self._warm_up()
        self._rule = for_time(self._request.rule, self._last_us / 1e6)
        self._schedule.plan(next_check(self._rule, 0))
        self._begin("sample")
        began, waited = self._clock(), self._processes.waited()
        decision, capped = self._sample_until(overhead.tick_us)
        if self._request.output_sets == 1:
            self._keep(0)  # before an empty sample fills the outputs again
        self._complete_empty()
        seconds = self._clock() - began
        self._host_wait = min(1.0, (self._processes.waited() - waited) / max(seconds, 1e-9))
        self._go_to(0)
        self._sample_warm()
        self._check_reads()
        self._keep_the_rest()
        self._sample_in_a_row(seconds, is_gpu(device))
        self._send(self._done(decision, capped, warm_up))

    def _begin(self, phase: str) -> None:
        self.phase = phase
        self._send(Phase(phase))

    def _refusals(self) -> tuple[str, ...]:
        texts: list[str] = []
        while len(texts) < REFUSALS_MAX and (text := self._engine.refusal(len(texts))) is not None:
            texts.append(line(text))
        return tuple(texts)

    def _notes(self) -> tuple[str, ...]:
        texts: list[str] = []
        while len(texts) < NOTES_MAX and (text := self._engine.note(len(texts))) is not None:
            texts.append(line(text))
        return tuple(texts)

    def _fill_outputs(self) -> None:
        """From now on, each run begins with a pattern in the outputs."""
        if self._checker is not None:
            self._begin("check")
            self._checker.run_recorded()
        for output in self._request.outputs:
            if output.written:
                self._engine.output(output.address, output.bytes)
        for part in self._request.slots.parts if self._request.slots else ():
            if part.written:
                self._engine.output(part.address, part.bytes)
        wanted = {(output.address, output.bytes) for output in self._request.outputs}
        for output in self._request.checked or ():
            if output.written and (output.address, output.bytes) not in wanted:
                self._engine.output(output.address, output.bytes)
        if self._checker is not None:
            self._checker.run_filled()

    def _refuse_in_place_outputs(self) -> None:
        """Raise EngineError for an output that the region updates: samples would begin with a pattern in it."""
        outputs = [output for output in self._request.outputs if output.written]
        index = self._engine.find_in_place() if outputs else None
        if index is not None:
            raise EngineError(
                CANNOT,
                f"the region updates output {outputs[index].name!r} in place, so that a replay from a filled output "
                "computes garbage; record it again with this buffer in `state=` instead of `outputs=` of "
                "benchguard.region",
            )

    def _warm_up(self) -> int:
        """Take and discard samples in each process; return their number.

        The other processes take no part in long samples: what differs between contexts is a small share of them, and
        each would take warm-up samples and calls in a row, too.
        """
        count = self._warm_up_first()
        if count and self._least_us >= LONG_US:
            self._processes.keep_first()
        for number in range(1, len(self._processes.all)):
            self._processes.at = number
            wanted = self._request.warm_up_samples
            count += self._discard(WARM_UP_ROUND if wanted is None else wanted, WARM_UP_MIN_SECONDS)
        self._processes.at = 0
        return count

    def _warm_up_first(self) -> int:
        """Until their times are steady, or the requested number."""
        if self._request.warm_up_samples is not None:
            return self._discard(self._request.warm_up_samples)
        started, count, before = self._clock(), 0, -1.0
        while True:
            times: list[float] = []
            while len(times) < WARM_UP_ROUND:
                times.append(self._warm_up_sample())
                spent = self._clock() - started
                if spent >= WARM_UP_MAX_SECONDS or self._clock() >= self._deadline:
                    return count + len(times)
            count += len(times)
            now = quantile(sorted(times), 0.5)
            steady = before >= 0 and abs(now - before) <= WARM_UP_STEADY * max(now, before)
            if steady and spent >= WARM_UP_MIN_SECONDS:
                return count
            before = now

    def _discard(self, wanted: int, seconds: float | None = None) -> int:
        """Take `wanted` samples, or fewer in `seconds`."""
        count, end = 0, self._deadline if seconds is None else min(self._deadline, self._clock() + seconds)
        while count < wanted and self._clock() < end:
            self._warm_up_sample()
            count += 1
        return count

    def _go_to(self, number: int) -> None:
        """Let another process take samples. The first one is not timed: the caches have another context's contents."""
        if number != self._processes.at:
            self._processes.at = number
            self._warm_up_sample()

    def _warm_up_sample(self) -> float:
        self._last_us = self._sample_on(self._schedule.warm_up()).device_us
        self._least_us = min(self._least_us, self._last_us)
        return self._last_us

    def _sample_until(self, tick: float) -> tuple[Decision, bool]:
        """The last decision, and whether the time cap forced it."""
        rule = self._rule
        started = self._sent_at = self._clock()
        seconds_left = max(0.0, self._deadline - started) * SAMPLING_SHARE
        cap = self._request.sampling_seconds
        self._sampling_seconds = (
            seconds_left if cap is None or isinstance(rule, Count) else min(cap, seconds_left)
        )
        last = started + seconds_left
        times: list[float] = []
        capped = False
        while True:
            goal = next_check(rule, len(times))
            while len(times) < goal and not capped:
                self._go_to(self._processes.due(goal))
                times.append(self._measure().device_us)
                spent = self._clock() - started - self._inputs.wait_seconds
                capped = spent >= self._sampling_seconds or self._clock() >= last
                if not capped and is_impatient(rule, len(times), spent):
                    capped, self._sampling_seconds = True, spent
            if capped:  # even if the deadline ends this process: a time needs one-use inputs
                times += [self._measure(number).device_us for number in self._schedule.rest()]
            decision = decide(rule, times, tick, self._strays())
            if decision.enough or capped:
                self._flush()
                return decision, capped

    def _measure_empty_if_due(self) -> None:
        if self._request.empty and self._schedule.empty_is_due() and len(self._empty) < EMPTY_MAX:
            self._measure_empty()

    def _measure_empty(self) -> None:
        sample = self._inputs.measure_empty(self._schedule.warm_up())
        self._empty.append(TimedSample(sample, int(self._clock() * _NANOSECONDS), self._processes.at))

    def _complete_empty(self) -> None:
        """Take the empty samples that fewer samples than EMPTY_FIRST lack. Without them the events alone would make
        the time."""
        while self._request.empty and len(self._empty) < EMPTY_FIRST:
            self._measure_empty()

    def _measure(self, number: int | None = None) -> Sample:
        """A sample on the next input set of the schedule, or on `number`."""
        self._inputs.wait()
        self._measure_empty_if_due()
        sample = self._sample_on(self._schedule.next() if number is None else number)
        now = self._clock()
        self._samples.append(sample)
        self._processes.current.samples.append(sample)
        self._unsent.append(TimedSample(sample, int(now * _NANOSECONDS), self._processes.at))
        self._flush_if_due()
        self._check_outputs(sample.input_set)
        if not self._inputs.is_there(sample.input_set):
            # before the next set takes its place
            self._engine.check_reads(self._inputs.held_as(sample.input_set))
        if self._request.output_sets > 1 and sample.input_set < self._request.output_sets:
            self._keep(sample.input_set)
        return sample

    def _sample_on(self, number: int) -> Sample:
        self.input_set = number
        return self._inputs.measure(number)

    def _sample_warm(self) -> None:
        """Take samples that find their memory in the cache. Their outputs are checked like the others."""
        if self._request.warm_samples:
            self._begin("warm")
            self._engine.warm(True)
            last = (self._clock() + self._deadline) / 2  # the rest is for what follows
            while len(self._warm) < self._request.warm_samples and self._clock() < last:
                self._warm.append(self._take_checked(self._schedule.warm_up()))
            self._engine.warm(False)

    def _sample_in_a_row(self, seconds: float, on_gpu: bool) -> None:
        """Take samples on repeated input sets for a share of `seconds`. Only inputs and outputs are written before
        each, as in a program that calls the region again: a call that needs other memory restored is wrong then, or
        takes longer.

        Each process that took other samples takes some, because a kernel may tell the processes apart.
        """
        if not self._request.in_a_row:
            return
        self._begin("calls in a row")
        used = self._processes.used
        for place, number in enumerate(used):
            own = self._processes.all[number].samples
            others = next((each for each in (own, self._samples, self._warm) if self._repeated(each)), [])
            if not others:
                continue
            share = Share(self._sets_in_a_row(others), place, len(used), seconds)
            self._go_to(number)
            calls = CallsInARow(
                self._processes.current.engine.follow,
                self._take_checked,
                lambda pause: self._discard(SAMPLES_MAX, pause),
                self._clock,
            )
            trouble = ""
            try:
                calls.take(share, others, on_gpu)
            except EngineError as error:
                if error.status not in (FAILED, TIMEOUT):
                    raise
                trouble = line(str(error))
            self._in_a_row.append(InARow(tuple(calls.samples), calls.first, trouble, number))
            if trouble:
                break

    def _sets_in_a_row(self, others: Sequence[Sample]) -> list[int]:
        """All repeated sets. The few calls of long samples are on the last one and the first ones, on which `others`
        are, so that they can be compared."""
        used = self._repeated(others)
        unused = set(range(self._request.input_sets - self._request.one_use_sets)).difference(used)
        return [*used[:-1], *sorted(unused), *used[-1:]]

    def _take_checked(self, number: int) -> Sample:
        """A sample that is not timed, whose outputs are checked."""
        sample = self._sample_on(number)
        self._check_outputs(number)
        return sample

    def _repeated(self, samples: Sequence[Sample]) -> list[int]:
        """The repeated sets of samples."""
        return sorted({each.input_set for each in samples if self._inputs.is_repeated(each.input_set)})

    def _check_outputs(self, input_set: int) -> None:
        """Hand the outputs of the sample that ended last to the judge, or to the check without one."""
        if self._slots is not None:
            self._put_outputs(self._slots, input_set)
        if self._checker is not None:
            self._checker.put(input_set, self._engine.read)

    def _put_outputs(self, slots: SlotWriter, input_set: int) -> None:
        try:
            slots.put(input_set, self._processes.current.engine.read)
        except SlotError as error:
            raise EngineError(TIMEOUT if error.timed_out else OURS, str(error)) from None

    def _flush_if_due(self) -> None:
        if len(self._unsent) >= BATCH_MAX or self._clock() - self._sent_at >= SEND_SECONDS:
            self._flush()

    def _flush(self) -> None:
        self._sent_at = self._clock()
        if self._unsent:
            self._send(Batch(tuple(self._unsent)))
            self._unsent.clear()

    def _strays(self) -> int:
        clocks = [sample.clock_mhz for sample in self._samples if sample.clock_mhz > 0]
        if not clocks:
            return 0
        middle = quantile(sorted(clocks), 0.5)
        return sum(abs(each - middle) > CLOCK_STRAY * middle for each in clocks)

    def _check_reads(self) -> None:
        """Compare what the host reads, copy by copy, on each set of a sample. Each sample compared it at its end, when
        a kernel could have changed the copies."""
        for number in sorted({sample.input_set for sample in self._samples}):
            self.input_set = number
            if self._inputs.is_there(number):
                self._engine.check_reads(self._inputs.hold(number))

    def _keep(self, number: int) -> None:
        """Copy the outputs of the run that ended last to the place of its input set."""
        for part in self._request.outputs:
            self._engine.read(part.address, self._place(part, number))
        self._kept_sets.add(number)

    def _place(self, part: OutputPart, number: int) -> memoryview:
        offset = number * self._request.outputs_stride + part.offset
        return self._buffers.outputs[offset : offset + part.bytes]

    def _keep_the_rest(self) -> None:
        """Keep the outputs of input sets that were never drawn."""
        sets = self._request.output_sets
        if sets == 0 or not self._request.outputs:
            return
        self._begin("outputs")
        for number in range(sets):
            if number not in self._kept_sets:
                self.input_set = number if self._request.input_sets else NO_SET
                self._engine.once(self.input_set)
                self._keep(number)

    def _done(self, decision: Decision, capped: bool, warm_up: int) -> Done:
        n = len(self._samples)
        seconds = self._sampling_seconds if capped else None
        reason = "" if decision.converged else shortfall(self._rule, decision, n, seconds)
        notes = [each for each in (decision.note, self._processes.lacking) if each]
        return Done(
            converged=decision.converged,
            reason=line(reason),
            reached=decision.reached,
            wanted=decision.wanted,
            warm_up=warm_up,
            notes=tuple(map(line, notes)),
            slots=SlotTimes(self._slots.copy_seconds, self._slots.wait_seconds) if self._slots else None,
            inputs=InputTimes(self._processes.write_seconds(), self._inputs.wait_seconds),
            empty=tuple(self._empty),
            warm=tuple(self._warm),
            outputs=self._checker.end() if self._checker is not None else None,
            in_a_row=tuple(self._in_a_row),
            host_wait=self._host_wait,
        )
