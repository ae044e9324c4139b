"""Replay a capture in a process of its own, and time it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from ..capture import Capture
from ..errors import UsageError
from ..ipc.child import Ended, converse
from .buffers import (
    Keep,
    Outputs,
    SharedInputs,
    SlotPool,
    Source,
    make_outputs,
    make_pool,
    shared_pool,
    slot_request,
)
from .caches import caches_of
from .clocks import ClockWatch, summarise_clocks, throttled_at
from .collect import Collector, Progress
from .convergence import TAGGED_MAX, rule_of, text_of
from .environment import replay_environment
from .protocol import (
    COLD,
    LINE_MAX,
    LINES_MAX,
    NO_SET,
    UNPRIMED,
    Cold,
    Limits,
    Options,
    Ready,
    Request,
    encode,
)
from .result import Different, ReplayResult, SampleRow, Settings
from .statistics import summarise
from .subject import Subject, subject_of
from .target import Target, target_of
from .verdict import verdict_of
from .worker import command

TIMEOUT_SECONDS = 120.0
SAMPLING_SECONDS = 30.0
"""The cap on sampling by a rule: then the verdict is `unconverged`, never silence."""

SAMPLE_SECONDS_MAX = 60.0
DECODERS_MAX = 8
DEVICE_BYTES_MAX = 1 << 40
OPERATIONS_MAX = 1 << 22
DEVICE_ALIGNMENT = 256
"""Of each input in the engine's memory."""

SEED_MAX = (1 << 63) - 1


def replay(
    capture: str | os.PathLike[str] | Capture,
    *,
    inputs: Mapping[str | int, Source] | SharedInputs | None = None,
    outputs: Sequence[str | tuple[int, int]] | None = None,
    cold: Cold | None = None,
    icache: str = "warm",
    flush_cache: bool = False,
    rotating_count: int | None = None,
    prime: bool = True,
    verify: bool = False,
    samples: int | None = None,
    until: str | None = None,
    timeout: float = TIMEOUT_SECONDS,
    driver: str = "auto",
    device: int = 0,
    seed: int | None = None,
    keep_outputs: Keep = "last",
    ignore_refusals: bool = False,
    slots: SlotPool | None = None,
    strict: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> ReplayResult:
    """Rebuild a capture's state in a clean process, run its region and time it, until the median is known.

    `inputs` replaces memory by name of a range or by address: bytes, an array, a list of those (input sets, drawn
    at random for each sample), or a function of the set's number. `outputs` are names or (address, bytes); None:
    those that the program named; result.outputs has their bytes after the last sample, or with
    keep_outputs="sets" a list by input set. `until` is "ci=0.0025" (the 95 % interval of the median, the default)
    or "cv=0.01"; `samples` a number instead. `timeout` is for all of it, in seconds.

    `cold` None is "flush", or "rotate" where a `rotating_count` says how many copies of the state take turns.
    `flush_cache` empties the instruction caches before each sample: on AMD's devices by a kernel, else by copies of the
    code (icache="cold"); result.icache says what was done. `driver` is one of the capture's vendor.

    For a capture that an adversary made: `inputs` and the outputs of every timed sample (`slots`) are memory that is
    shared with who makes and checks them, and `strict` keeps what lasts from sample to sample out of kernels' reach,
    and from the capture what would let one sample help the next (docs/architecture.md, "Replay").

    Raises UsageError for what cannot be asked, CaptureError for what is no capture, ShimError without a driver;
    all else is a verdict.
    """
    started = time.monotonic()
    if not 0 < timeout < 1e6:
        raise UsageError(f"a time-out of {timeout} s cannot be; give seconds, more than 0")
    if not 0 <= device < NO_SET:
        raise UsageError(f"there is no device {device}; give a number from 0")
    seed = int.from_bytes(os.urandom(7), "little") if seed is None else seed & SEED_MAX
    rule = rule_of(until, samples)
    with ExitStack() as stack:
        opened = capture if isinstance(capture, Capture) else stack.enter_context(Capture.open(capture))
        subject = subject_of(opened)
        caches = caches_of(
            subject.api,
            cold=cold,
            icache=icache,
            flush_cache=flush_cache,
            rotating_count=rotating_count,
            strict=strict,
        )
        target = target_of(subject.api, driver)
        if isinstance(inputs, SharedInputs):
            pool = shared_pool(inputs, subject)
        else:
            pool = make_pool(inputs, subject)
            stack.callback(_close, pool.descriptor)
        given = inputs.places if isinstance(inputs, SharedInputs) else inputs or {}
        shared_slots = slot_request(slots, [*map(str, given)], subject) if slots is not None else None
        outputs = () if slots is not None and outputs is None else outputs
        kept = make_outputs(outputs, keep_outputs, subject, pool.sets)
        stack.callback(_close, kept.descriptor)
        request = Request(
            capture=opened.fileno(),
            driver=target.library,
            options=Options(
                device=device,
                cold=COLD.index(caches.cold),
                cold_code=caches.cold_code,
                prime=prime,
                timeout_ms=int(1000 * min(timeout, SAMPLE_SECONDS_MAX)) or 1,
                seed=_noise_of(seed),
                guard=strict,
                strict=strict,
                input_bytes=sum(-(-part.bytes // DEVICE_ALIGNMENT) * DEVICE_ALIGNMENT for part in pool.parts),
                rotating_count=caches.rotating_count,
                flush_code=caches.flush_code,
            ),
            limits=_limits(),
            rule=rule,
            deadline=started + timeout,
            sampling_seconds=SAMPLING_SECONDS,
            verify=verify,
            ignore_refusals=ignore_refusals,
            inputs=pool.parts,
            inputs_descriptor=pool.descriptor,
            input_sets=pool.sets,
            outputs=kept.parts,
            outputs_descriptor=kept.descriptor,
            outputs_stride=kept.stride,
            output_sets=kept.sets,
            one_use_sets=pool.one_use,
            schedule_seed=seed,
            slots=shared_slots,
        )
        seen, ended, watch = _run(request, target, progress)
        settings = Settings(
            cold=caches.cold,
            icache="cold" if caches.cold_code else "warm",
            prime=prime,
            until=text_of(rule),
            device=device,
            driver=str(target.driver.path),
            seed=seed,
            input_sets=pool.sets,
            ignored_refusals=ignore_refusals,
            one_use_sets=pool.one_use,
            strict=strict,
            api=subject.api,
            flush_cache=flush_cache,
            rotating_count=rotating_count,
        )
        return _result(seen, ended, watch, subject, str(opened.path), settings, kept, started, timeout)


def _run(
    request: Request, target: Target, progress: Callable[[Progress], None] | None
) -> tuple[Collector, Ended, ClockWatch]:
    """The replay process from its start to its end."""
    watch = ClockWatch()

    def on_ready(ready: Ready) -> None:
        if target.driver.api == "cuda":
            watch.start(ready.device.pci_bus)
        else:
            watch.unavailable = "NVML reads no devices of HIP"

    seen = Collector(request, progress, on_ready)
    descriptors = {request.capture, request.inputs_descriptor, request.outputs_descriptor}
    if request.slots is not None:
        descriptors |= {request.slots.descriptor, request.slots.announce, request.slots.release}
    question = os.memfd_create("neutrino-request", os.MFD_CLOEXEC)
    try:
        with open(question, "wb", closefd=False) as file:
            file.write(encode(request))
        os.lseek(question, 0, os.SEEK_SET)
        ended = converse(
            command(),
            environment={**replay_environment(os.environ), **target.environment},
            stdin=question,
            descriptors=[each for each in descriptors if each >= 0],
            deadline=request.deadline,
            handle=seen.handle,
            line_max=LINE_MAX,
            lines_max=LINES_MAX,
        )
    finally:
        watch.stop()
        os.close(question)
    return seen, ended, watch


def _result(
    seen: Collector,
    ended: Ended,
    watch: ClockWatch,
    subject: Subject,
    path: str,
    settings: Settings,
    kept: Outputs,
    started: float,
    timeout: float,
) -> ReplayResult:
    times_ns = [each.ended_ns for each in seen.samples]
    clocks = summarise_clocks(watch.readings, times_ns, watch.unavailable)
    table = _table(seen, watch, settings)
    differences = _differences(seen, subject)
    verdict, reason = verdict_of(seen, ended, differences, timeout)
    done, ready = seen.done, seen.ready
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
        half_width=done.reached if done else None,
        half_width_wanted=done.wanted if done else None,
        table=table,
        warm_up_samples=done.warm_up if done else 0,
        overhead=seen.measured.overhead if seen.measured else None,
        device=ready.device if ready else None,
        prepared=ready.prepared if ready else None,
        clocks=clocks,
        verified=seen.verified.count == 0 if seen.verified else None,
        differences=differences,
        difference_count=seen.verified.count if seen.verified else 0,
        refusals=seen.opened.refusals if seen.opened else (),
        notes=_notes(seen, table, settings),
        slots=done.slots if done else None,
        outputs=kept.read() if done and kept.sets else {},
    )


def _table(seen: Collector, watch: ClockWatch, settings: Settings) -> tuple[SampleRow, ...]:
    first_one_use = settings.input_sets - settings.one_use_sets
    throttled = throttled_at(watch.readings, [each.ended_ns for each in seen.samples])
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
        )
        for each, reasons in zip(seen.samples, throttled, strict=True)
    )


def _differences(seen: Collector, subject: Subject) -> tuple[Different, ...]:
    if seen.verified is None:
        return ()
    return tuple(
        Different(
            memory=subject.label(each.address, None if each.variable == NO_SET else each.variable),
            address=each.address,
            bytes=each.bytes,
            differing=each.differing,
            first_offset=each.first_offset,
            again=each.again,
            expected=each.expected,
            actual=each.actual,
        )
        for each in seen.verified.differences
    )


def _notes(seen: Collector, table: Sequence[SampleRow], settings: Settings) -> tuple[str, ...]:
    notes = []
    if seen.opened is not None and seen.opened.refusals:
        notes.append(f"recorded as not replayable ({seen.opened.refusals[0]}), replayed all the same")
    if seen.ready is not None and settings.prime and not seen.ready.prepared.primed:
        notes.append("too many operations to queue them all first: launch latency may be in the samples")
    elif unprimed := sum(row.unprimed for row in table):
        notes.append(
            f"{unprimed} of {len(table)} samples began before they were queued: latency may be in them"
        )
    slowed = [row.throttled for row in table if row.throttled]
    if len(slowed) > TAGGED_MAX * len(table):
        why = ", ".join(sorted({reason for reasons in slowed for reason in reasons}))
        notes.append(f"clocks were held back in {len(slowed)} of {len(table)} samples ({why}); replay again")
    if seen.ready is not None:
        notes += seen.ready.notes
        if settings.strict and seen.ready.device.pageable:
            notes.append(
                "kernels reach the replay process's own memory on this machine (pageable memory access, HMM), so what "
                "they leave there is not known; load nvidia_uvm with uvm_disable_hmm=1"
            )
    if seen.done is not None:
        notes += seen.done.notes
    return tuple(notes)


def _noise_of(seed: int) -> int:
    """Another seed, from which the first one does not follow: kernels see what is made of this one."""
    return int.from_bytes(hashlib.sha256(seed.to_bytes(8, "little")).digest()[:8], "little") & SEED_MAX


def _limits() -> Limits:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    decoders = max(1, min(DECODERS_MAX, len(os.sched_getaffinity(0))))
    return Limits(memory // 2, DEVICE_BYTES_MAX, OPERATIONS_MAX, decoders)


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)
