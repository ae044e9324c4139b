"""Arrays on the device on which a problem's own check computes. The device "cpu:0" is the CPU under another name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from benchguard.judge import on_device
from benchguard.judge.on_device import Device
from benchguard.problem.spec import Buffer

INPUTS = {"x": np.arange(6, dtype=np.int32)}
BUFFERS = [Buffer("y", "float32", (2, 3), "output")]
OUTPUTS = {"y": np.arange(6, dtype=np.float32)}


def looked(device: Device, answer: str | None = None, buffers: Any = None) -> tuple[bool, list[Any]]:
    seen: list[Any] = []

    def look(*arrays: Mapping[str, Any]) -> str | None:
        seen.extend(arrays)
        return answer

    given = buffers or BUFFERS, OUTPUTS
    return device.finds_nothing(look, INPUTS, given, given), seen


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    pytest.importorskip("torch")
    bytes_free = [1 << 30]
    monkeypatch.setattr(on_device, "_free_bytes", lambda: bytes_free[0])
    return bytes_free


def test_tensors_have_the_numbers_of_the_arrays() -> None:
    found, (inputs, outputs, right) = looked(Device("cpu:0"))
    assert found
    assert inputs["x"].tolist() == INPUTS["x"].tolist()
    assert outputs["y"].tolist() == right["y"].tolist() == OUTPUTS["y"].tolist()
    outputs["y"][0] = 9.0
    assert OUTPUTS["y"][0] == 0


def test_wrong_numbers_on_the_device_are_looked_at_on_the_host() -> None:
    assert looked(Device("cpu:0"), "wrong")[0] is False


def test_check_on_the_cpu_gets_arrays() -> None:
    assert looked(Device("cpu")) == (False, [])


def test_integers_stay_on_the_host() -> None:
    assert looked(Device("cpu:0"), buffers=[Buffer("y", "int32", (6,), "output")]) == (False, [])


def test_device_without_room_is_not_used(free: list[int]) -> None:
    free[0] = 100
    assert looked(Device("cpu:0")) == (False, [])


def test_lack_of_memory_in_the_check_is_no_finding() -> None:
    import torch

    def look(*_: Mapping[str, Any]) -> str | None:
        raise torch.OutOfMemoryError("none left")

    assert not Device("cpu:0").finds_nothing(look, INPUTS, (BUFFERS, OUTPUTS), (BUFFERS, OUTPUTS))
