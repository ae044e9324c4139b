"""One replay on secret inputs whose every timed output is judged. grade and compare time nothing else.

Each timed sample is also checked, so a kernel cannot skip work in samples that are only timed. Before a sample its
outputs are filled with a pattern. One-use input sets come at random places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ..capture import Capture, CaptureError
from ..gpu.turns import Turns
from ..judge.contract import AskChecked, AskSlots, Checked, Secrets, Slots
from ..judge.process import JudgeProcess
from ..problem.spec import Returned
from ..quarantine.reader import LIMITS
from ..replay.buffers import Buffers, SharedInputs, SlotPool
from ..replay.collect import Progress
from ..replay.convergence import HUGE_BYTES
from ..replay.options import ReplayOptions
from ..replay.protocol import Done
from ..replay.relay import Relay
from ..replay.replay import SAMPLING_SECONDS, replay_buffers
from ..replay.result import ReplayResult
from ..replay.subject import api_of
from ..shim.vendors import Api
from .options import GradeOptions

REPLAY_SECONDS_MIN = 1.0

WARM_SAMPLES_MIN, WARM_SAMPLES = 3, 10
"""Samples with warm caches in a grade, after the others."""

Report = Callable[[str, int, float | None], None]
"""Called with the phase, the number of samples, and their median so far in microseconds."""


@dataclass(frozen=True)
class SecretInputs:
    """Secret input sets of case number `case`.

    `ends`: descriptors of the input pool, of the output slots, of the announcing and the releasing pipe, and of the
    pipe on which streamed input sets are announced, if there is one.
    """

    case: int
    sets: Secrets
    ends: tuple[int, ...]


def with_slots(
    judge: JudgeProcess, case: int, sets: Secrets, ends: Sequence[int], returned: Returned | None
) -> SecretInputs:
    """Complete the answer to AskSecrets. `returned` has the results of a case with `returns`.

    The caller owns the descriptors of the slots.
    """
    if returned is not None:
        judge.ask(AskSlots(case, returned))
        slots, more = judge.answer(Slots)
        sets = msgspec.structs.replace(sets, outputs=slots.outputs, slots=slots.slots)
        ends = [*ends, *more]
    pool, *others = ends
    ready = [others.pop(0)] if sets.streamed else []
    return SecretInputs(case, sets, (pool, *others, *ready))


def warm_samples_of(samples: int | None, secret: Secrets) -> int:
    """How many warm samples follow `samples` samples, or those of a stop rule: few where each copies HUGE_BYTES."""
    copied = secret.outputs.stride + (secret.inputs.stride if secret.streamed else 0)
    if samples is None:
        return WARM_SAMPLES if copied < HUGE_BYTES else WARM_SAMPLES_MIN
    return max(WARM_SAMPLES_MIN, min(WARM_SAMPLES, samples // 4))


def judged_replay(
    path: Path,
    secret: SecretInputs,
    judge: JudgeProcess,
    options: GradeOptions,
    seconds: float,
    report: Report | None = None,
    warm_samples: int = 0,
    sampling_seconds: float = SAMPLING_SECONDS,
    turns: Turns | None = None,
    api: Api | None = None,
    relay: Relay | None = None,
    processes: int = 1,
    following: int = 0,
    in_a_row: bool = False,
) -> tuple[ReplayResult, Checked]:
    """Replay the capture at `path` for at most `seconds`, and return the judge's results for its samples.

    Samples are taken until their times converge, or for `sampling_seconds`.

    `warm_samples` follow with the memory in the cache. The judge checks their outputs, too. `api` is of the driver that
    the submission ran on: a capture that names another one would choose the driver that replays it. `relay` has the
    processes; None: one that starts now. `processes`: the most in which samples are taken. A replay with `following`
    processes comes after this one; 0: none does. `in_a_row`: samples on the memory that the run before left follow,
    whose outputs the judge checks, too.

    Raises UsageError for invalid replay options, CaptureError for a capture that cannot be used.
    """
    pool, outputs, announce, release, *rest = secret.ends
    sets = secret.sets
    ready = rest[0] if rest else -1
    buffers = Buffers(
        inputs=SharedInputs(
            pool,
            sets.sets,
            sets.one_use,
            sets.inputs.stride,
            sets.inputs.places,
            ready,
            frozenset(sets.zeros),
        ),
        slots=SlotPool(outputs, sets.slots, sets.outputs.stride, sets.outputs.places, announce, release),
    )
    how = ReplayOptions(
        strict=True,
        cold=options.cold or "flush",
        icache=options.icache,
        flush_cache=options.flush_cache,
        warm_up_samples=options.warm_up_samples,
        samples=options.samples,
        until=options.until,
        require_converged=options.require_converged,
        timeout=max(REPLAY_SECONDS_MIN, seconds),
        driver=options.driver,
        device=options.device,
        require_sandbox=options.require_sandbox,
        warm_samples=0 if options.cold == "warm" else warm_samples,
        wait_for_gpu=options.wait_for_gpu,
    )

    def tell(progress: Progress) -> None:
        if report is not None:
            report(progress.phase, progress.samples, progress.median_us)

    asked: list[Done | None] = []

    def ask(done: Done | None) -> None:
        """Ask for the results while the process frees its memory and ends."""
        asked.append(done)
        in_a_row = sum(len(each.samples) for each in done.in_a_row) if done is not None else 0
        judge.ask(AskChecked(secret.case, in_a_row))

    with Capture.open(path, LIMITS) as capture:
        if api is not None and api_of(capture) != api:
            raise CaptureError(
                f"it names a driver of {api_of(capture).upper()}, and was recorded on {api.upper()}"
            )
        process = relay.take(following) if relay is not None else None
        result = replay_buffers(
            capture,
            how,
            buffers,
            tell,
            options.memory_limit,
            sampling_seconds,
            turns,
            process,
            in_a_row,
            processes,
            ask,
        )
    if not asked:
        ask(None)
    if relay is not None and following and result.verdict == "pass":
        relay.start()
    checked, _ = judge.answer(Checked)
    own = {number for number, name in enumerate(sets.distributions) if name == sets.own}
    table = tuple(replace(row, own=row.input_set in own) for row in result.table)
    return replace(result, table=table), checked
