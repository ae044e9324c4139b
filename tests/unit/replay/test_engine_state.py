"""The rebuilt state matches the recorded one, and every run begins with it."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchguard.capture.layout import ARENA
from benchguard.capture.model import Launch, Limit, Setting
from tests.support.captures import CAPTURES, COUNTER, GRANULE, saxpy_capture
from tests.unit.replay.engine_captures import (
    CLOCK,
    COOPERATIVE,
    EVENT_OF_A_LAUNCH,
    FOLLOW,
    PEEK,
    add_one_capture,
    crossing_capture,
    global_capture,
    integers,
    one_kernel,
    scattered_capture,
)
from tests.unit.replay.engine_support import (
    BAD_CAPTURE,
    CANNOT,
    COLD,
    DRIVER,
    FAILED,
    NO_DRIVER,
    OURS,
    assert_exact,
    on_sim,
    replayed,
)

MODES = tuple(COLD)
gpu_only = pytest.mark.skipif(on_sim, reason="the CPU driver gives each block shared memory of zeros")
sim_only = pytest.mark.skipif(not on_sim, reason="asks the CPU driver for it")


@pytest.mark.parametrize("name", ["saxpy", "streams", "copies", "graph", "global"])
@pytest.mark.parametrize("cold", MODES)
def test_replayed_memory_matches_the_recorded_outcome(tmp_path: Path, name: str, cold: str) -> None:
    path = CAPTURES[name](tmp_path / "x.ncap")
    results = replayed(path, ["verify"], ["measure", 3], ["verify"], cold=cold)
    assert_exact(results[1])
    assert_exact(results[3])


@pytest.mark.parametrize("name", ["global", "graph", "streams"])
def test_code_copies_have_separate_globals(tmp_path: Path, name: str) -> None:
    path = CAPTURES[name](tmp_path / "x.ncap")
    results = replayed(path, ["verify"], ["measure", 10], ["verify"], cold_code=True)
    assert_exact(results[1])
    assert_exact(results[3])


@pytest.mark.parametrize("cold_code", [False, True])
def test_operations_on_a_moved_global_reach_it(tmp_path: Path, cold_code: bool) -> None:
    """The recorded address is not mapped. Each copy of the code has its own global."""
    path = global_capture(tmp_path / "x.ncap")
    results = replayed(
        path,
        ["verify"],
        ["samples", 5, COUNTER, 4],
        ["samples", 5, ARENA, 32],
        ["verify"],
        cold_code=cold_code,
    )
    assert_exact(results[1])
    assert {left for _, left in results[2]} == {b"BB\x08\x19".hex()}
    assert len({left for _, left in results[3]}) == 1
    assert_exact(results[4])


def test_scattered_memory_is_rebuilt(tmp_path: Path) -> None:
    path = scattered_capture(tmp_path / "x.ncap")
    sparse = ["read", ARENA + 3 * GRANULE + 512 * 4096, 8]
    prepared, *rest = replayed(path, ["verify"], sparse, ["read", ARENA + 8 * GRANULE, 4], cold="remap")
    assert prepared[1]["restored_bytes"] == 4 * GRANULE  # of 2 MiB each: one, two and one
    assert_exact(rest[0])
    assert rest[1] == integers([513, 0]).hex()
    assert rest[2] == integers([1]).hex()  # was zero, though nothing is known of it


def test_streams_keep_their_recorded_order(tmp_path: Path) -> None:
    path = crossing_capture(tmp_path / "x.ncap")
    results = replayed(path, ["verify"], ["samples", 20, ARENA, 8], ["verify"])
    assert results[0][1]["streams"] == 4
    assert_exact(results[1])
    assert [left for _, left in results[2]] == [integers([12, 12]).hex()] * 20


@pytest.mark.parametrize("cold", MODES)
def test_every_sample_begins_with_recorded_memory(tmp_path: Path, cold: str) -> None:
    path = add_one_capture(tmp_path / "x.ncap", launches=3)
    _, samples = replayed(path, ["samples", 5, ARENA, 4096], cold=cold)
    assert {left for _, left in samples} == {integers([i + 3 for i in range(1024)]).hex()}


@pytest.mark.parametrize("cold_code", [False, True])
def test_every_sample_begins_with_recorded_globals(tmp_path: Path, cold_code: bool) -> None:
    path = CAPTURES["global"](tmp_path / "x.ncap")
    _, samples = replayed(path, ["samples", 10, COUNTER, 4], cold_code=cold_code)
    assert {left for _, left in samples} == {integers([40 + 3 * 5]).hex()}


def test_accumulating_kernel_changes_its_memory(tmp_path: Path) -> None:
    """The control: what one launch left is what the next one begins with."""
    path = add_one_capture(tmp_path / "x.ncap", launches=7)
    assert replayed(path, ["once", 0xFFFFFFFF], ["read", ARENA, 4])[2] == integers([7]).hex()


@sim_only
def test_unrestored_state_accumulates(tmp_path: Path, forgetful_driver: Path) -> None:
    """The control of the tests above: they fail where restoring does nothing."""
    path = add_one_capture(tmp_path / "x.ncap")
    forgets = {"FORGET": "1"}
    _, samples = replayed(path, ["samples", 3, ARENA, 4], driver=str(forgetful_driver), environment=forgets)
    assert [left for _, left in samples] == [integers([n]).hex() for n in (2, 3, 4)]  # the first run warms up
    _, samples = replayed(path, ["samples", 3, ARENA, 4], driver=str(forgetful_driver))
    assert [left for _, left in samples] == [integers([1]).hex()] * 3


def test_verification_names_the_differing_allocation(tmp_path: Path) -> None:
    before, wrong = integers([5] * 2048), bytearray(integers([6] * 2048))
    wrong[4100:4102] = b"\xaa\xbb"
    path = one_kernel(
        tmp_path / "x.ncap", FOLLOW, "follow", struct.pack("<Q", ARENA + 8) + before, bytes(wrong)
    )
    count, (result,) = replayed(path, ["verify"])[1]
    assert count == 1
    assert (result["address"], result["bytes"], result["again"]) == (ARENA, 8200, False)
    assert result["first_offset"] == 0
    assert result["expected"].startswith("06000000")


def test_verification_reports_nondeterminism(tmp_path: Path) -> None:
    path = one_kernel(tmp_path / "x.ncap", CLOCK, "clock", bytes(8), b"\1" * 8)
    count, (result,) = replayed(path, ["verify"])[1]
    assert (count, result["again"]) == (1, True)


def test_cooperative_launch_with_limits_and_attributes_replays(tmp_path: Path) -> None:
    def cooperative(launch: Launch) -> Launch:
        return replace(launch, attributes=(COOPERATIVE,), shared_bytes=65536)

    path = one_kernel(
        tmp_path / "x.ncap",
        FOLLOW,
        "follow",
        struct.pack("<QQ", ARENA + 8, 0),
        struct.pack("<QQ", ARENA + 8, 1),
        cooperative,
        (Setting(8, 65536),),
        (Limit(0, 4096), Limit(1, 1 << 20)),
    )
    assert_exact(replayed(path, ["verify"])[1])


def test_launch_attribute_with_an_event_is_unreplayable(tmp_path: Path) -> None:
    def with_event(launch: Launch) -> Launch:
        return replace(launch, attributes=(EVENT_OF_A_LAUNCH,))

    path = one_kernel(
        tmp_path / "x.ncap", FOLLOW, "follow", struct.pack("<QQ", ARENA + 8, 0), launch=with_event
    )
    (refused,) = replayed(path)
    assert refused["status"] == CANNOT
    assert "launch attribute 7" in refused["text"]


def test_unreasonable_context_limit_is_refused(tmp_path: Path) -> None:
    path = one_kernel(tmp_path / "x.ncap", FOLLOW, "follow", bytes(16), limits=(Limit(0, 1 << 30),))
    (refused,) = replayed(path)
    assert refused["status"] == CANNOT
    assert "limit 0 of the captured context was 1073741824" in refused["text"]


def test_kernel_missing_in_its_image_fails(tmp_path: Path) -> None:
    path = one_kernel(tmp_path / "x.ncap", FOLLOW, "another", bytes(16))
    (refused,) = replayed(path)
    assert refused["status"] == BAD_CAPTURE
    assert "kernel another is not in its image: CUDA_ERROR_NOT_FOUND (500)" in refused["text"]


def test_occupied_recorded_address_is_unreplayable(tmp_path: Path) -> None:
    """No driver gives the addresses of the executable, the stack and libraries; here the last page of all."""
    path = add_one_capture(tmp_path / "x.ncap", address=0x7FFFFFE00000)
    (refused,) = replayed(path)
    assert refused["status"] == CANNOT
    assert "0x7fffffe00000-0x800000000000" in refused["text"]


@sim_only
@pytest.mark.parametrize("address", [ARENA, 0x320000000000], ids=["arena", "elsewhere"])
def test_driver_ignoring_small_reservation_addresses_is_worked_around(
    tmp_path: Path, forgetful_driver: Path, address: int
) -> None:
    path = add_one_capture(tmp_path / "x.ncap", address=address)
    small = {"SMALL_ELSEWHERE": "1"}
    assert_exact(replayed(path, ["verify"], driver=str(forgetful_driver), environment=small)[1])


@sim_only
@pytest.mark.parametrize(("width", "status"), [(2, None), (4, FAILED)])
def test_compiled_kernel_attributes_are_not_set_again(
    tmp_path: Path, forgetful_driver: Path, width: int, status: int | None
) -> None:
    before, after = struct.pack("<QQ", ARENA + 8, 0), struct.pack("<QQ", ARENA + 8, 1)
    settings = (Setting(11, width),)
    path = one_kernel(tmp_path / "x.ncap", FOLLOW, "follow", before, after, attributes=settings)
    clusters = {"COMPILED_CLUSTERS": "1"}
    results = replayed(path, ["verify"], driver=str(forgetful_driver), environment=clusters)
    assert results[0]["status"] == status if status else results[1] == [0, []]


@pytest.mark.full
@sim_only
@pytest.mark.parametrize(("cold", "sets"), [("none", 1), ("remap", 2)])
def test_insufficient_device_memory_is_unreplayable(tmp_path: Path, cold: str, sets: int) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=12 << 20)
    memory = {"SIM_MEMORY_BYTES": str(64 << 20)}
    (refused,) = replayed(path, cold=cold, environment=memory)
    assert refused["status"] == CANNOT
    assert f"state {sets} x 48.0, its copy 48.0" in refused["text"]
    assert ("--cold flush" in refused["text"]) == (sets > 1)


@pytest.mark.full
@sim_only
def test_memory_exhausted_while_preparing_is_unreplayable(tmp_path: Path) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=12 << 20)
    (refused,) = replayed(path, environment={"SIM_INJECT": "cuMemCreate=fail(2)"})
    assert refused["status"] == CANNOT
    assert "no room for the recorded memory (48.0 MiB, 1 times)" in refused["text"]


@sim_only
@pytest.mark.parametrize(
    "call", ["cuMemMap", "cuModuleLoadDataEx:2", "cuGraphInstantiate*", "cuLaunchKernelEx"]
)
def test_driver_error_is_quoted(tmp_path: Path, call: str) -> None:
    path = CAPTURES["graph"](tmp_path / "x.ncap")
    results = replayed(path, ["once", 0xFFFFFFFF], environment={"SIM_INJECT": f"{call}=fail(999)"})
    failed = next((each for each in results if isinstance(each, dict)), None)
    if call == "cuLaunchKernelEx":
        assert failed is None  # a graph's kernels need none
    else:
        assert failed is not None
        assert "CUDA_ERROR_UNKNOWN (999)" in failed["text"]


def test_missing_driver_is_an_error(tmp_path: Path) -> None:
    (refused,) = replayed(saxpy_capture(tmp_path / "x.ncap"), driver=str(tmp_path / "libcuda.so.1"))
    assert refused["status"] == NO_DRIVER
    assert "libcuda.so.1: cannot open shared object file" in refused["text"]


def test_library_that_is_not_a_driver_is_refused(tmp_path: Path) -> None:
    (refused,) = replayed(saxpy_capture(tmp_path / "x.ncap"), driver="libc.so.6")
    assert refused["status"] == NO_DRIVER
    assert "libc.so.6 has no cuInit" in refused["text"]


def test_calls_before_preparing_are_refused(tmp_path: Path) -> None:
    results = replayed(saxpy_capture(tmp_path / "x.ncap"), ["measure", 1], driver="libc.so.6")
    assert results[1]["status"] == OURS


def test_recorded_refusal_is_reported(tmp_path: Path) -> None:
    results = replayed(CAPTURES["refused"](tmp_path / "x.ncap"), ["refusal", 0], ["refusal", 1])
    assert (
        results[1] == "after 1 operations cuMemcpyDtoH_v2: reads device memory; what follows may depend on it"
    )
    assert results[2] is None


def peeked(folder: Path, *, scrub: bool, cold: str = "none") -> list[tuple[int, ...]]:
    """The words that 128 blocks find in 4 KiB of shared memory, in each of three samples.

    Each block leaves a mark there. They are at most one a multiprocessor, so that none finds a mark of its own sample.
    """
    blocks = 128
    size = blocks * 4096

    def wide(launch: Launch) -> Launch:
        return replace(launch, grid=(blocks, 1, 1), block=(1024, 1, 1), shared_bytes=4096)

    path = one_kernel(folder / "x.ncap", PEEK, "peek", b"\1" * size, launch=wide)
    _, samples = replayed(path, ["samples", 4, ARENA, size], driver=DRIVER, scrub=scrub, cold=cold)
    return [struct.unpack(f"<{size // 4}I", bytes.fromhex(sample[1])) for sample in samples[1:]]


@gpu_only
@pytest.mark.parametrize("scrub", [True, False])
def test_shared_memory_keeps_nothing_from_sample_to_sample(tmp_path: Path, scrub: bool) -> None:
    samples = peeked(tmp_path, scrub=scrub)
    assert any(0x5EC2E700 in each for each in samples) == (not scrub)


@gpu_only
@pytest.mark.parametrize("cold", ["none", "flush"])
def test_shared_memory_has_other_words_in_each_place_and_sample(tmp_path: Path, cold: str) -> None:
    """The first KiB of a block's can be the driver's. Some lines can be of kernels behind the one that fills."""
    samples = [
        [words[at + 256 : at + 1024] for at in range(0, len(words), 1024)]
        for words in peeked(tmp_path, scrub=True, cold=cold)
    ]
    for blocks in samples:
        assert all(len(set(block)) > len(block) // 2 for block in blocks)
    for blocks, later in itertools.pairwise(samples):
        assert all(len(set(block) & set(then)) < 4 for block, then in zip(blocks, later, strict=True))
