"""Replay a capture in a process of its own, and time it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..capture import Capture
from ..gpu.turns import WAIT_WORTH_A_NOTE, WAITING, Turns
from ..ipc.child import Ended, converse
from ..ipc.memory_file import memory_file
from .buffers import (
    STRICT_SETS,
    Buffers,
    Outputs,
    Pool,
    SharedInputs,
    Source,
    checked_parts,
    make_outputs,
    make_pool,
    slot_request,
)
from .caches import caches_of
from .clocks import ClockWatch, summarise_clocks, throttled_at
from .collect import Collector, Progress
from .confined import CONTEXT_SECONDS, WaitingReplay
from .convergence import TAGGED_MAX, for_copies, rule_of, text_of
from .driver_check import BLAMED, DriverCheck, check_driver
from .environment import replay_environment
from .options import ReplayOptions
from .protocol import (
    COLD,
    LINE_MAX,
    LINES_MAX,
    NO_SET,
    UNPRIMED,
    Done,
    Limits,
    Ready,
    Request,
    SlotRequest,
    encode,
)
from .protocol import Options as EngineOptions
from .result import HOST_WAIT_MIN, Different, ReplayResult, SampleRow, Settings
from .statistics import summarise
from .subject import Subject, subject_of
from .target import Target, gpus_of, target_of
from .verdict import verdict_of
from .worker import command

SAMPLING_SECONDS = 30.0
"""Limit on sampling by a rule. Times that have not converged by then are reported as such."""

SAMPLE_SECONDS_MAX = 60.0
DECODERS_MAX = 8
DEVICE_BYTES_MAX = 1 << 40
ELEMENTS_MAX = 1 << 22
ONE_USE_MIN, ONE_USE_WISHED = 8, 12
REPEATED_MIN, REPEATED_WISHED = 2, 8
"""Input sets of a strict replay. The numbers wished for are those of a grade."""

SEED_MAX = (1 << 63) - 1
TOGETHER_BYTES_MAX = 4 << 30
"""Limit on the device memory of the states in several processes."""

_WAITING = Progress(WAITING, 0, None)


def replay(
    capture: str | os.PathLike[str] | Capture,
    options: ReplayOptions = ReplayOptions(),  # noqa: B008 - frozen
    *,
    inputs: Mapping[str | int, Source] | None = None,
    outputs: Sequence[str | tuple[int, int]] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **changes: Any,
) -> ReplayResult:
    """Rebuild a capture's state in a clean process, run its region many times, and time it.

    No host code of the recorded program runs.

        benchguard.replay("x.ncap", driver="sim", samples=100).time_us.median

    Args:
        capture: path of a capture file, or an open Capture, which stays open.
        options: how to replay.
        inputs: memory to write before each sample, by the name of a recorded range or by device address. A value is
            bytes or an array of exactly the recorded size in bytes, a list of those (input sets, one drawn at random
            for each sample), or a function from the set's number to one of those.
        outputs: memory to return in `ReplayResult.outputs`: names of recorded ranges, or (device address, bytes).
            None: the ranges that the recorded program named as outputs.
        progress: called with each change of phase and each batch of samples.
        changes: fields of ReplayOptions by name, in place of those in `options`.

    Returns:
        The verdict, the samples (`table`, times in microseconds) and their statistics (`time_us`). A replay that
        fails or times out is a verdict, not an exception.

    Raises:
        UsageError: an option, input or output is invalid or does not fit the capture.
        CaptureError: the file is missing, damaged, or not a capture.
        ShimError: no driver for the capture was found.
        BusyError: another grade or replay used the GPU for longer than `wait_for_gpu`.
        TypeError: `changes` names no field of ReplayOptions.
    """
    return replay_buffers(capture, replace(options, **changes), Buffers(inputs, outputs), progress)


def replay_buffers(
    capture: str | os.PathLike[str] | Capture,
    options: ReplayOptions,
    buffers: Buffers,
    progress: Callable[[Progress], None] | None = None,
    memory_bytes: int = 0,
    sampling_seconds: float = SAMPLING_SECONDS,
    turns: Turns | None = None,
    waiting: WaitingReplay | None = None,
    in_a_row: bool = False,
    processes: int = 1,
    on_done: Callable[[Done], None] | None = None,
) -> ReplayResult:
    """Like replay(), for callers that share the memory of inputs and outputs with the replay process.

    `memory_bytes` limits the host memory of the process besides that shared memory; 0: half of the machine's.
    `sampling_seconds` limits the time for samples of a stop rule. `turns` are those of a grade, and count its waits.
    `waiting` makes a strict replay; None: a process that starts now. `in_a_row`: see Request. Samples are taken in
    `processes`, if `waiting` may have so many, and the device has room for all of their states. `on_done` is called
    after the last sample, before the process has ended.
    """
    seed = int.from_bytes(os.urandom(7), "little") if options.seed is None else options.seed & SEED_MAX
    rule = rule_of(options.until, options.samples, patient=options.require_converged)
    with ExitStack() as stack:
        opened = capture if isinstance(capture, Capture) else stack.enter_context(Capture.open(capture))
        subject = subject_of(opened)
        caches = caches_of(subject.api, options)
        target = target_of(subject.api, options.driver)
        if options.strict and options.cold is None and target.driver.is_sim:
            caches = replace(
                caches, cold="none"
            )  # as in a grade: a flush takes 0.1 s there, and hides as much work
        if turns is None:
            turns = Turns(gpus_of(target.driver, options.device), options.wait_for_gpu)
        waited = turns.waited
        turn = stack.enter_context(
            turns.take("alone", None if progress is None else partial(progress, _WAITING))
        )
        waited = turns.waited - waited
        started = time.monotonic()
        pool = _pool_of(buffers, options, subject)
        stack.callback(pool.close)
        slots = slot_request(buffers, subject)
        outputs = make_outputs(buffers.outputs_wanted, options.keep_outputs, subject, pool.sets)
        stack.callback(outputs.close)
        processes = _processes_of(processes, subject, pool, slots) if waiting is not None else 1
        request = Request(
            capture=opened.fileno(),
            driver=target.library,
            options=EngineOptions(
                device=options.device,
                cold=COLD.index(caches.cold),
                cold_code=caches.cold_code,
                prime=options.prime,
                timeout_ms=int(1000 * min(options.timeout, SAMPLE_SECONDS_MAX)) or 1,
                seed=_derived(seed, "numbers"),
                key=_derived(seed, "noise"),
                guard=options.strict,
                strict=options.strict,
                input_bytes=pool.device_bytes,
                set_bytes=pool.set_bytes,
                rotating_count=caches.rotating_count,
                flush_code=caches.flush_code,
                ignore_reads=options.ignore_refusals,
            ),
            limits=_limits(memory_bytes),
            rule=for_copies(
                rule,
                pool.streamed_bytes + (slots.stride if slots is not None else outputs.stride),
                pool.sets - pool.one_use if pool.streamed_bytes else None,
            ),
            deadline=started + options.timeout,
            sampling_seconds=sampling_seconds,
            verify=options.verify,
            ignore_refusals=options.ignore_refusals,
            inputs=pool.parts,
            inputs_descriptor=pool.descriptor,
            input_sets=pool.sets,
            outputs=outputs.parts,
            outputs_descriptor=outputs.descriptor,
            outputs_stride=outputs.stride,
            output_sets=outputs.sets,
            one_use_sets=pool.one_use,
            schedule_seed=seed,
            empty=options.strict,
            slots=slots,
            inputs_ready=pool.ready,
            warm=caches.warm,
            warm_up_samples=options.warm_up_samples,
            warm_samples=options.warm_samples,
            in_a_row=in_a_row,
            processes=processes,
            checked=checked_parts(outputs, subject) if options.strict and slots is None else None,
        )
        shared = sum(map(_size_of, _shared(request)))
        memory_max = processes * (memory_bytes or (request.limits.host_bytes if options.strict else 0))
        if options.strict and waiting is None:
            sandbox = options.require_sandbox or "any"
            waiting = stack.enter_context(WaitingReplay(target, options.device, sandbox))
        memory_max = memory_max + processes * shared if memory_max else 0
        ran = _run(request, target, progress, memory_max, waiting, on_done)
        if waiting is not None and waiting.following is not None and turn.is_wanted():
            waiting.following.hear(CONTEXT_SECONDS)  # another grade measures when this turn ends
        settings = Settings(
            cold=caches.name,
            icache="cold" if caches.cold_code else "warm",
            prime=options.prime,
            until=text_of(rule),
            device=options.device,
            driver=str(target.driver.path),
            seed=seed,
            input_sets=pool.sets,
            ignored_refusals=options.ignore_refusals,
            one_use_sets=pool.one_use,
            strict=options.strict,
            api=subject.api,
            flush_cache=options.flush_cache,
            rotating_count=options.rotating_count,
            warm_up_samples=options.warm_up_samples,
            processes=processes,
        )
        result = _result(ran, subject, str(opened.path), settings, outputs, started, options)
        if result.verdict in BLAMED:
            left = request.deadline - time.monotonic()
            result = _blamed(result, check_driver(target, options.device, timeout=options.timeout, left=left))
        if waited < WAIT_WORTH_A_NOTE:
            return result
        return replace(result, notes=(*result.notes, f"waited {waited:.1f} s for a turn on the GPU"))


def _blamed(result: ReplayResult, check: DriverCheck) -> ReplayResult:
    """A failed replay's result after the check of the driver."""
    if check.broken:
        return replace(result, verdict="error", reason=f"{check.broken}; the replay before: {result.reason}")
    return replace(result, notes=(*result.notes, check.doubt)) if check.doubt else result


@dataclass(frozen=True)
class _Ran:
    """`confinement` is empty for a process without a sandbox."""

    collector: Collector
    ended: Ended
    watch: ClockWatch
    confinement: dict[str, str]


def _pool_of(buffers: Buffers, options: ReplayOptions, subject: Subject) -> Pool:
    """The input sets. A strict replay uses some of the caller's sets once, if there are enough."""
    if not options.strict or isinstance(buffers.inputs, SharedInputs):
        return make_pool(buffers.inputs, subject)
    pool = make_pool(buffers.inputs, subject, STRICT_SETS)
    return replace(pool, one_use=one_use_of(pool.sets))


def _processes_of(wanted: int, subject: Subject, pool: Pool, slots: SlotRequest | None) -> int:
    """The number of processes: one where all of their states together would be large. The times of calls that use so
    much memory differ little between contexts (docs/adr/0039), and input sets that are streamed come once."""
    state = sum(each.bytes for each in (*subject.allocations, *subject.globals)) + pool.device_bytes
    fits = wanted * state <= TOGETHER_BYTES_MAX
    return wanted if fits and slots is not None and pool.ready < 0 else 1


def one_use_of(sets: int) -> int:
    """The number of one-use sets among `sets`, of which at least two stay repeated sets."""
    if sets < ONE_USE_MIN + REPEATED_MIN:
        return 0
    return min(ONE_USE_WISHED, max(ONE_USE_MIN, sets - REPEATED_WISHED))


def _run(
    request: Request,
    target: Target,
    progress: Callable[[Progress], None] | None,
    memory_max: int,
    waiting: WaitingReplay | None,
    on_done: Callable[[Done], None] | None,
) -> _Ran:
    """Run the replay process to its end, in the sandbox of `waiting` if the capture is an adversary's."""
    watch = ClockWatch()

    def on_ready(ready: Ready) -> None:
        if target.driver.api == "cuda":
            watch.start(ready.device.pci_bus)
        else:
            watch.unavailable = "NVML reads no devices of HIP"

    collector = Collector(request, progress, on_ready, on_done)
    confinement: dict[str, str] = {}
    try:
        if waiting is not None:
            ended, confinement = waiting.replay(request, _descriptors(request), memory_max, collector.handle)
        else:
            ended = run_unconfined(request, target, memory_max, collector.handle)
    finally:
        watch.stop()
    return _Ran(collector, ended, watch, confinement)


def run_unconfined(
    request: Request, target: Target, memory_max: int, handle: Callable[[bytes], bool]
) -> Ended:
    with memory_file("neutrino-request", encode(request)) as question:
        return converse(
            command(),
            environment={**replay_environment(os.environ), **target.environment},
            stdin=question,
            descriptors=_descriptors(request),
            deadline=request.deadline,
            handle=handle,
            line_max=LINE_MAX,
            lines_max=LINES_MAX,
            memory_max=memory_max,
        )


def _descriptors(request: Request) -> list[int]:
    """The descriptors that the replay process inherits."""
    descriptors = {request.capture, request.inputs_descriptor, request.outputs_descriptor}
    descriptors.add(request.inputs_ready)
    if request.slots is not None:
        descriptors |= {request.slots.descriptor, request.slots.announce, request.slots.release}
    return [each for each in descriptors if each >= 0]


def _result(
    ran: _Ran,
    subject: Subject,
    path: str,
    settings: Settings,
    outputs: Outputs,
    started: float,
    options: ReplayOptions,
) -> ReplayResult:
    collector, watch = ran.collector, ran.watch
    times_ns = [each.ended_ns for each in collector.samples]
    clocks = summarise_clocks(watch.readings, times_ns, watch.unavailable)
    table = _table(collector, watch, settings)
    differences = _differences(collector, subject)
    verdict, reason = verdict_of(
        collector, ran.ended, differences, options.timeout, options.require_converged
    )
    done, ready = collector.done, collector.ready
    return ReplayResult(
        verdict=verdict,
        reason=reason,
        capture=subject.name,
        path=path,
        region=subject.region,
        settings=settings,
        kernels=subject.kernels,
        wall_s=time.monotonic() - started,
        time_us=summarise([row.device_us for row in table]) if table else None,
        converged=done.converged if done else None,
        half_width=done.reached if done else None,
        half_width_wanted=done.wanted if done else None,
        table=table,
        empty=done.empty if done else (),
        warm_up_samples=done.warm_up if done else 0,
        overhead=collector.measured.overhead if collector.measured else None,
        device=ready.device if ready else None,
        prepared=ready.prepared if ready else None,
        unrestored=collector.searched.unrestored if collector.searched else "",
        clocks=clocks,
        verified=collector.verified.count == 0 if collector.verified else None,
        differences=differences,
        difference_count=collector.verified.count if collector.verified else 0,
        in_a_row=done.in_a_row if done else (),
        host_wait=done.host_wait if done else 0.0,
        refusals=collector.opened.refusals if collector.opened else (),
        other_read=collector.failed.input_set if collector.failed else None,
        notes=_notes(collector, table, settings),
        slots=done.slots if done else None,
        inputs=done.inputs if done else None,
        warm=done.warm if done else (),
        checked=done.outputs if done else None,
        outputs=outputs.read() if done and outputs.sets else {},
        confinement=ran.confinement,
    )


def _table(collector: Collector, watch: ClockWatch, settings: Settings) -> tuple[SampleRow, ...]:
    first_one_use = settings.input_sets - settings.one_use_sets
    throttled = throttled_at(watch.readings, [each.ended_ns for each in collector.samples])
    return tuple(
        SampleRow(
            ended_ns=each.ended_ns,
            device_us=each.sample.device_us,
            host_us=each.sample.host_us,
            restore_us=each.sample.restore_us,
            clock_mhz=each.sample.clock_mhz,
            input_set=None if each.sample.input_set == NO_SET else each.sample.input_set,
            unprimed=bool(each.sample.flags & UNPRIMED),
            throttled=reasons,
            one_use=first_one_use <= each.sample.input_set < settings.input_sets,
            tail_us=each.sample.tail_us,
            guard_us=each.sample.guard_us,
            span_us=each.sample.span_us,
            process=each.process,
        )
        for each, reasons in zip(collector.samples, throttled, strict=True)
    )


def _differences(collector: Collector, subject: Subject) -> tuple[Different, ...]:
    if collector.verified is None:
        return ()
    return tuple(
        Different(
            memory=subject.label(each.address, None if each.global_index == NO_SET else each.global_index),
            address=each.address,
            bytes=each.bytes,
            differing=each.differing,
            first_offset=each.first_offset,
            again=each.again,
            expected=each.expected,
            actual=each.actual,
        )
        for each in collector.verified.differences
    )


def _notes(collector: Collector, table: Sequence[SampleRow], settings: Settings) -> tuple[str, ...]:
    notes = []
    if collector.opened is not None and collector.opened.refusals:
        notes.append(f"replayed in spite of a refusal: {collector.opened.refusals[0]}")
    if collector.ready is not None and settings.prime and not collector.ready.prepared.primed:
        notes.append("too many operations to queue them all first: launch latency may be in the samples")
    elif unprimed := sum(row.unprimed for row in table):
        notes.append(
            f"{unprimed} of {len(table)} samples began before they were queued: latency may be in them"
        )
    slowed = [row.throttled for row in table if row.throttled]
    if len(slowed) > TAGGED_MAX * len(table):
        why = ", ".join(sorted({reason for reasons in slowed for reason in reasons}))
        notes.append(f"clocks were held back in {len(slowed)} of {len(table)} samples ({why}); replay again")
    if collector.ready is not None:
        notes += collector.ready.notes
        if settings.strict and collector.ready.device.pageable:
            notes.append(
                "kernels reach the replay process's own memory on this machine (pageable memory access, HMM), so what "
                "they leave there is not known; load nvidia_uvm with uvm_disable_hmm=1"
            )
    if collector.done is not None:
        if (
            collector.ready is not None
            and collector.ready.device.pci_bus
            and collector.done.host_wait >= HOST_WAIT_MIN
        ):
            notes.append(
                f"the replay waited {collector.done.host_wait:.0%} of its time for a processor, so its times may "
                "be too long; time it again on an idle machine"
            )
        notes += [*filter(None, (collector.done.reason,)), *collector.done.notes]
    return tuple(notes)


def _derived(seed: int, purpose: str) -> int:
    """A seed for one purpose. Neither the schedule's seed nor one for another purpose can be computed from it."""
    digest = hashlib.sha256(seed.to_bytes(8, "little") + purpose.encode()).digest()
    return int.from_bytes(digest[:8], "little") & SEED_MAX


def _shared(request: Request) -> list[int]:
    """Descriptors of the memory that the replay process shares with others."""
    slots = [request.slots.descriptor] if request.slots is not None else []
    return [each for each in (request.inputs_descriptor, request.outputs_descriptor, *slots) if each >= 0]


def _size_of(descriptor: int) -> int:
    return os.fstat(descriptor).st_size


def _limits(memory_bytes: int) -> Limits:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    decoders = max(1, min(DECODERS_MAX, len(os.sched_getaffinity(0))))
    return Limits(min(memory, memory_bytes or memory), DEVICE_BYTES_MAX, ELEMENTS_MAX, decoders)
