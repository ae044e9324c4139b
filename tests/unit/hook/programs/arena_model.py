"""Random requests to the arena, each answer compared with a model's: arena_model.py LIBRARY."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

BASE, GRANULE, PIECE, GRANULES = 0x300000000000, 2 << 20, 512, 70
PIECES = GRANULE // PIECE
ARENA = ctypes.CDLL(sys.argv[1])


def call(name: str, *arguments: int) -> int:
    function: Callable[..., Any] = getattr(ARENA, name)
    function.restype = ctypes.c_uint64  # type: ignore[attr-defined]
    return int(function(*(ctypes.c_uint64(argument) for argument in arguments)))


def first_run(taken: set[int], count: int, length: int, step: int = 1) -> int | None:
    """Where the lowest run of free places begins."""
    fits = (at for at in range(0, count - length + 1, step) if taken.isdisjoint(range(at, at + length)))
    return next(fits, None)


class Model(RuleBasedStateMachine):
    """Large blocks and reservations by granule, small ones by piece of a shared granule."""

    def __init__(self) -> None:
        super().__init__()
        assert call("set", BASE, GRANULES * GRANULE)
        self.granules: set[int] = set()
        self.large: dict[int, int] = {}
        self.small: dict[int, int] = {}
        self.shared: dict[int, set[int]] = {}

    @rule(bytes_=st.integers(1, 20 * GRANULE), power=st.integers(19, 24))
    def reserve(self, bytes_: int, power: int) -> None:
        length, step = -(-bytes_ // GRANULE), max(1, (1 << power) // GRANULE)
        at = first_run(self.granules, GRANULES, length, step)
        address = call("reserve", bytes_, 1 << power, 0)
        assert address == (0 if at is None else BASE + at * GRANULE)
        if at is not None:
            self.granules |= set(range(at, at + length))
            self.large[address] = bytes_
            assert call("add", address, bytes_)

    @rule(place=st.integers(-1, GRANULES), length=st.integers(1, 9))
    def reserve_there(self, place: int, length: int) -> None:
        pages = set(range(place, place + length))
        free = pages.isdisjoint(self.granules) and min(pages) >= 0 and max(pages) < GRANULES
        hint = BASE + place * GRANULE
        assert call("reserve", length * GRANULE, 0, hint + PIECE) == 0
        assert call("reserve", length * GRANULE, 0, hint) == (hint if free else 0)
        if free:
            self.granules |= pages
            self.large[hint] = length * GRANULE
            assert call("add", hint, length * GRANULE)

    @rule(bytes_=st.integers(1, GRANULE // 2))
    def allocate_small(self, bytes_: int) -> None:
        length = -(-bytes_ // PIECE)
        runs = ((granule, first_run(self.shared[granule], PIECES, length)) for granule in sorted(self.shared))
        granule, at = next(((granule, at) for granule, at in runs if at is not None), (0, None))
        address = call("take", bytes_)
        assert address == (0 if at is None else granule + at * PIECE)
        if at is None:
            granule, at = call("reserve", GRANULE, 0, 0), 0
            if granule == 0:
                return
            self.granules.add((granule - BASE) // GRANULE)
            self.shared[granule] = set()
            address = call("share", granule, bytes_)
            assert address == granule
        self.shared[granule] |= set(range(at, at + length))
        self.small[address] = bytes_
        assert call("add", address, bytes_)

    @rule(choice=st.randoms(use_true_random=False), which=st.sampled_from(["large", "small"]))
    def free(self, choice: Any, which: str) -> None:
        blocks = self.large if which == "large" else self.small
        if not blocks:
            return
        address = choice.choice(sorted(blocks))
        bytes_ = blocks.pop(address)
        assert not call("remove_block", address + 1)
        assert call("remove_block", address)
        assert not call("remove_block", address)
        if which == "large":
            call("release", address, bytes_)
            first = (address - BASE) // GRANULE
            self.granules -= set(range(first, first - (-bytes_ // GRANULE)))
            return
        granule = address // GRANULE * GRANULE
        first = (address - granule) // PIECE
        self.shared[granule] -= set(range(first, first - (-bytes_ // PIECE)))
        empty = [other for other, place in self.shared.items() if not place]
        spare = granule if len(empty) > 1 and granule in empty else 0
        assert call("give", address, bytes_) == spare
        if spare:
            del self.shared[spare]
            call("release", spare, GRANULE)
            self.granules.discard((spare - BASE) // GRANULE)

    @invariant()
    def blocks_are_found(self) -> None:
        blocks = {**self.large, **self.small}
        listed = (ctypes.c_uint64 * (len(blocks) + 1))()
        assert ARENA.each(listed) == len(blocks)
        assert list(listed)[: len(blocks)] == sorted(blocks)
        for address, bytes_ in blocks.items():
            assert call("find", address) == call("find", address + bytes_ - 1) == address
            if address + bytes_ not in blocks:
                assert call("find", address + bytes_) == 0


if __name__ == "__main__":
    run_state_machine_as_test(
        Model,
        settings=settings(
            max_examples=150, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
