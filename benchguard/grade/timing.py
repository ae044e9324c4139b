"""Choose the samples that a grade reports, and detect cached results. Pure functions.

A kernel that caches results is fast only on inputs that it has seen, so one-use inputs show the time of real work. The
kernel can hide this by being slow at times on known inputs, but it cannot be fast on unknown inputs. So the fastest
one-use sample bounds the median that is believed.

A sample is unprimed if it began before it was fully queued. A kernel can forge that flag, so the flag never improves a
time: flagged samples on repeated inputs do not count, and flagged samples on one-use inputs do. A sample without a
second time does not count, whatever its inputs: no kernel of a sample can take its second time away.

Half of the input sets have another distribution than the problem's own, to find wrong answers. A kernel may be faster
on these (few different values, sparse values), and its time is then that of the samples on the problem's own inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..judge.carried import EFFECT_MIN, FirstUse, first_use, untestable
from ..replay.result import SampleRow
from ..replay.statistics import quantile, trimmed_mean

LEAST_MIN = 8
"""Least number of one-use samples for a test. By chance, 8 of them are all slower than the median in 1 of 2^8 runs,
12 in 1 of 2^12, and by more than EFFECT_MIN only if the times spread that far."""

ACCUSED_MIN = 0.1
"""By how much more one-use inputs must take for a violation. Below it the reported time is theirs, and chance is not
excluded: of 180 honest grades on two H100, one differed by 2.7 % (7.22 and 7.01 us, p = 0.002)."""

ACCUSED_UNPRIMED_MIN = 0.5
"""The same where no sample could be queued first, so that the host's time is in all of them. With 14 grades at once on
two H200, a PyTorch program of thousands of kernels took 13 % longer on one-use inputs (66.0 and 58.3 ms)."""

ACCUSED_LEAST_MIN = 12
"""Least number of one-use samples that accuse by their fastest one. See LEAST_MIN: with 8, times of two speeds that
are as frequent accuse in 1 of 256 grades."""

OWN_SLOWER = 0.1
"""Trimmed means of half of the samples differ by less than this by chance: one very slow sample decides nothing."""

OWN_LEAST_MIN = 4
"""The least number of those on the problem's own distribution, half of LEAST_MIN."""


def reported(table: Sequence[SampleRow], unrestored: str = "") -> list[SampleRow]:
    """The samples that the reported time is made of."""
    return scored(table, is_one_use_only(table, unrestored))


def believed(rows: Sequence[SampleRow], one_use: Sequence[SampleRow]) -> list[float]:
    """The times of the reported samples, for a mean, or for the median of one of several replays: none is below the
    fastest one-use sample by more than EFFECT_MIN.

    A kernel that uses cached results only now and then, or in some replays, changes the mean, but neither the median of
    all samples nor the tests. Samples on the problem's own distribution have a bound of their own: a kernel that is
    honestly fast on the other distributions would otherwise hide cached results on the problem's own.
    """
    least = _least(one_use, LEAST_MIN)
    own = [row for row in one_use if row.own]
    least_own = max(least, _least(own, OWN_LEAST_MIN)) if len(own) < len(one_use) else least
    return [max(row.device_us, least_own if row.own else least) for row in rows]


def _least(one_use: Sequence[SampleRow], count: int) -> float:
    """The fastest sample less EFFECT_MIN; 0 if there are fewer than `count`."""
    return min(row.device_us for row in one_use) / (1 + EFFECT_MIN) if len(one_use) >= count else 0.0


def own_median(times: Sequence[tuple[bool, float]]) -> float:
    """The median of a replay's times, or of those on the problem's own distribution, which are marked, as scored()
    chooses."""
    only_own = _is_own_slower(times)
    return _middle([time for is_own, time in times if is_own or not only_own])


def is_own_only(table: Sequence[SampleRow], unrestored: str = "") -> bool:
    """Whether the reported samples are only those on the problem's own distribution, of several."""
    return len(reported(table, unrestored)) < len(counted(table, is_one_use_only(table, unrestored)))


def counted(table: Sequence[SampleRow], one_use: bool) -> list[SampleRow]:
    """All primed samples, or the samples on one-use inputs; those with a second time, if there are any."""
    rows = [row for row in table if row.one_use] if one_use else comparable(table)
    return [row for row in rows if row.span_us > 0] or rows


def scored(table: Sequence[SampleRow], one_use: bool) -> list[SampleRow]:
    """The counted samples; only those on the problem's own distribution, if these are slower."""
    rows = counted(table, one_use)
    times = [(row.own, row.device_us) for row in rows]
    return [row for row in rows if row.own] if _is_own_slower(times) else rows


def _is_own_slower(times: Sequence[tuple[bool, float]]) -> bool:
    """Whether times on the problem's own distribution, which are marked, are longer than those of all samples, or in
    the mean much longer than those on the other distributions. With more than half of the samples on its own
    distribution the median of all is theirs, too, but the mean, which kernelbot's score is made of, is not.
    """
    own, others = (sorted(time for is_own, time in times if is_own is kind) for kind in (True, False))
    if not own or not others:
        return False
    if _middle(own) > (1 + EFFECT_MIN) * _middle([time for _, time in times]):
        return True
    return trimmed_mean(own) > (1 + OWN_SLOWER) * trimmed_mean(others)


def is_one_use_only(table: Sequence[SampleRow], unrestored: str = "") -> bool:
    """Whether only the one-use samples count.

    They do if it could not be tested whether results are carried, if they are slower than the others, or if a kernel
    may use memory that is not restored (`unrestored`). So a cache of results cannot improve the reported time.
    """
    if not any(row.one_use for row in table):
        return False
    slower = _is_slower(table, LEAST_MIN) or _is_slower([row for row in table if row.own], OWN_LEAST_MIN)
    return slower or untested(table) != "" or unrestored != ""


def _is_slower(table: Sequence[SampleRow], least: int) -> bool:
    """Whether the one-use samples are slower than the others; false if there are fewer than `least` of them.

    With fewer than LEAST_MIN, the fastest counts: the median of four was larger by EFFECT_MIN by chance in one of six
    grades of a softmax of 25 us (H200). A kernel that keeps results is fast in none of them.
    """
    once = [row for row in table if row.one_use]
    if len(once) < least:
        return False
    time = _median(once) if len(once) >= LEAST_MIN else min(row.device_us for row in once)
    return time > (1 + EFFECT_MIN) * _median(comparable(table))


def comparable(table: Sequence[SampleRow]) -> list[SampleRow]:
    """The primed samples, or all samples if none is primed."""
    return [row for row in table if not row.unprimed] or list(table)


def _median(rows: Sequence[SampleRow]) -> float:
    return _middle([row.device_us for row in rows])


def _middle(times: Sequence[float]) -> float:
    return quantile(sorted(times), 0.5)


def first_use_of(table: Sequence[SampleRow]) -> FirstUse | None:
    """The comparison of one-use and repeated samples; None without one-use input sets."""
    rows = [row for row in comparable(table) if row.input_set is not None]
    if not any(row.one_use for row in rows):
        return None
    return first_use([(row.device_us, row.one_use) for row in rows], [row.input_set or 0 for row in rows])


def untested(table: Sequence[SampleRow]) -> str:
    """Why it could not be tested whether results are carried from one sample to the next; empty if it was."""
    rows = comparable(table)
    if negative := sum(row.device_us <= 0 for row in rows):
        return f"the times of {negative} samples are not above 0"
    flagged = sum(row.one_use for row in table) - sum(row.one_use for row in rows)
    if flagged:
        return f"{flagged} samples on one-use inputs began before they were queued"
    once = [row.input_set for row in rows if row.one_use]
    repeated = [row.input_set for row in rows if not row.one_use]
    return untestable(len(once), len(repeated), len(set(once)), len(set(repeated)))


def carried_reason(table: Sequence[SampleRow], first_use: FirstUse | None) -> str:
    """A reason if the kernel carries results from one sample to the next; else empty."""
    effect = ACCUSED_UNPRIMED_MIN if all(row.unprimed for row in table) else ACCUSED_MIN
    if first_use is not None and first_use.remembered and first_use.slower > effect:
        return f"{first_use.text}: the kernel keeps results from one sample to the next"
    return least_reason(table, effect, ACCUSED_LEAST_MIN)


def carried_doubt(table: Sequence[SampleRow], first_use: FirstUse | None) -> str:
    """Why the kernel may carry results, by too little for carried_reason(); empty if nothing shows that.

    The reported time is then that of the one-use samples.
    """
    if first_use is not None and first_use.remembered:
        return f"{first_use.text}: too little to tell carried results from chance"
    return least_reason(table, EFFECT_MIN)


def least_reason(table: Sequence[SampleRow], effect: float, least: int = LEAST_MIN) -> str:
    """A reason if each one-use sample, at least `least` of them, is slower than the median by `effect`; else empty.

    The median is then not the time of real work.
    """
    rows = comparable(table)
    once = sorted(row.device_us for row in rows if row.one_use)
    if len(once) < least or len(once) == len(rows):
        return ""
    median = _median(rows)
    if once[0] <= median * (1 + effect):
        return ""
    return (
        f"the median is {median:.4g} us, but the fastest of {len(once)} one-use samples took {once[0]:.4g} us: "
        "results are carried from one sample to the next"
    )
