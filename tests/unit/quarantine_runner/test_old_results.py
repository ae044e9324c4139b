"""The memory of old results is cleared before a call is recorded, and no other memory."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.old_results import LARGE, clear_old_results
from benchguard.region import Memory


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
    written: list[tuple[str, int]] = []
    device = SimpleNamespace(
        fill=lambda address, value, size: written.append((f"{value:#x} x {size}", address))
    )
    clear_old_results(cast(Driver, device), [Memory(each, 4) for each in results])
    return written


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
