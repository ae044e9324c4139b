"""One sample: its inputs, its poison, its times, and its end if a kernel does not end."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchguard.capture.layout import ARENA
from tests.support.captures import CAPTURES, COUNTER, GRANULE, saxpy_capture
from tests.unit.replay.engine_captures import (
    CLEAR,
    ENDLESS,
    FOLLOW,
    add_one_capture,
    forked_capture,
    integers,
    one_kernel,
)
from tests.unit.replay.engine_support import (
    CANNOT,
    COLD,
    FAILED,
    NOTHING,
    OURS,
    TIMEOUT,
    assert_exact,
    on_sim,
    replayed,
)

sim_only = pytest.mark.skipif(not on_sim, reason="asks the CPU driver for it")


@pytest.mark.parametrize("cold", tuple(COLD))
def test_input_sets_replace_recorded_bytes(tmp_path: Path, cold: str) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    sets = [integers([1000 * (number + 1)] * 256) for number in range(4)]
    inputs = [["input", number, ARENA, data.hex()] for number, data in enumerate(sets)]
    *_, samples = replayed(path, *inputs, ["samples", 24, ARENA, 1024], cold=cold)
    for sample, left in samples:
        assert left == integers([1000 * (sample["input_set"] + 1) + 1] * 256).hex()
    assert {sample["input_set"] for sample, _ in samples} == {0, 1, 2, 3}


def test_input_set_replaces_a_global(tmp_path: Path) -> None:
    path = CAPTURES["global"](tmp_path / "x.ncap")
    value = ["input", 0, COUNTER, integers([1000]).hex()]
    results = replayed(
        path, value, ["samples", 9, COUNTER, 4], ["once", 0], ["read", COUNTER, 4], cold_code=True
    )
    assert [left for _, left in results[2]] == [integers([1015]).hex()] * 9
    assert results[4] == integers([1015]).hex()


def test_sample_in_a_row_finds_the_memory_that_the_run_before_left(tmp_path: Path) -> None:
    path = CAPTURES["global"](tmp_path / "x.ncap")
    measure, read = ["measured", NOTHING], ["read", COUNTER, 4]
    steps = [measure, read, ["follow", 1], measure, read, measure, read, ["follow", 0], measure, read]
    results = replayed(path, *steps)
    first, second, third, restored = (
        struct.unpack("<i", bytes.fromhex(each))[0] for each in results if isinstance(each, str)
    )
    assert (second, third, restored) == (first + 15, first + 30, first)


def test_sample_in_a_row_gets_its_input_set(tmp_path: Path) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=4)
    inputs = [["input", number, ARENA, integers([10 * (number + 1)] * 4).hex()] for number in range(2)]
    steps = [["measured", 0], ["follow", 1], ["measured", 1], ["read", ARENA, 16]]
    *_, left = replayed(path, *inputs, *steps)
    assert left == integers([21] * 4).hex()


def test_recorded_inputs_remain_available(tmp_path: Path) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=1)
    steps: list[list[Any]] = [
        ["input", 0, ARENA, integers([70]).hex()],
        ["measure", 2],
        ["once", 0xFFFFFFFF],
        ["read", ARENA, 4],
        ["verify"],
        ["once", 1],
    ]
    results = replayed(path, *steps, cold="remap")
    assert results[4] == integers([1]).hex()
    assert_exact(results[5])
    assert results[6]["status"] == OURS


def test_output_poison_differs_in_each_sample(tmp_path: Path) -> None:
    """The kernel writes 1024 integers and leaves those behind them alone."""
    path = saxpy_capture(tmp_path / "x.ncap", n=1000)
    output = ["output", ARENA, 4000]  # x, which saxpy only reads
    _, _, samples = replayed(path, output, ["samples", 8, ARENA, 4000], cold="none")
    left = [bytes.fromhex(each) for _, each in samples]
    assert all(len(set(each)) == 1 and each[0] != 0 for each in left)
    assert len(set(left)) > 4


def test_output_given_as_input_begins_as_the_input(tmp_path: Path) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=1)
    steps: list[list[Any]] = [["output", ARENA, 4], ["input", 0, ARENA, integers([70]).hex()]]
    *_, samples = replayed(path, *steps, ["samples", 2, ARENA, 4])
    assert [left for _, left in samples] == [integers([71]).hex()] * 2


@pytest.mark.parametrize(
    "step",
    [
        ["input", 0, ARENA - 4, "00000000"],
        ["input", 0, ARENA + 4094, "00000000"],
        ["input", 0, ARENA, ""],
        ["output", ARENA + 4096, 4],
        ["output", 0xFFFFFFFFFFFFFFFC, 8],
        ["read", ARENA + GRANULE, 4],
        ["read", ARENA, GRANULE + 1],
    ],
)
def test_input_outside_the_capture_is_refused(tmp_path: Path, step: list[Any]) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=1024)
    _, refused, after = replayed(path, step, ["measure", 1])
    assert refused["status"] == CANNOT
    assert len(after) == 1


def test_sample_times_are_consistent(tmp_path: Path) -> None:
    path = saxpy_capture(tmp_path / "x.ncap")
    prepared, samples, overhead = replayed(path, ["measure", 10], ["overhead"])
    assert prepared[1]["primed"] == 1
    for sample in samples:
        assert 0 < sample["device_us"] <= sample["host_us"] * 1.5
        assert sample["restore_us"] > 0
        assert sample["clock_mhz"] > 100
        assert (sample["input_set"], sample["flags"]) == (NOTHING, 0)
    assert 0 < overhead["empty_pair_us"] < overhead["empty_kernel_us"]
    assert 0 < overhead["tick_us"] <= overhead["empty_pair_us"]


def test_long_region_is_not_queued_behind_a_held_stream(tmp_path: Path) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=1, launches=300)
    prepared, samples, verified = replayed(path, ["measure", 2], ["verify"])
    assert (prepared[1]["primed"], prepared[1]["operations"]) == (0, 300)
    assert all(sample["flags"] == 0 for sample in samples)
    assert_exact(verified)


@sim_only
def test_held_stream_continues_after_its_limit(tmp_path: Path) -> None:
    """The host takes longer to queue a sample than the stream is held."""
    path = add_one_capture(tmp_path / "x.ncap", n=1, launches=20)
    slow = {"SIM_INJECT": "cuLaunchKernelEx=delay(10ms)"}
    _, samples = replayed(path, ["measure", 1], environment=slow, prime_limit_ms=20)
    assert samples[0]["flags"] == 1


@sim_only
def test_kernel_cannot_clear_the_flag_of_a_stream_that_was_held_too_shortly(
    tmp_path: Path, forgetful_driver: Path
) -> None:
    """The flag lies in memory that kernels write. The host knows by its own clock that the limit has passed."""
    path = one_kernel(tmp_path / "x.ncap", CLEAR, "clear", bytes(8))
    flag: list[Any] = ["point", 0, ARENA, "pinned", 0, 64]
    slow = {"SIM_INJECT": "cuLaunchKernelEx=delay(30ms)", "CALL_LOG": str(tmp_path / "calls")}
    *_, samples = replayed(
        path, flag, ["measure", 1], driver=str(forgetful_driver), environment=slow, prime_limit_ms=20
    )
    assert (samples[0]["flags"], samples[0]["span_us"]) == (1, 0)


@pytest.mark.parametrize("prime", [False, True])
def test_endless_kernel_times_out(tmp_path: Path, prime: bool) -> None:
    path = one_kernel(tmp_path / "x.ncap", ENDLESS, "endless", b"\1\0\0\0")
    endless = ["input", 0, ARENA, "00000000"]
    _, _, failed, after = replayed(path, endless, ["measure", 1], ["measure", 1], timeout_ms=500, prime=prime)
    assert failed["status"] == after["status"] == TIMEOUT
    assert failed["text"] == "the region did not end in 500 ms"
    assert "replay in a new process" in after["text"]


def test_kernel_reading_unmapped_memory_fails(tmp_path: Path) -> None:
    """Its pointer leads to where the recorded program had something, and the capture has not."""
    path = one_kernel(tmp_path / "x.ncap", FOLLOW, "follow", struct.pack("<Q", ARENA + 64 * GRANULE))
    _, failed, after = replayed(path, ["measure", 1], ["verify"])
    assert failed["status"] == after["status"] == FAILED
    assert failed["text"].startswith("the region failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)")


def test_failed_operation_is_named_when_stepping(tmp_path: Path) -> None:
    path = one_kernel(tmp_path / "x.ncap", FOLLOW, "follow", struct.pack("<Q", ARENA + 64 * GRANULE))
    _, failed = replayed(path, ["once", 0xFFFFFFFF], step=True)
    assert failed["status"] == FAILED
    assert failed["text"] == "operation 0 (kernel follow): it failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)"


@sim_only
def test_device_time_is_the_events_elapsed_time(tmp_path: Path, forgetful_driver: Path) -> None:
    """With events that take 1.25 us a pair and steps of 32 ns, as an H200's."""
    path = saxpy_capture(tmp_path / "x.ncap")
    clock = {"EVENT_STEP_NS": "32", "EVENT_BASE_NS": "1248"}
    _, overhead, samples = replayed(
        path, ["overhead"], ["measure", 3], driver=str(forgetful_driver), environment=clock
    )
    assert overhead["tick_us"] == pytest.approx(0.032)
    assert overhead["empty_pair_us"] == pytest.approx(1.28)
    assert {round(1000 * sample["device_us"]) for sample in samples} == {1248, 1280, 1312}


@sim_only
def test_sample_steps_run_in_order(tmp_path: Path, forgetful_driver: Path) -> None:
    """Only the region is between the events, and the stream is held before it and stamped around it."""
    log = tmp_path / "calls"
    path = saxpy_capture(tmp_path / "x.ncap")
    calls = {"CALL_LOG": str(log)}
    replayed(path, ["measure", 2], driver=str(forgetful_driver), environment=calls)
    events = log.read_text().split()
    fill = ["nb_noise", "nb_fill_shared"]
    sample = ["nb_stamp", "nb_hold", *fill, "record", "saxpy", "record", "nb_time", "nb_stamp", "elapsed"]
    assert events[-len(sample) :] == sample
    assert Counter(events)["saxpy"] == 3  # one to warm up


@sim_only
def test_samples_begin_after_different_numbers_of_launches(tmp_path: Path, forgetful_driver: Path) -> None:
    """Else the number of a sample's own launches would choose its multiprocessors' order, and its time."""
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    log = {"CALL_LOG": str(tmp_path / "calls")}
    replayed(path, ["measure", 64], driver=str(forgetful_driver), environment=log)
    names = names_in(tmp_path / "calls")
    numbers = set()
    for index in (at for at, name in enumerate(names) if name == "nb_hold"):
        assert names[index - 1] == "nb_stamp"
        before = names[index - 2 :: -1]
        numbers.add(next(n for n, name in enumerate(before) if name != "nb_empty"))
    assert numbers == set(range(8))


@sim_only
@pytest.mark.parametrize("cold", ["flush", "remap", "rotate"])
def test_device_is_busy_until_the_start_event(tmp_path: Path, forgetful_driver: Path, cold: str) -> None:
    """An idle device is slower at first (an H200 by 2 % after 100 us): caches are prepared behind the held stream."""
    log = tmp_path / "calls"
    path = saxpy_capture(tmp_path / "x.ncap")
    calls = {"CALL_LOG": str(log)}
    replayed(path, ["measure", 2], driver=str(forgetful_driver), environment=calls, cold=cold)
    assert "nb_hold nb_read nb_noise nb_fill_shared record saxpy record" in " ".join(log.read_text().split())


@sim_only
@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (True, "add_one record add_one record add_one"),  # the region's own events are all that is needed
        (False, "record add_one add_one add_one record"),  # forked from the timed stream, joined to it
    ],
)
def test_streams_are_ordered_with_the_fewest_events(
    tmp_path: Path, forgetful_driver: Path, events: bool, expected: str
) -> None:
    log = tmp_path / "calls"
    path = forked_capture(tmp_path / "x.ncap", events)
    calls = {"CALL_LOG": str(log)}
    _, _, verified = replayed(
        path, ["measure", 1], ["verify"], driver=str(forgetful_driver), environment=calls
    )
    assert_exact(verified)
    sample = f"nb_hold nb_noise nb_fill_shared record {expected} record nb_time nb_stamp elapsed"
    assert sample in " ".join(log.read_text().split())


@pytest.mark.parametrize("cold", tuple(COLD))
@pytest.mark.parametrize("strict", [False, True])
def test_warm_samples_begin_with_restored_memory(tmp_path: Path, cold: str, strict: bool) -> None:
    """Reading the state into the cache, and taking cache policies back, changes none of it."""
    if strict and cold in ("remap", "rotate"):
        pytest.skip("strict keeps no copies of the state")
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    given = ["input", 0, ARENA, integers([7] * 256).hex()]
    taken = ["samples", 3, ARENA, 1024]
    *_, cold_ones, on, warm_ones, off, again = replayed(
        path,
        given,
        taken,
        ["warm", True],
        taken,
        ["warm", False],
        taken,
        cold=cold,
        guard=strict,
        strict=strict,
    )
    assert (on, off) == (None, None)
    assert [left for _, left in (*cold_ones, *warm_ones, *again)] == [integers([8] * 256).hex()] * 9


def test_recorded_content_after_the_region_can_be_read(tmp_path: Path) -> None:
    """The capture holds memory and globals, and nothing at other addresses."""
    path = CAPTURES["saxpy"](tmp_path / "x.ncap")
    y = ARENA + GRANULE
    *_, middle, beyond, across = replayed(
        path, ["recorded", y + 40, 8], ["recorded", y + 4096, 4], ["recorded", y + 4092, 8]
    )
    assert struct.unpack("<2f", bytes.fromhex(middle)) == (3.0 * 10, 3.0 * 11)
    assert (beyond, across) == (None, None)
    path = CAPTURES["global"](tmp_path / "g.ncap")
    *_, counter, beside = replayed(path, ["recorded", COUNTER, 4], ["recorded", COUNTER + 4, 4])
    assert counter == replayed(path, ["once", NOTHING], ["read", COUNTER, 4])[-1]
    assert beside is None


def names_in(log: Path) -> list[str]:
    return [words[0] for line in log.read_text().splitlines() if (words := line.split())]


@sim_only
@pytest.mark.parametrize(("cold", "flushes"), [("none", 0), ("flush", 1)])
def test_warm_sample_reads_the_state_after_the_flush(
    tmp_path: Path, forgetful_driver: Path, cold: str, flushes: int
) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    reads = []
    for warm in (False, True):
        log = {"CALL_LOG": str(tmp_path / "calls")}
        replayed(
            path, ["warm", warm], ["measure", 1], cold=cold, driver=str(forgetful_driver), environment=log
        )
        reads.append(names_in(tmp_path / "calls").count("nb_read"))
    assert reads == [flushes, flushes + 1]


@sim_only
@pytest.mark.parametrize(("cold", "demotes"), [("none", 0), ("flush", 1), ("memset", 1)])
def test_cache_policies_are_taken_off_before_the_flush(
    tmp_path: Path, forgetful_driver: Path, cold: str, demotes: int
) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    log = {"CALL_LOG": str(tmp_path / "calls")}
    replayed(path, ["measure", 2], cold=cold, driver=str(forgetful_driver), environment=log)
    names = names_in(tmp_path / "calls")
    assert names.count("nb_demote") == 2 * demotes
    if demotes:
        assert names.index("nb_demote") < names.index("nb_hold")


@sim_only
def test_physical_memory_begins_at_a_place_of_each_process(tmp_path: Path, forgetful_driver: Path) -> None:
    """Drawn from the seed, which is random unless a test gives it."""
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    sizes = []
    for seed in (1, 2, 3, 1):
        log = {"CALL_LOG": str(tmp_path / "calls")}
        *_, sample, left = replayed(
            path, ["measure", 1], ["read", ARENA, 4], seed=seed, driver=str(forgetful_driver), environment=log
        )
        assert sample and left == integers([1]).hex()
        lines = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
        sizes.append(tuple(int(words[2]) for words in lines if words[0] == "created"))
    assert sizes[0] == sizes[3] and len(set(sizes)) == 3
    assert all(size % GRANULE == 0 and size <= 32 * GRANULE for each in sizes for size in each)
