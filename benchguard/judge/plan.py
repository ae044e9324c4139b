"""How many sets there are, what they are drawn from, and how much memory may be used for them. Pure but for memory.

A case has K repeated sets and some that are for one sample each (carried.py says why). All are drawn the same way:
the problem's own distribution makes at least half of either kind, the others share the rest.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..ipc.slots import SLOTS_MAX, SlotPlan
from .troubles import FaultError

REPEATED_MIN = 2
ONE_USE_WISHED = 4
"""As many as the test of first use can work with."""

SLOTS_MIN = 2


@dataclass(frozen=True)
class Sizes:
    """Bytes of one set: of inputs, of expected outputs as the judge keeps them, of outputs in a slot."""

    inputs: int
    kept: int
    outputs: int


def plan(sizes: Sizes, sets_max: int, one_use: int, pool_bytes: int) -> SlotPlan:
    """At least REPEATED_MIN repeated sets, whatever `pool_bytes` says; then ONE_USE_WISHED for one use; then more of
    both."""
    room = min(pool_bytes // max(1, sizes.inputs), pool_bytes // max(1, sizes.kept))
    total = min(max(sets_max, REPEATED_MIN) + one_use, max(room, REPEATED_MIN))
    once = min(one_use, total - REPEATED_MIN, max(ONE_USE_WISHED, total // 2))
    slots = max(SLOTS_MIN, min(SLOTS_MAX, pool_bytes // 2 // max(1, sizes.outputs)))
    return SlotPlan(min(total, max(sets_max, REPEATED_MIN) + once), once, slots)


def spread(names: Sequence[str], counts: Sequence[int], chance: random.Random) -> list[str]:
    """Distributions for so many sets of each kind, each kind in random order: the first name, the problem's own, for
    at least half of them, the others in turn for the rest."""
    others = list(names[1:])
    chance.shuffle(others)
    turn = itertools.cycle(others)
    found = []
    for count in counts:
        rest = [next(turn) for _ in range(count // 2)] if others else []
        drawn = [names[0]] * (count - len(rest)) + rest
        chance.shuffle(drawn)
        found += drawn
    return found


def check_room(sizes: Sizes, available: int) -> None:
    """Raises FaultError where not even the fewest sets fit."""
    need = REPEATED_MIN * (sizes.inputs + sizes.kept) + SLOTS_MIN * sizes.outputs
    if need > available:
        raise FaultError(
            f"{REPEATED_MIN} sets of inputs and outputs need {need / 2**30:.1f} GiB, {available / 2**30:.1f} GiB are "
            "available; make the case smaller, or use a machine with more memory"
        )


def available_bytes() -> int:
    """Memory that may still be had: of the machine, or of our control group if that allows less."""
    found = [1 << 62]
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) << 10)
    limit, used = (_text(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    if limit.isdigit() and used.isdigit():
        found.append(max(0, int(limit) - int(used)))
    return min(found)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
