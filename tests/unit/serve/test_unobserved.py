"""Programs that use the driver past the service, and programs that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.ipc.processes import Process
from benchguard.serve import unobserved
from benchguard.serve.unobserved import Unobserved
from benchguard.shim.interposer import Interposer
from benchguard.shim.surface import FORMAT, DriverFacts, HeaderFacts, Surface

DRIVER, SHIM = Path("/lib/libcuda.so.1"), Path("/shim/libcuda.so.1")
LED = b"A=b\0NEUTRINO_SERVE=/s/serve.sock\0"
Files = dict[tuple[int, str], bytes]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """/proc: shell 1, which has the variables, its child 2, and stranger 3. 2 and 3 have the driver."""
    found: Files = {(1, "environ"): LED, (2, "cmdline"): b"./p\0-x\0", (3, "cmdline"): b"q\0"}
    found |= {(2, "maps"): bytes(DRIVER), (3, "maps"): bytes(DRIVER)}
    listed = [Process(1, 0, False, 10), Process(2, 1, False, 11), Process(3, 0, False, 12)]
    monkeypatch.setattr(unobserved, "processes", lambda: iter(listed))
    monkeypatch.setattr(unobserved, "_read", lambda pid, name: found.get((pid, name), b""))
    return found


@pytest.fixture
def watch() -> Unobserved:
    surface = Surface(FORMAT, DriverFacts("libcuda.so.1", None, 0), HeaderFacts(1, ""), ())
    return Unobserved(Path("/s/serve.sock"), [Interposer(DRIVER, SHIM, surface, Path("/p.so"), {}, False)])


def scans(watch: Unobserved, count: int = 2, recorded: tuple[int, ...] = ()) -> list[dict[int, str]]:
    return [watch.scan([], recorded) for _ in range(count)]


def test_process_past_the_shim_is_named_once(files: Files, watch: Unobserved) -> None:
    assert files
    assert scans(watch, 3) == [{}, {2: "./p -x"}, {}]


def test_process_with_the_shim_is_not_named(files: Files, watch: Unobserved) -> None:
    files[2, "maps"] = bytes(SHIM) + b"\n" + bytes(DRIVER)
    assert scans(watch) == [{}, {}]


def test_process_that_is_recorded_is_not_named(files: Files, watch: Unobserved) -> None:
    assert files
    assert scans(watch, recorded=(2,)) == [{}, {}]


def test_process_that_ends_is_not_named(files: Files, watch: Unobserved) -> None:
    """Its memory is taken apart while it is read: the shim may be gone, the driver still there, its command empty."""
    files[2, "cmdline"] = b""
    assert scans(watch) == [{}, {}]
    files[2, "cmdline"] = b"./p"
    watch._suspects.clear()
    assert watch.scan([], ()) == {}


def test_processes_that_ended_make_room_for_others(
    files: Files, watch: Unobserved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service runs for days. Also a number that another process gets is named again."""
    assert files
    monkeypatch.setattr(unobserved, "NAMED_MAX", 1)
    scans(watch)
    processes = unobserved.processes
    monkeypatch.setattr(unobserved, "processes", lambda: iter([Process(1, 0, False, 10)]))
    assert scans(watch) == [{}, {}]
    monkeypatch.setattr(unobserved, "processes", processes)
    assert scans(watch) == [{}, {2: "./p -x"}]
