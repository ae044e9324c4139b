"""The device cordon: one more replay, off the clock, that checks each access of the kernels before it happens."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from ..capture import Capture, CaptureError
from ..capture.codec import MalformedError
from ..gpu.turns import Turns
from ..ipc.json_text import UNREADABLE
from ..ipc.text import one_line
from ..probe.bounds.check import map_bytes
from ..probe.bounds.report import Violation, counts, violations
from ..quarantine.confined import Program, run_confined, scratch_folder
from ..quarantine.contract import LINE_MAX, Confine, Task
from ..quarantine.reader import LIMITS
from ..quarantine.sandbox import identity
from ..quarantine.sandbox.environment import quarantine_environment
from ..replay.result import ReplayResult
from ..shim.driver import discover
from .cordon_capture import PLAN_BYTES, REWRITER, Order, Plan, Spot
from .cordon_result import Cordon, CordonViolation, Unchecked
from .judged_replay import REPLAY_SECONDS_MIN, SecretInputs
from .off_the_clock import ENDED, replay_again
from .options import GradeOptions

SETS_MAX = 4
"""Input sets on which the kernels are checked. All are repeated sets: one-use sets may not be in memory any more."""

VIOLATIONS_MAX = 32
"""Violations that are listed, one for each place in the code."""

PROCESSES = 64
NEAR = 1 << 20
"""A violation up to so many bytes from an allocation is described by that."""


@dataclass(frozen=True)
class CheckedAccesses:
    """`confinement`: for each protection that a process lacks, the reason why it is off."""

    cordon: Cordon
    confinement: dict[str, str] = field(default_factory=dict)


def check_accesses(
    path: Path, secret: SecretInputs, options: GradeOptions, seconds: float, turns: Turns
) -> CheckedAccesses:
    """Replay the capture at `path` with checked kernels, for at most `seconds`. Raises UsageError."""
    deadline = time.monotonic() + max(REPLAY_SECONDS_MIN, seconds)
    with tempfile.TemporaryFile() as into:
        plan, features = _rewritten(path, into, options, deadline)
        if plan.trouble:
            return CheckedAccesses(_unknown(plan, plan.trouble), _off(features))
        try:
            capture = Capture(Path("the checked capture"), into.fileno(), LIMITS)
            result = _replayed(capture, plan, secret, options, deadline, turns)
        except (CaptureError, MalformedError, OSError) as error:
            return CheckedAccesses(
                _unknown(plan, f"the checked kernels cannot be replayed: {error}"), _off(features)
            )
    return CheckedAccesses(cordon_of(plan, result), {**_off(result.confinement), **_off(features)})


def _off(features: Mapping[str, str]) -> dict[str, str]:
    return {name: why for name, why in features.items() if why != "on"}


def _rewritten(
    path: Path, into: IO[bytes], options: GradeOptions, deadline: float
) -> tuple[Plan, dict[str, str]]:
    """Have the kernels rewritten in a sandbox: their PTX is hostile."""
    driver = discover(options.driver, api="cuda")
    with (
        path.open("rb") as source,
        tempfile.TemporaryFile() as plan,
        identity.claimed_user() as user,
        scratch_folder(user) as scratch,
    ):
        descriptors = source.fileno(), into.fileno(), plan.fileno()
        order = Order(*descriptors, is_sim=driver.is_sim)
        confine = Confine(str(scratch), (), user=user, memory_bytes=options.memory_limit, processes=PROCESSES)
        program = Program(
            name="rewriting the kernels",
            order=Task(REWRITER, msgspec.Raw(msgspec.json.encode(order)), descriptors, confine),
            environment=quarantine_environment(os.environ, scratch, Path()),
            deadline=deadline,
            line_max=LINE_MAX,
            lines_max=1,
        )
        ended = run_confined(program, options.require_sandbox or "any", lambda _: False)
        trouble = "no time was left" if ended.timed_out else ended.excess or ended.trouble or ended.refusal
        if not trouble and ended.status:
            trouble = ended.describe()
        if trouble:
            return Plan(trouble=f"the kernels were not rewritten: {one_line(trouble)}"), ended.features
        plan.seek(0)
        return _plan_of(plan.read(PLAN_BYTES + 1)), ended.features


def _plan_of(raw: bytes) -> Plan:
    try:
        return msgspec.json.decode(raw, type=Plan)
    except UNREADABLE:
        return Plan(trouble="the kernels were not rewritten: their sites are too many, or damaged")


def _replayed(
    capture: Capture,
    plan: Plan,
    secret: SecretInputs,
    options: GradeOptions,
    deadline: float,
    turns: Turns,
) -> ReplayResult:
    """One replay of each of a few secret input sets. Its outputs are the maps of violations."""
    count = min(SETS_MAX, secret.sets.sets - secret.sets.one_use)
    outputs = [(plan.map, map_bytes(len(plan.sites)))]
    return replay_again(capture, outputs, count, secret, options, deadline - time.monotonic(), turns)


def cordon_of(plan: Plan, result: ReplayResult) -> Cordon:
    """The findings of a replay with checked kernels."""
    maps = [each for output in result.outputs.values() for each in _listed(output)]
    if result.verdict not in ENDED or not maps or any(len(m) != map_bytes(len(plan.sites)) for m in maps):
        return _unknown(plan, f"the replay with checked kernels did not end: {result.reason or 'no result'}")
    total: dict[int, int] = {}
    first: dict[int, Violation] = {}
    for each in maps:
        for site, count in counts(each).items():
            total[site] = total.get(site, 0) + count
        for violation in violations(each):
            first.setdefault(violation.site, violation)
    found = [_violation(plan, violation, total[site]) for site, violation in sorted(first.items())]
    fatal = [each for each in found if each.access != "prefetch"]
    shown = tuple((fatal + [each for each in found if each.access == "prefetch"])[:VIOLATIONS_MAX])
    # A violation is not certain even where its address cannot be hidden memory (misaligned, in shared memory, beside an
    # output): the replay leaves out an honest load from hidden memory, and addresses computed from its result are
    # wrong. The violations are certain if all have such addresses, but a submission prevents that by one load from the
    # heap.
    if fatal and plan.hidden:
        reason = (
            f"{_text(fatal[0])}; kernel {one_line(plan.hidden)} may have other memory, such as the device heap or "
            "another module's global"
        )
        return Cordon("could not tell", reason, shown, len(found) - len(shown), *_rest(plan, len(maps)))
    if fatal:
        return Cordon("failed", _text(fatal[0]), shown, len(found) - len(shown), *_rest(plan, len(maps)))
    if plan.unchecked:
        return Cordon("could not tell", _doubt(plan), shown, len(found) - len(shown), *_rest(plan, len(maps)))
    return Cordon("held", "", shown, len(found) - len(shown), *_rest(plan, len(maps)))


def _rest(plan: Plan, sets: int) -> tuple[tuple[Unchecked, ...], int, int, int]:
    return plan.unchecked, plan.unlisted, plan.checked, sets


def _unknown(plan: Plan, why: str) -> Cordon:
    return Cordon("could not tell", _doubt(plan) if plan.unchecked else why, (), 0, *_rest(plan, 0))


def _doubt(plan: Plan) -> str:
    first, more = plan.unchecked[0], len(plan.unchecked) + plan.unlisted - 1
    others = f", and {more} more" if more else ""
    return f"kernel {first.kernel} is not checked ({first.reason}){others}"


def _listed(output: object) -> Iterator[bytes]:
    for each in output if isinstance(output, list) else [output]:
        if isinstance(each, bytes):
            yield each


def _violation(plan: Plan, found: Violation, count: int) -> CordonViolation:
    spot = plan.sites[found.site]
    nearest = next((each.name for each in plan.extents if each.address == found.base), "")
    end = found.base + found.size
    distance = found.address - end if found.address >= end else found.base - found.address - found.bytes
    return CordonViolation(
        function=one_line(spot.function),
        line=spot.line,
        source=one_line(f"{spot.file}:{spot.source_line}") if spot.file else "",
        opcode=one_line(spot.opcode),
        access=_access(spot),
        fault="misaligned" if found.is_misaligned else "outside",
        space="shared" if spot.space == "shared" else "global",
        address=found.address,
        bytes=found.bytes,
        thread=found.thread,
        block=found.block,
        nearest=one_line(nearest),
        distance=max(0, distance) if found.size and not found.is_misaligned else None,
        count=count,
    )


def _access(spot: Spot) -> str:
    return spot.kind if spot.kind in ("read", "write", "atomic", "prefetch") else "write"


def _text(first: CordonViolation) -> str:
    where = f"{first.source} (PTX line {first.line})" if first.source else f"PTX line {first.line}"
    is_near = first.nearest and first.distance is not None and first.distance <= NEAR
    near = f", {first.distance} bytes from {first.nearest}" if is_near else ""
    what = "misaligned" if first.fault == "misaligned" else "outside of the memory that it was given"
    return (
        f"kernel code {first.function}, {where}: {first.access} of {first.bytes} bytes at {first.address:#x}, {what}"
        f"{near}; thread {first.thread}, block {first.block}"
    )
