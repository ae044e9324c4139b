"""Globals of modules: what a region's raw capture holds of them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.apis import both_apis
from tests.integration.raw_capture import RawCapture, read_raw_captures
from tests.integration.support import Observe

Record = Callable[[str], tuple[list[RawCapture], dict[str, int]]]


@pytest.fixture
def record(observe: Observe, program: Callable[[str], Path], tmp_path: Path) -> Record:
    """The regions of a program, and what it printed: "name number" a line."""

    def run(name: str) -> tuple[list[RawCapture], dict[str, int]]:
        folder = tmp_path / "raw_captures"
        folder.mkdir()
        environment = [f"NEUTRINO_CAPTURE={folder}", "NEUTRINO_REGION=program"]
        observed = observe(["env", *environment, program(name)])
        assert observed.status == 0, observed.stdout + observed.stderr
        lines = [line.split() for line in observed.stdout.splitlines()]
        return read_raw_captures(folder), {name: int(number) for name, number in lines}

    return run


@both_apis
def test_globals_are_recorded_before_and_after(record: Record) -> None:
    """Every global of each module that the region uses, with its content at the region's start."""
    (region, _), addresses = record("region_globals")
    assert region.refusals == []
    content = {v["name"]: (v["before"], v["after"]) for v in region.globals}
    # 5 + 3 before the region; then + 3, + 100, + 100.
    assert content["counter"] == (struct.pack("<I", 8), struct.pack("<I", 211))
    table = bytes([1, 2, 3]).ljust(16, b"\0")
    assert content["table"] == (table, table[:4] + struct.pack("<I", 211) + table[8:])
    assert content["weights"] == (struct.pack("<II", 0, 3), struct.pack("<II", 0, 100))
    assert content["unused"] == (struct.pack("<I", 9),) * 2
    assert content["target"][1] == b"\7" * 4 + bytes(12)
    assert len(content) == len(region.globals) == 5
    by_name = {v["name"]: v for v in region.globals}
    assert {name: by_name[name]["address"] for name in ("weights", "table", "target")} == {
        name: addresses[name] for name in ("weights", "table", "target")
    }


@both_apis
def test_operations_on_globals_are_recorded(record: Record) -> None:
    """A memset and an upload to one, and a kernel that is given the address of another."""
    (region, _), addresses = record("region_globals")
    kinds = [operation["kind"] for operation in region.operations]
    assert kinds == ["set", "launch", "upload", "join", "launch", "launch"]
    assert (region.operations[0]["address"], region.operations[2]["to"]) == (
        addresses["target"],
        addresses["weights"] + 4,
    )
    names = [v["name"] for v in region.globals]
    assert region.relocations == [(5, 0, names.index("table"), 4)]
    modules = {v["name"]: v["module"] for v in region.globals}
    assert region.modules == len(set(modules.values())) == 2
    assert region.kernels == [("count", modules["counter"])]


@both_apis
def test_next_region_starts_with_current_globals(record: Record) -> None:
    """Changes by one region are the start content of the next."""
    (_, region), _ = record("region_globals")
    (counter,) = (v for v in region.globals if v["name"] == "counter")
    assert (counter["before"], counter["after"]) == (struct.pack("<I", 211), struct.pack("<I", 311))
    assert {v["name"] for v in region.globals} == {"counter", "table", "weights"}


def test_globals_outside_captures_are_refused(record: Record) -> None:
    (region,), _ = record("region_globals_refused")
    assert [(call, reason) for _, call, reason in region.refusals] == [
        (
            "cuLaunchKernel",
            "global everyones is managed, so the host may change it during the region",
        ),
        (
            "cuLaunchKernel",
            "global large exceeds the 64 MiB that a capture keeps of all globals",
        ),
        ("cuModuleUnload", "unloads a module whose globals the region uses"),
    ]
    (small,) = region.globals
    assert (small["name"], small["before"], small["after"]) == ("small", bytes(4), b"")
