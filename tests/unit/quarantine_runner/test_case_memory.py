"""A call's buffers hold the chosen input set."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from benchguard.problem.spec import Buffer, CaseSpec, layout_of
from benchguard.quarantine.runner import memory
from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.memory import POISON, CaseMemory, Inputs


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
    places = layout_of(case.read).places
    inputs = SimpleNamespace(address=lambda *_: (0, 1), bytes_of=lambda name: places[name][1])
    device = Device()
    made = CaseMemory(cast(Driver, device), case, cast(Inputs, inputs))
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
