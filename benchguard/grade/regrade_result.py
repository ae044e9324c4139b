"""The result of a regrade: the document neutrino-bench/regrade/1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Literal

import msgspec

from .. import exit_status
from ..ipc.json_text import json_document
from ..ipc.text import one_line
from ..problem.ranking import RANKINGS, timed_cases
from ..replay.protocol import is_gpu
from ..replay.result import TimeBlock
from .result import GradeResult, Verdict
from .stored_result import contradictions_in

Schema = Literal["neutrino-bench/regrade/1"]
SCHEMA: Schema = "neutrino-bench/regrade/1"

WITHIN = 1.1
"""Largest accepted ratio of two times on GPUs of one model."""

_DEVICE = (
    "name",
    "driver_version",
    "compute_major",
    "compute_minor",
    "multiprocessors",
    "l2_bytes",
    "memory_bytes",
)
_SETTINGS = ("driver", "cold", "icache", "prime", "until", "flush_cache", "one_use_sets", "input_sets")


class RegradedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Times of a case in microseconds. `ratio` is the regraded median over the stored one.

    `low` and `high` are its bounds by the 95 % interval of the regrade; None without one. The stored interval has no
    influence: whoever changed a result could make it wide.
    """

    name: str
    stored: Verdict
    verdict: Verdict
    stored_us: TimeBlock | None
    regraded_us: TimeBlock | None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A property of the machine, the version or the options that is not as it was."""

    what: str
    stored: str
    now: str


class RegradeResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`confirmed`: the verdict is the stored one, and no compared time contradicts it; else `reason` says what does.

    `times_compared`: whether times could contradict: on a GPU of the same model and driver, or with `within`.
    """

    schema: Schema
    bundle: str
    confirmed: bool
    reason: str
    stored: Verdict
    verdict: Verdict
    times_compared: bool
    cases: tuple[RegradedCase, ...]
    differences: tuple[Difference, ...]
    result: GradeResult

    @property
    def status(self) -> int:
        """The exit status of `neutrino-bench regrade`."""
        return exit_status.PASS if self.confirmed else exit_status.WRONG

    def to_json(self, indent: int = 1) -> str:
        return json_document(self, indent)


def compared(
    bundle: str,
    stored: GradeResult,
    result: GradeResult,
    options: tuple[Mapping[str, Any], Mapping[str, Any]],
    within: float | None,
) -> RegradeResult:
    """Hold a new result against the stored one. `options` are those of both grades."""
    earlier = {each.name: each for each in stored.cases}
    cases = tuple(
        _case(each.name, earlier[each.name].verdict, each.verdict, earlier[each.name].time_us, each.time_us)
        for each in result.cases
        if each.name in earlier
    )
    same = _same_gpu(stored, result)
    bound = within if within is not None else WITHIN if same else None
    reason = next(_contradictions(stored, result, cases, bound), "")
    return RegradeResult(
        schema=SCHEMA,
        bundle=bundle,
        confirmed=not reason,
        reason=reason,
        stored=stored.verdict,
        verdict=result.verdict,
        times_compared=bound is not None,
        cases=cases,
        differences=tuple(_differences(stored, result, *options)),
        result=result,
    )


def _contradictions(
    stored: GradeResult, result: GradeResult, cases: tuple[RegradedCase, ...], within: float | None
) -> Iterator[str]:
    if result.verdict != stored.verdict:
        why = f": {result.reason}" if result.reason else ""
        yield f"the stored verdict is {stored.verdict}, and the regrade's is {result.verdict}{why}"
    yield from contradictions_in(stored, result)
    names, known = {each.name for each in cases}, {each.name for each in stored.cases}
    for each in stored.cases:
        if each.name not in names:
            yield f"the stored result has case {one_line(each.name, 100)}, and the regrade has none"
    for each in result.cases:
        if each.name not in known:
            yield f"the regrade has case {each.name}, and the stored result has none"
    timed = _timed(result)
    for case in cases:
        if case.stored_us is None or case.regraded_us is None:
            if (case.stored_us is None) != (case.regraded_us is None):
                yield f"case {case.name}: only one of the two results has a time"
        elif case.ratio is None:
            yield f"case {case.name}: the stored median is {case.stored_us.median:.3f} us, which no call takes"
        elif case.name in timed and within is not None and not 1 / within <= case.ratio <= within:
            yield (
                f"case {case.name}: the stored median is {case.stored_us.median:.3f} us, and the regrade's "
                f"{case.regraded_us.median:.3f} us: a ratio of {case.ratio:.3f}, and {1 / within:.3f} to {within:.3f} "
                "is expected"
            )
    yield from _ranked_contradictions(stored, result, within)


def _ranked_contradictions(stored: GradeResult, result: GradeResult, within: float | None) -> Iterator[str]:
    """Numbers besides the medians by which leaderboards rank."""
    before, now = _ranked(stored), _ranked(result)
    for what in sorted(before.keys() | now.keys()):
        if what not in before or what not in now:
            yield f"{what}: only one of the two results has it"
        elif within is not None and not 1 / within <= now[what] / before[what] <= within:
            yield f"{what}: {before[what]:.4g} is stored, and the regrade has {now[what]:.4g}"


def _timed(result: GradeResult) -> frozenset[str]:
    """The cases whose times count. Only a suite with a ranking has a score."""
    return timed_cases([each.name for each in result.cases], RANKINGS[0] if result.score_s else "")


def _ranked(result: GradeResult) -> dict[str, float]:
    numbers, timed = {"the score": result.score_s}, _timed(result)
    for case in result.cases:
        if case.name not in timed:
            continue
        place = f"case {one_line(case.name, 100)}: the"
        if case.time_us is not None:
            numbers[f"{place} mean"] = case.time_us.mean
            numbers[f"{place} trimmed mean"] = case.time_us.trimmed_mean
            numbers[f"{place} least time"] = case.time_us.min
        numbers[f"{place} GFLOP/s"] = case.gflops
        numbers[f"{place} GB/s"] = case.gbytes_per_s
    return {what: number for what, number in numbers.items() if number}


def _case(
    name: str, stored: Verdict, verdict: Verdict, before: TimeBlock | None, now: TimeBlock | None
) -> RegradedCase:
    if before is None or now is None or not before.median > 0:
        return RegradedCase(name, stored, verdict, before, now)
    ratio = now.median / before.median
    low, high = now.ci95 if now.ci95 is not None else (None, None)
    return RegradedCase(
        name,
        stored,
        verdict,
        before,
        now,
        ratio,
        low / before.median if low is not None else None,
        high / before.median if high is not None else None,
    )


def _same_gpu(stored: GradeResult, result: GradeResult) -> bool:
    before, now = stored.device, result.device
    if before is None or now is None or not is_gpu(now):
        return False
    return (before.name, before.driver_version) == (now.name, now.driver_version)


def _differences(
    stored: GradeResult, result: GradeResult, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[Difference]:
    yield from _pair("version of neutrino-bench", stored.version, result.version)
    if stored.device is not None and result.device is not None:
        for name in _DEVICE:
            yield from _pair(f"device: {name}", getattr(stored.device, name), getattr(result.device, name))
    if stored.settings is not None and result.settings is not None:
        earlier, later = asdict(stored.settings), asdict(result.settings)
        for name in _SETTINGS:
            yield from _pair(f"setting: {name}", earlier[name], later[name])
    again = {case.name: case for case in result.cases}
    for case in stored.cases:
        place = f"case {case.name}: check of"
        states = {each.check: each.state for each in case.evidence}
        new = {each.check: each.state for each in again[case.name].evidence} if case.name in again else states
        for check in dict.fromkeys((*states, *new)):
            yield from _pair(f"{place} {check}", states.get(check, "absent"), new.get(check, "absent"))
    if stored.sandbox.full != result.sandbox.full:
        yield from _pair("full sandbox", stored.sandbox.full, result.sandbox.full)
    for name in sorted({*before, *now}):
        yield from _pair(f"option: {name}", before.get(name, "default"), now.get(name, "default"))


def _pair(what: str, stored: Any, now: Any) -> Iterator[Difference]:
    if _plain(stored) != _plain(now):
        yield Difference(one_line(what, 100), one_line(str(stored), 200), one_line(str(now), 200))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
