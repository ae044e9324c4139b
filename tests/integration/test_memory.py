"""Device memory that is served from fixed addresses: the program sees no difference, a raw capture holds all of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.apis import Api, both_apis
from tests.integration.raw_capture import PAGE, RawCapture, read_raw_captures
from tests.integration.support import Observe, Observed

ARENA, GRANULE = 0x300000000000, 2 << 20
BEFORE, AFTER = 1, 2
Run = Callable[..., Observed]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "raw_captures"
    folder.mkdir()
    return folder


@pytest.fixture
def run(observe: Observe, program: Callable[[str], Path], folder: Path) -> Run:
    """Run a program, recorded or only observed. It sets the variables of a raw capture itself: no capture is packed."""

    def run(name: str, *arguments: str, recorded: bool = True) -> Observed:
        variables = [f"NEUTRINO_CAPTURE={folder}", "NEUTRINO_REGION=program"] if recorded else []
        observed = observe(["env", *variables, program(name), *arguments])
        assert observed.status == 0, observed.stdout + observed.stderr
        return observed

    return run


@both_apis
def test_allocation_results_unchanged_by_recording(run: Run) -> None:
    """Results, sizes and attributes of 140 good and bad calls; nothing but the addresses differs."""
    own, served = (run("memory_answers", recorded=recorded).stdout.splitlines() for recorded in (False, True))
    places = [[line for line in lines if line.startswith("at ")] for lines in (own, served)]
    assert [line for line in served if line not in places[1]] == [
        line for line in own if line not in places[0]
    ]
    addresses = [int(word, 16) for line in places[1] for word in line.split()[1:]]
    assert len(addresses) == 9
    assert all(0 <= address - ARENA < 1 << 43 for address in addresses)


@both_apis
def test_two_processes_get_the_same_addresses(run: Run) -> None:
    assert run("memory_answers").stdout == run("memory_answers").stdout


@pytest.fixture
def region(run: Run, folder: Path) -> tuple[RawCapture, dict[str, int]]:
    """The raw capture that memory_region.c leaves, and the addresses that it printed."""
    lines = [line.split() for line in run("memory_region").stdout.splitlines()]
    (raw_capture,) = read_raw_captures(folder)
    return raw_capture, {name: int(address) for name, address in lines}


@both_apis
def test_region_lists_its_allocations(region: tuple[RawCapture, dict[str, int]], api: Api) -> None:
    """Allocations that existed before, were made in, or were freed in the region; not those freed before it."""
    raw_capture, at = region
    sizes = {
        "small": 100,
        "neighbour": 5000,
        "large": 20 * GRANULE,
        "gone": GRANULE,
        "zero": GRANULE,
        "mapped": GRANULE,
    }
    sizes |= {"shut": GRANULE, "ordered": 300, "made": 2 * GRANULE, "brief": 10 * GRANULE}
    flags = dict.fromkeys(sizes, BEFORE | AFTER) | {"gone": BEFORE, "made": AFTER, "brief": 0}
    assert raw_capture.allocations == {(at[name], size): flags[name] for name, size in sizes.items()}
    assert raw_capture.device[6:] == (8 << 30, ARENA, 16 * ((8 << 30) + GRANULE))
    assert set(raw_capture.limits) >= ({2} if api.name == "hip" else {0, 1, 2})  # HIP 5.2 knows no stack's


@both_apis
def test_region_holds_memory_before_and_after(region: tuple[RawCapture, dict[str, int]]) -> None:
    """A capture has the pages that are not zero when the region begins, and the pages that differ when it ends."""
    raw_capture, at = region

    def page(address: int, value: int, count: int, pages: dict[int, bytes]) -> bytes:
        start = address % PAGE
        assert pages[address - start][start : start + count] == bytes([value]) * count
        return pages[address - start]

    def whole(address: int, value: int, size: int) -> dict[int, bytes]:
        return dict.fromkeys(range(address, address + size, PAGE), bytes([value]) * PAGE)

    before, after = raw_capture.before, raw_capture.after
    page(at["small"], 1, 100, before)
    page(at["neighbour"], 2, PAGE - at["neighbour"] % PAGE, before)
    page(at["ordered"], 8, 300, before)
    page(at["small"], 11, 1, after)
    page(at["small"] + 1, 1, 99, after)
    assert at["small"] // PAGE == at["neighbour"] // PAGE == at["ordered"] // PAGE - 1
    shared = range(at["small"], at["small"] + 2 * PAGE, PAGE)
    ends = {
        at["large"]: b"\3" * 10 + bytes(PAGE - 10),
        at["large"] + 20 * GRANULE - PAGE: bytes(PAGE - 1) + b"\4",
    }
    mapped = whole(at["mapped"], 7, GRANULE)
    expected = {**ends, **whole(at["gone"], 5, GRANULE), **mapped}
    assert {address: raw for address, raw in before.items() if address not in shared} == expected
    written = {at["large"]: bytes(PAGE), at["zero"] + PAGE: b"\14" + bytes(PAGE - 1)}
    expected = {**written, **whole(at["made"], 13, 2 * GRANULE)}
    assert {address: raw for address, raw in after.items() if address not in shared} == expected
    assert shared[1] not in after


@both_apis
def test_threads_never_share_memory(run: Run) -> None:
    """Four threads fill and check what they hold, of all sizes, in stream order and without."""
    assert run("memory_threads", "4", "150").stdout == "right\n"


@both_apis
def test_freed_memory_is_reused_on_another_stream_after_its_work(run: Run) -> None:
    """A kernel writes to memory that was freed behind it: its own stream may have it at once, no other may."""
    assert run("memory_ordered").stdout.split() == ["same", "1", "other", "1", "untouched", "1", "later", "1"]


def test_memory_is_freed_with_its_context(run: Run) -> None:
    assert run("memory_contexts").stdout.split() == ["gone", "1", "again", "1"]


@both_apis
def test_memory_outside_captures_is_named(run: Run, folder: Path, api: Api) -> None:
    """Each kind refuses the region, as long as there is such memory."""
    run("memory_foreign")
    first, second = read_raw_captures(folder)
    kinds = ["managed memory", "host memory", "registered host memory"]
    kinds.append("memory of a pool with a size limit or exportable handles")
    reasons = [f"a kernel receives the address of {kind}, which a capture cannot contain" for kind in kinds]
    assert [refusal[1:] for refusal in first.refusals] == [
        (api.call("cuLaunchKernel"), reason) for reason in reasons
    ]
    assert second.refusals == []


@both_apis
def test_program_without_arena_addresses_runs_and_is_refused(run: Run, folder: Path) -> None:
    observed = run("memory_taken")
    assert "device memory has no fixed address" in observed.stderr
    (raw_capture,) = read_raw_captures(folder)
    assert [reason for _, _, reason in raw_capture.refusals] == [
        "device memory could not be served from the arena, so addresses differ in a replay"
    ]
    assert raw_capture.allocations == raw_capture.before == {}
