"""Before a call is recorded, unused memory that torch keeps is filled: old results with zeros, the rest with a byte."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.unused_memory import LARGE, SCRATCH, fill_unused
from benchguard.region import Memory


def segment(*sizes: int, at: int, state: str = "inactive", **changed: Any) -> dict[str, Any]:
    """A segment as torch.cuda.memory_snapshot() describes it. Its blocks follow each other."""
    given = [{"size": size, "state": state} for size in sizes]
    return {"device": 0, "stream": 7, "address": at, "segment_pool_id": (0, 0), "blocks": given, **changed}


class Torch:
    """torch with the given segments. It serves requests from the smallest unused block that is large enough."""

    uint8 = "uint8"

    def __init__(self, *segments: dict[str, Any], initialised: bool = True) -> None:
        self.free = [
            (block["size"], each["address"] + sum(block["size"] for block in each["blocks"][:number]))
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
        found = min(each for each in self.free if each[0] >= size)
        self.free.remove(found)
        return SimpleNamespace(data_ptr=lambda: found[1])


def filled(monkeypatch: pytest.MonkeyPatch, torch: Any, *results: int) -> dict[int, tuple[int, int]]:
    """Value and size of the driver's writes, by address, where the last call's results began at `results`."""
    monkeypatch.setitem(sys.modules, "torch", torch)
    written: dict[int, tuple[int, int]] = {}
    device = SimpleNamespace(fill=lambda address, value, size: written.update({address: (value, size)}))
    fill_unused(cast(Driver, device), [Memory(each, 4) for each in results])
    return written


def test_old_results_become_zeros_and_other_large_blocks_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, small = LARGE, LARGE + 512, LARGE - 512
    torch = Torch(segment(second, first, small, at=1 << 40), segment(first, at=2 << 40))
    in_second, in_small, in_last = (1 << 40) + 100, (1 << 40) + first + second, 2 << 40
    assert filled(monkeypatch, torch, in_second, in_small, in_last) == {
        1 << 40: (0, second),
        (1 << 40) + second: (SCRATCH, first),
        2 << 40: (0, first),
    }


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"state": "active_allocated"}, id="in-use"),
        pytest.param({"stream": 8}, id="another-stream"),
        pytest.param({"device": 1}, id="another-device"),
        pytest.param({"segment_pool_id": (0, 1)}, id="of-a-graph"),
    ],
)
def test_block_that_torch_would_not_serve_is_not_filled(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    assert filled(monkeypatch, Torch(segment(LARGE, at=64, **changed)), 64) == {}
    assert filled(monkeypatch, Torch(segment(LARGE, at=64)), 64) == {64: (0, LARGE)}


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
    assert filled(monkeypatch, torch, 64) == {}


def test_lack_of_memory_while_blocks_are_filled_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Torch(segment(LARGE, at=64))

    def fails(size: int, **_: Any) -> Any:
        raise RuntimeError(f"CUDA out of memory: {size}")

    monkeypatch.setattr(torch, "empty", fails)
    assert filled(monkeypatch, torch, 64) == {}
