"""When there are enough samples. Pure functions of the times so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from ..errors import UsageError
from .statistics import median_interval, quantile, variation

DOUBLINGS = (100, 200, 400, 800, 1600, 3200)
"""The interval is looked at there, and when the time is over: looking after every sample would stop at a lucky one."""

LARGE_FIRST = 50
"""The first look where each sample copies LARGE_BYTES and more. With outputs of 256 MiB a sample took 40 ms (H100)."""

LARGE_BYTES = 64 << 20

HUGE_FIRST = 32
"""The first look where each sample copies HUGE_BYTES and more: the fewest samples with which the test for carried
results can tell, 12 on one-use inputs and 20 on others."""

UNTESTED_FIRST = 12
"""The first look instead of HUGE_FIRST where memory has room for no more than UNTESTED_SETS repeated sets, so that the
test for carried results cannot tell, and samples on one-use inputs alone make the time. There are 8 of these."""

UNTESTED_SETS = 2

HUGE_BYTES = 1 << 30

LONG_SECONDS, LONGEST_SECONDS = 0.02, 0.05
"""Samples that take as long have their first look after LARGE_FIRST and after HUGE_FIRST. A submission to KernelBench's
level2/12 takes 0.15 s a call on an H200, so 15 s for 100 samples."""

VARIATION_MIN = 5
"""As Tensara's rule has it."""

SAMPLES_MAX = 100_000
PATIENCE_SECONDS = 0.5
"""How long samples are taken without a rule of the caller's. Kernels of a few microseconds have several speeds, by the
number of launches before them (docs/adr/0039). The interval of one on an H100 was as wide after 3200 samples as after
800, which take 0.5 s."""

TAGGED_MAX = 0.01
"""Above this share of samples at another clock a narrow interval is not believed yet."""


class Interval(msgspec.Struct, frozen=True, tag="interval"):
    """Half the 95 % interval of the median is at most this share of the median, or one event tick if that is wider.

    `patience`: seconds after which sampling ends in any case, if there are DOUBLINGS[0] samples. None: no limit.
    `first`: the number of samples at the first look.
    """

    half_width: float = 0.005
    patience: float | None = None
    first: int = DOUBLINGS[0]


class Variation(msgspec.Struct, frozen=True, tag="variation"):
    """The coefficient of variation is at most so much."""

    cv: float = 0.01


class Count(msgspec.Struct, frozen=True, tag="count"):
    """A fixed number of samples."""

    samples: int


Rule: TypeAlias = Interval | Variation | Count


@dataclass(frozen=True)
class Decision:
    """`reached` and `wanted` are relative: what the rule looks at, and its bound. None if not applicable."""

    enough: bool
    converged: bool
    reached: float | None = None
    wanted: float | None = None
    note: str = ""


def rule_of(until: str | None, samples: int | None, *, patient: bool = False) -> Rule:
    """From --until and --samples. `patient`: without either, wait as long as with --until. Raises UsageError."""
    if until is not None and samples is not None:
        raise UsageError("samples and until are both given; give one of them")
    if samples is not None:
        if not 1 <= samples <= SAMPLES_MAX:
            raise UsageError(f"samples is {samples}; give 1 to {SAMPLES_MAX}")
        return Count(samples)
    if until is None:
        return Interval(patience=None if patient else PATIENCE_SECONDS)
    kind, _, text = until.partition("=")
    try:
        bound = float(text)
    except ValueError:
        bound = 0.0
    if kind not in {"cv", "ci"} or not 1e-6 <= bound <= 1:
        raise UsageError(
            f"{until!r} is not a stop rule; give cv=0.01 or ci=0.005, with a bound from 1e-6 to 1"
        )
    return Variation(bound) if kind == "cv" else Interval(bound)


def for_copies(rule: Rule, size: int, repeated_sets: int | None = None) -> Rule:
    """The rule for samples that copy `size` bytes each: outputs, and streamed inputs. `repeated_sets`: their number
    where one-use sets are streamed."""
    if not isinstance(rule, Interval) or rule.patience is None or size < LARGE_BYTES:
        return rule
    if size < HUGE_BYTES:
        return replace(rule, first=LARGE_FIRST)
    is_tested = repeated_sets is None or repeated_sets > UNTESTED_SETS
    return replace(rule, first=HUGE_FIRST if is_tested else UNTESTED_FIRST)


def for_time(rule: Rule, seconds: float) -> Rule:
    """The rule for samples that take `seconds` each."""
    if not isinstance(rule, Interval) or rule.patience is None or seconds < LONG_SECONDS:
        return rule
    return replace(rule, first=min(rule.first, HUGE_FIRST if seconds >= LONGEST_SECONDS else LARGE_FIRST))


def text_of(rule: Rule) -> str:
    """The rule as --until and --samples have it."""
    if isinstance(rule, Count):
        return f"samples={rule.samples}"
    return f"cv={rule.cv:g}" if isinstance(rule, Variation) else f"ci={rule.half_width:g}"


def samples_max(rule: Rule) -> int:
    """How many samples the rule ever asks for."""
    return rule.samples if isinstance(rule, Count) else DOUBLINGS[-1]


def next_check(rule: Rule, n: int) -> int:
    """With n samples, how many there must be before `decide` is asked again."""
    if isinstance(rule, Count):
        return rule.samples
    if isinstance(rule, Interval):
        looks = (each for each in (UNTESTED_FIRST, HUGE_FIRST, LARGE_FIRST, *DOUBLINGS) if each >= rule.first)
        return next((look for look in looks if look > n), DOUBLINGS[-1])
    step = max(1, n // 10)  # each look costs n: a tenth more each time keeps the sum of them small
    return min(max(VARIATION_MIN, n + step), DOUBLINGS[-1])


def is_impatient(rule: Rule, n: int, seconds: float) -> bool:
    """Whether the rule waits no longer: n samples have taken this time. They then count, converged or not."""
    return (
        isinstance(rule, Interval)
        and rule.patience is not None
        and n >= DOUBLINGS[0]
        and seconds >= rule.patience
    )


def decide(rule: Rule, times: Sequence[float], tick: float = 0.0, tagged: int = 0) -> Decision:
    """Whether these times, in the order they were taken, are enough; `tagged` of them were at another clock."""
    if isinstance(rule, Count):
        return Decision(len(times) >= rule.samples, len(times) >= rule.samples)
    last = len(times) >= DOUBLINGS[-1]
    if isinstance(rule, Variation):
        if len(times) < VARIATION_MIN:
            return Decision(False, False, None, rule.cv)
        reached = variation(times)
        narrow = reached <= rule.cv
        return Decision(narrow or last, narrow, reached, rule.cv)
    return _decide_interval(rule, times, tick, tagged, last)


def _decide_interval(
    rule: Interval, times: Sequence[float], tick: float, tagged: int, last: bool
) -> Decision:
    reached, target, floored = _width(rule, times, tick)
    narrow = reached is not None and reached <= target
    unsteady = tagged > TAGGED_MAX * len(times)
    notes = []
    if floored:
        notes.append(
            f"one tick of the event clock is {tick:.3g} us, {target:.2%} of the median: the interval cannot be "
            "narrower, and medians fall on ticks; use the trimmed mean"
        )
    if unsteady:
        notes.append(f"{tagged} of {len(times)} samples ran at another clock than the rest")
    enough = last or (narrow and not unsteady)
    return Decision(enough, narrow, reached, target, "; ".join(notes))


def _width(rule: Interval, times: Sequence[float], tick: float) -> tuple[float | None, float, bool]:
    """Half the interval's width, what it may be, and whether the tick is why; relative to the median."""
    ordered = sorted(times)
    middle = quantile(ordered, 0.5) if ordered else 0.0
    interval = median_interval(ordered)
    if interval is None:
        return None, rule.half_width, False
    if middle <= 0:
        return (0.0 if interval[1] == interval[0] else None), rule.half_width, False
    floored = tick > rule.half_width * middle
    target = tick / middle if floored else rule.half_width
    return (interval[1] - interval[0]) / 2 / middle, target, floored


def shortfall(rule: Rule, decision: Decision, n: int, seconds: float | None) -> str:
    """Why it did not converge, for people; `seconds` is the time cap, if that is what ended it."""
    within = f" in {seconds:.3g} s" if seconds is not None else ""
    ended = f"after {n} samples{within}"
    if isinstance(rule, Count):
        return f"only {n} of {rule.samples} samples were taken in {seconds or 0:.3g} s; raise the time-out"
    what = "coefficient of variation" if isinstance(rule, Variation) else "95 % interval of the median"
    sign = "" if isinstance(rule, Variation) else "±"
    if decision.reached is None:
        return f"too few samples for the {what} {ended}; raise the time-out"
    patience = rule.patience if isinstance(rule, Interval) else None
    advice = "give --until a wider bound" if patience is None else f"wait longer with --until {text_of(rule)}"
    return (
        f"the {what} is {sign}{decision.reached:.2%} {ended}, wanted {sign}{decision.wanted:.2%}; "
        f"quiet the machine, or {advice}"
    )
