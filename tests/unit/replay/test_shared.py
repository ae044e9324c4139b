"""Input sets and output slots in memory of another process: what fits, what does not, and a whole replay with both."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import benchguard
from benchguard.capture.layout import Role
from benchguard.capture.model import Range
from benchguard.errors import UsageError
from benchguard.ipc.slots import ANNOUNCEMENT
from benchguard.replay.buffers import Buffers, SharedInputs, SlotPool, make_pool, slot_request
from benchguard.replay.options import ReplayOptions
from benchguard.replay.protocol import InputPart, SlotPart
from benchguard.replay.replay import replay_buffers
from tests.support.captures import CAPTURES, floats
from tests.unit.replay.test_buffers import BASE, subject

N = 1024


@contextmanager
def memory(size: int) -> Iterator[int]:
    descriptor = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, size)
        yield descriptor
    finally:
        os.close(descriptor)


def test_shared_inputs_become_parts_of_their_layout() -> None:
    with memory(3 * 512) as descriptor:
        pool = make_pool(SharedInputs(descriptor, 3, 2, 512, {"x": (0, 8), "y": (256, 4)}), subject())
    assert (pool.descriptor, pool.sets, pool.one_use) == (descriptor, 3, 2)
    assert pool.parts[:3] == (
        InputPart(0, BASE, 8, 0),
        InputPart(0, BASE + 64, 4, 256),
        InputPart(1, BASE, 8, 512),
    )


def test_shared_output_that_is_an_input_is_not_poisoned() -> None:
    with memory(1024) as descriptor:
        outputs = SlotPool(descriptor, 2, 512, {"x": (0, 8), "y": (256, 4)}, 5, 6)
        request = slot_request(Buffers({"x": bytes(8)}, slots=outputs), subject())
    assert request is not None
    assert request.parts == (SlotPart(BASE, 8, 0, False), SlotPart(BASE + 64, 4, 256, True))
    assert (request.slots, request.announce, request.release) == (2, 5, 6)


def test_output_that_the_capture_calls_an_input_is_poisoned() -> None:
    """Its roles are the adversary's; what is read is what the caller gives."""
    lying = subject(Range(BASE, 8, Role.INPUT, "y"))
    with memory(512) as descriptor:
        request = slot_request(Buffers(slots=SlotPool(descriptor, 1, 512, {"y": (0, 8)}, 5, 6)), lying)
    assert request is not None and request.parts[0].written


def test_empty_buffer_makes_no_part() -> None:
    with memory(512) as descriptor:
        assert make_pool(SharedInputs(descriptor, 1, 0, 512, {"nothing": (0, 0)}), subject()).parts == ()


@pytest.mark.parametrize(
    ("sets", "one_use", "stride", "places", "said"),
    [
        (2, 2, 256, {"x": (0, 8)}, "2 of 2 input sets are one-use; give 1"),
        (0, 0, 256, {"x": (0, 8)}, "of 0 input sets"),
        (5000, 0, 256, {"x": (0, 8)}, "of 5000 input sets"),
        (2, -1, 256, {"x": (0, 8)}, "-1 of 2 input sets"),
        (3, 0, 256, {"x": (0, 8)}, "have 512 bytes, 3 times 256 are needed"),
        (2, 0, 256, {"x": (252, 8)}, "do not fit their stride of 256 bytes"),
        (2, 0, 256, {"x": (-8, 8)}, "do not fit their stride"),
        (2, 0, 256, {"x": (0, 4)}, "buffer 'x' has 4 bytes, its range in the capture 8"),
        (2, 0, 256, {"z": (0, 8)}, "no range 'z'"),
        (2, 0, 256, {"twice": (0, 4)}, "2 ranges of the name"),
    ],
)
def test_shared_inputs_that_do_not_fit_are_refused(
    sets: int, one_use: int, stride: int, places: dict[str, tuple[int, int]], said: str
) -> None:
    with memory(512) as descriptor, pytest.raises(UsageError, match=said):
        make_pool(SharedInputs(descriptor, sets, one_use, stride, places), subject())


@pytest.mark.parametrize(("slots", "said"), [(0, "0 slots"), (65, "65 slots"), (3, "3 times 256 are needed")])
def test_slot_pools_that_do_not_fit_are_refused(slots: int, said: str) -> None:
    with memory(512) as descriptor, pytest.raises(UsageError, match=said):
        slot_request(Buffers(slots=SlotPool(descriptor, slots, 256, {"y": (0, 4)}, 5, 6)), subject())


class Checker(threading.Thread):
    """Looks at each sample as a judge does, and gives its slot back."""

    def __init__(self, outputs: int, stride: int, look: Callable[[int, int, bytes], None]) -> None:
        super().__init__(daemon=True)
        self._outputs, self._stride, self._look = outputs, stride, look
        self.announced, self.announce = os.pipe()
        self.release, self.releasing = os.pipe()

    def run(self) -> None:
        while len(record := os.read(self.announced, ANNOUNCEMENT.size)) == ANNOUNCEMENT.size:
            number, input_set, slot = ANNOUNCEMENT.unpack(record)
            self._look(number, input_set, os.pread(self._outputs, self._stride, slot * self._stride))
            os.write(self.releasing, bytes([slot]))


SETS, ONE_USE, SLOTS, STRIDE = 6, 3, 2, 8 * N


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("zeros", [frozenset[str](), frozenset({"y"})], ids=["given", "zeros"])
def test_shared_buffers_carry_every_sample(
    native: Path, tmp_path: Path, strict: bool, sealed: bool, zeros: frozenset[str]
) -> None:
    """saxpy, in place: every sample's y is 2 x + y of its set, and the one-use sets are used once."""
    assert native
    capture = CAPTURES["saxpy"](tmp_path / "x.ncap")
    places = {"x": (0, 4 * N), "y": (4 * N, 4 * N)}
    looked: list[tuple[int, int, bool]] = []
    y = 0.0 if zeros else 1.0

    def look(number: int, input_set: int, content: bytes) -> None:
        looked.append((number, input_set, content[: 4 * N] == floats([2.0 * input_set + y] * N)))

    with memory(SETS * STRIDE) as pool, memory(SLOTS * STRIDE) as outputs:
        for number in range(SETS):
            os.pwrite(pool, floats([float(number)] * N) + floats([1.0] * N), number * STRIDE)
        if sealed:
            import fcntl

            fcntl.fcntl(pool, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK)
        checker = Checker(outputs, STRIDE, look)
        checker.start()
        buffers = Buffers(
            inputs=SharedInputs(pool, SETS, ONE_USE, STRIDE, places, zeros=zeros),
            slots=SlotPool(outputs, SLOTS, STRIDE, {"y": (0, 4 * N)}, checker.announce, checker.release),
        )
        options = ReplayOptions(driver="sim", cold="none", strict=strict, samples=40)
        result = replay_buffers(capture, options, buffers)
        os.close(checker.announce)
        checker.join(10)
        for descriptor in (checker.announced, checker.release, checker.releasing):
            os.close(descriptor)
    assert result.verdict == "pass", result.reason
    assert [number for number, _, _ in looked] == list(range(40))
    assert all(right for _, _, right in looked)
    assert [row.input_set for row in result.table] == [input_set for _, input_set, _ in looked]
    assert sorted(row.input_set for row in result.table if row.one_use) == [3, 4, 5]
    assert all(row.tail_us > 0 for row in result.table)
    assert (median(row.guard_us for row in result.table) > 5) == strict
    assert (result.settings.strict, result.settings.one_use_sets) == (strict, ONE_USE)
    assert result.slots is not None and result.slots.copy_s > 0


def test_judge_that_ended_is_an_error(native: Path, tmp_path: Path) -> None:
    assert native
    result = _with_ends(tmp_path, closed=True)
    assert result.verdict == "error" and "the judge closed its pipe" in result.reason


def test_silent_judge_times_out(native: Path, tmp_path: Path) -> None:
    assert native
    result = _with_ends(tmp_path, closed=False, timeout=4.0)
    assert result.verdict == "timeout"


def _with_ends(folder: Path, closed: bool, **options: Any) -> benchguard.ReplayResult:
    capture = CAPTURES["saxpy"](folder / "x.ncap")
    announced, announce = os.pipe()
    release, releasing = os.pipe()
    with memory(STRIDE) as outputs:
        if closed:
            os.close(announced)
            os.close(releasing)
        result = replay_buffers(
            capture,
            ReplayOptions(driver="sim", cold="none", samples=40, **options),
            Buffers(slots=SlotPool(outputs, 1, STRIDE, {"y": (0, 4 * N)}, announce, release)),
        )
    for descriptor in (announce, release, *(() if closed else (announced, releasing))):
        os.close(descriptor)
    return result


@pytest.mark.parametrize("cold", ["remap", "rotate"])
def test_strict_with_copies_of_the_state_is_refused(native: Path, tmp_path: Path, cold: Any) -> None:
    assert native
    with pytest.raises(UsageError, match="give flush or none with strict"):
        benchguard.replay(CAPTURES["saxpy"](tmp_path / "x.ncap"), driver="sim", strict=True, cold=cold)


def test_seed_visible_to_kernels_differs_from_the_schedules() -> None:
    from benchguard.replay.replay import _derived

    seeds = {_derived(seed, purpose) for seed in range(100) for purpose in ("numbers", "noise")}
    assert len(seeds) == 200
    assert all(0 <= _derived(seed, "noise") < 1 << 63 for seed in (0, 1, (1 << 63) - 1))
