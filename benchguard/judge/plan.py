"""Plan the number of input sets, their distributions, and their memory. Pure, except for available_bytes().

A case has repeated and one-use input sets (carried.py says why). Both kinds are drawn alike: at least half of each
comes from the problem's own distribution, and the other distributions share the rest.
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
"""The fewest one-use sets with which the test for caching works (carried.py)."""

SLOTS_MIN = 2


@dataclass(frozen=True)
class Sizes:
    """Bytes of one set: of inputs, of expected outputs as the judge keeps them, of outputs in a slot."""

    inputs: int
    kept: int
    outputs: int


def plan(sizes: Sizes, sets_max: int, one_use: int, pool_bytes: int) -> SlotPlan:
    """Plan REPEATED_MIN repeated sets, even beyond `pool_bytes`; then ONE_USE_WISHED one-use sets; then both."""
    room = min(pool_bytes // max(1, sizes.inputs), pool_bytes // max(1, sizes.kept))
    total = min(max(sets_max, REPEATED_MIN) + one_use, max(room, REPEATED_MIN))
    once = min(one_use, total - REPEATED_MIN, max(ONE_USE_WISHED, total // 2))
    slots = slot_count(sizes.outputs, pool_bytes)
    return SlotPlan(min(total, max(sets_max, REPEATED_MIN) + once), once, slots)


def slot_count(slot_bytes: int, pool_bytes: int) -> int:
    return max(SLOTS_MIN, min(SLOTS_MAX, pool_bytes // 2 // max(1, slot_bytes)))


def spread(names: Sequence[str], counts: Sequence[int], chance: random.Random) -> list[str]:
    """Distributions for `counts` sets of each kind, in random order within a kind.

    At least half get the first name, the problem's own distribution; the others take turns for the rest.
    """
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
    """Raises FaultError if even the fewest sets do not fit."""
    need = REPEATED_MIN * (sizes.inputs + sizes.kept) + SLOTS_MIN * sizes.outputs
    if need > available:
        raise FaultError(
            f"{REPEATED_MIN} sets of inputs and outputs need {need / 2**30:.1f} GiB, {available / 2**30:.1f} GiB are "
            "available; make the case smaller, or use a machine with more memory"
        )


def available_bytes() -> int:
    """Available memory of the machine, or of this process's cgroup if that is less."""
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
