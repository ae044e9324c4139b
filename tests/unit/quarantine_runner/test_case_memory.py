"""A call's buffers hold the chosen input set, and the memory of old results holds zeros."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchguard.problem.spec import Buffer, CaseSpec, layout_of
from benchguard.quarantine.runner import memory
from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.memory import POISON, CaseMemory, Inputs
from benchguard.quarantine.runner.old_results import LARGE, clear_old_results
from benchguard.region import Memory


class Device:
    """A driver that remembers what it wrote."""

    def __init__(self) -> None:
        self.written: list[tuple[str, int]] = []
        self._next = 0

    def allocate(self, _: int) -> int:
        self._next += 1
        return self._next

    def write(self, address: int, *_: int) -> None:
        self.written.append(("set", address))

    def fill(self, address: int, value: int, size: int) -> None:
        self.written.append((f"{value:#x} x {size}", address))

    def make_current(self) -> None: ...

    synchronise = make_current


def test_large_input_is_written_before_recorded_calls_and_the_first_warm_up_call_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "LARGE", 8)
    case = CaseSpec(
        "case",
        (
            Buffer("large", "uint8", (8,)),
            Buffer("small", "uint8", (7,)),
            Buffer("updated", "uint8", (8,), "inout"),
            Buffer("result", "uint8", (3,), "output"),
        ),
    )
    device, inputs = Device(), SimpleNamespace(address=lambda *_: (0, 1))
    made = CaseMemory(cast(Driver, device), case, cast(Inputs, inputs), layout_of(case.read), 0)
    large, rest = [("set", 1)], [("set", 2), ("set", 3), (f"{POISON:#x} x 3", 4)]

    def written(prepare: Callable[[], None]) -> list[tuple[str, int]]:
        device.written.clear()
        prepare()
        return list(device.written)

    assert written(lambda: made.prepare(0, warm_up=True)) == [*large, *rest]
    assert written(lambda: made.prepare(0, warm_up=True)) == rest
    assert written(lambda: made.prepare(0)) == [*large, *rest]
    assert written(lambda: made.prepare(1)) == [*large, *rest]
    assert written(lambda: made.prepare(0, warm_up=True)) == [*large, *rest]


def segment(*sizes: int, at: int, state: str = "inactive", **changed: Any) -> dict[str, Any]:
    """A segment as torch.cuda.memory_snapshot() describes it. Its blocks follow each other."""
    given = [{"size": size, "state": state} for size in sizes]
    return {"device": 0, "stream": 7, "address": at, "segment_pool_id": (0, 0), "blocks": given, **changed}


class Torch:
    """torch with the given segments. It serves requests from the first unused block of their size."""

    uint8 = "uint8"

    def __init__(self, *segments: dict[str, Any], initialised: bool = True) -> None:
        self.free = [
            (each["address"] + sum(block["size"] for block in each["blocks"][:number]), block["size"])
            for each in segments
            if "address" in each
            for number, block in enumerate(each["blocks"])
        ]
        self.cuda = SimpleNamespace(
            is_initialized=lambda: initialised,
            current_device=lambda: 0,
            current_stream=lambda: SimpleNamespace(cuda_stream=7),
            memory_snapshot=lambda: segments,
        )

    def empty(self, size: int, **_: Any) -> Any:
        address = next(at for at, bytes_ in self.free if bytes_ == size)
        self.free.remove((address, size))
        return SimpleNamespace(data_ptr=lambda: address)


def cleared(monkeypatch: pytest.MonkeyPatch, torch: Any, *results: int) -> list[tuple[str, int]]:
    """The driver's writes, where the last call's results began at `results`."""
    monkeypatch.setitem(sys.modules, "torch", torch)
    device = Device()
    clear_old_results(cast(Driver, device), [Memory(each, 4) for each in results])
    return device.written


def test_unused_blocks_of_old_results_are_cleared_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, small = LARGE, LARGE + 512, LARGE - 512
    torch = Torch(segment(first, second, small, at=1 << 40), segment(first, at=2 << 40))
    results = ((1 << 40) + first + 100, (1 << 40) + first + second, 2 << 40)
    expected = [(f"0x0 x {second}", (1 << 40) + first)]
    assert cleared(monkeypatch, torch, *results[:2]) == expected
    # The request for the last block is served from the first, which was no result, and stays as it is.
    assert cleared(monkeypatch, Torch(segment(first, at=1), segment(first, at=2 << 40)), results[2]) == []


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"state": "active_allocated"}, id="in-use"),
        pytest.param({"stream": 8}, id="another-stream"),
        pytest.param({"device": 1}, id="another-device"),
        pytest.param({"segment_pool_id": (0, 1)}, id="of-a-graph"),
    ],
)
def test_block_that_torch_would_not_serve_is_not_cleared(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    assert cleared(monkeypatch, Torch(segment(LARGE, at=64, **changed)), 64) == []
    assert cleared(monkeypatch, Torch(segment(LARGE, at=64)), 64) == [(f"0x0 x {LARGE}", 64)]


@pytest.mark.parametrize(
    "torch",
    [
        pytest.param(None, id="not-loaded"),
        pytest.param(SimpleNamespace(), id="without-cuda"),
        pytest.param(Torch(segment(LARGE, at=64), initialised=False), id="not-initialised"),
        pytest.param(Torch({"blocks": []}), id="unknown-snapshot"),
    ],
)
def test_torch_that_cannot_tell_its_blocks_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, torch: Any
) -> None:
    assert cleared(monkeypatch, torch, 64) == []


def test_lack_of_memory_while_blocks_are_cleared_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Torch(segment(LARGE, at=64))

    def fails(size: int, **_: Any) -> Any:
        raise RuntimeError(f"CUDA out of memory: {size}")

    monkeypatch.setattr(torch, "empty", fails)
    assert cleared(monkeypatch, torch, 64) == []
