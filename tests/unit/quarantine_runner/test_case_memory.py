"""A call's buffers hold the chosen input set, and unused memory of torch holds zeros."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchguard.problem.spec import Buffer, CaseSpec, layout_of
from benchguard.quarantine.runner import cached_memory, memory
from benchguard.quarantine.runner.cached_memory import clear_cached_memory
from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.memory import POISON, CaseMemory, Inputs

MIB = 1 << 20


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


def blocks(*sizes: int, state: str = "inactive", **changed: Any) -> dict[str, Any]:
    """A segment as torch.cuda.memory_snapshot() describes it."""
    given = [{"size": size, "state": state} for size in sizes]
    return {"device": 0, "stream": 7, "segment_pool_id": (0, 0), "blocks": given, **changed}


class Torch:
    """torch with the given segments."""

    uint8 = "uint8"

    def __init__(self, *segments: dict[str, Any], initialised: bool = True) -> None:
        self.taken: list[int] = []
        self.cuda = SimpleNamespace(
            is_initialized=lambda: initialised,
            current_device=lambda: 0,
            current_stream=lambda: SimpleNamespace(cuda_stream=7),
            memory_snapshot=lambda: segments,
        )

    def empty(self, size: int, **_: Any) -> Any:
        self.taken.append(size)
        return SimpleNamespace(data_ptr=lambda: size)


def cleared(monkeypatch: pytest.MonkeyPatch, torch: Any) -> list[tuple[str, int]]:
    monkeypatch.setitem(sys.modules, "torch", torch)
    device = Device()
    clear_cached_memory(cast(Driver, device))
    return device.written


def test_unused_blocks_of_this_stream_are_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Torch(
        blocks(2 * MIB, 3 * MIB, MIB - 512),
        blocks(5 * MIB, state="active_allocated"),
        blocks(6 * MIB, stream=8),
        blocks(7 * MIB, device=1),
        blocks(8 * MIB, segment_pool_id=(0, 1)),
    )
    assert cleared(monkeypatch, torch) == [(f"0x0 x {each}", each) for each in (3 * MIB, 2 * MIB)]
    assert torch.taken == [3 * MIB, 2 * MIB]


@pytest.mark.parametrize(
    "torch",
    [
        pytest.param(None, id="not-loaded"),
        pytest.param(SimpleNamespace(), id="without-cuda"),
        pytest.param(Torch(blocks(2 * MIB), initialised=False), id="not-initialised"),
        pytest.param(Torch({"blocks": []}), id="unknown-snapshot"),
    ],
)
def test_torch_that_cannot_tell_its_blocks_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, torch: Any
) -> None:
    assert cleared(monkeypatch, torch) == []


def test_lack_of_memory_while_blocks_are_cleared_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Torch(blocks(2 * cached_memory.LARGE))

    def fails(size: int, **_: Any) -> Any:
        raise RuntimeError(f"CUDA out of memory: {size}")

    monkeypatch.setattr(torch, "empty", fails)
    assert cleared(monkeypatch, torch) == []
