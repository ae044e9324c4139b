"""A capture of an adversary's: a kernel that knows where our memory is finds nothing there that lasts."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path
from typing import Any

import pytest

from benchguard.capture.layout import ARENA, AllocationFlag
from benchguard.capture.model import Attribute, Kernel, Launch, Limit, MemcpyHtoD
from tests.support.captures import CAPTURES, COUNTER, GRANULE, PTX_HEAD, Builder, Memory
from tests.unit.replay.engine_captures import (
    ADD_ONE,
    ONE,
    POINTER,
    REMEMBER,
    add_one_capture,
    integers,
    one_kernel,
)
from tests.unit.replay.engine_support import CANNOT, FAILED, NOTHING, OURS, assert_exact, on_sim, replayed

STRICT = {"guard": True, "strict": True}
MIB = 1 << 20
MODES = ("none", "flush", "memset")
FOUND = ["samples", 4, ARENA + 8, 4]
POINTER_BYTES = struct.pack("<QI", ARENA + 8, 0)

sim_only = pytest.mark.skipif(not on_sim, reason="asks the CPU driver where our memory is, or to be late")


def remembering(folder: Path, forgetful_driver: Path, target: list[Any], **options: Any) -> list[Any]:
    """Counts at our memory in four samples: what it finds in each, or the error.

    `target`: which address of the driver's log, and how far behind it.
    """
    capture = one_kernel(folder / "x.ncap", REMEMBER, "remember", POINTER_BYTES + bytes(4096))
    log = {"CALL_LOG": str(folder / "calls")}
    point = ["point", 0, ARENA, *target]
    results = replayed(capture, point, FOUND, driver=str(forgetful_driver), environment=log, **options)
    if isinstance(results[2], dict):
        return [results[2]]
    return [struct.unpack("<I", bytes.fromhex(left))[0] for _, left in results[2]]


THE_COPY_OF_THE_STATE = ["reserved", 0, 64]
STAGING = ["pinned", 1, 900 << 10]
SINK = ["allocated", 0, 128]
SHARED_NOISE = ["allocated", 1, 128]


@sim_only
@pytest.mark.parametrize("cold", MODES)
def test_shadow_is_unmapped_while_the_region_runs(tmp_path: Path, forgetful_driver: Path, cold: str) -> None:
    (failed,) = remembering(tmp_path, forgetful_driver, THE_COPY_OF_THE_STATE, cold=cold, **STRICT)
    assert failed["status"] == FAILED
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in failed["text"]


@sim_only
@pytest.mark.parametrize("guard", [True, False])
def test_later_input_sets_are_unmapped_while_the_region_runs(
    tmp_path: Path, forgetful_driver: Path, guard: bool
) -> None:
    """The input set is a separate piece: the shadow fills the first piece, and no size was announced."""
    whole = POINTER_BYTES + bytes(GRANULE - len(POINTER_BYTES) - 1) + b"x"
    capture = one_kernel(tmp_path / "x.ncap", REMEMBER, "remember", whole)
    later: list[Any] = ["input", 1, ARENA + 4096, b"secret".hex()]
    point = ["point", 0, ARENA, "reserved", 1, 0]
    log = {"CALL_LOG": str(tmp_path / "calls")}
    *_, sample, left = replayed(
        capture,
        later,
        point,
        ["measured", 0],
        ["read", ARENA + 8, 4],
        driver=str(forgetful_driver),
        environment=log,
        guard=guard,
    )
    if guard:
        assert sample["status"] == FAILED
    else:  # the control: the first run, which warms up, found it, and counted
        assert left == (struct.unpack("<I", b"secr")[0] + 1).to_bytes(4, "little").hex()


@sim_only
def test_unguarded_shadow_can_be_changed_by_a_kernel(tmp_path: Path, forgetful_driver: Path) -> None:
    """The control: the tests above fail where nothing is unmapped."""
    result = remembering(tmp_path, forgetful_driver, THE_COPY_OF_THE_STATE)
    assert [value - result[0] for value in result] == [0, 1, 2, 3]


@sim_only
@pytest.mark.parametrize("target", [STAGING, SINK], ids=["staging", "sink"])
def test_mapped_engine_memory_is_rewritten_before_each_sample(
    tmp_path: Path, forgetful_driver: Path, target: list[Any]
) -> None:
    assert remembering(tmp_path, forgetful_driver, target, **STRICT) == [0, 0, 0, 0]
    result = remembering(tmp_path, forgetful_driver, target)
    assert [value - result[0] for value in result] == [0, 1, 2, 3]


@sim_only
@pytest.mark.parametrize("strict", [False, True])
def test_noise_of_shared_memory_is_gone_when_the_region_runs(
    tmp_path: Path, forgetful_driver: Path, strict: bool
) -> None:
    options = STRICT if strict else {}
    assert remembering(tmp_path, forgetful_driver, SHARED_NOISE, **options) == [0, 0, 0, 0]


@sim_only
@pytest.mark.parametrize("cold", ["flush", "memset"])
@pytest.mark.parametrize("half", [0, 1])
def test_scratch_memory_is_rewritten_before_each_sample(
    tmp_path: Path, forgetful_driver: Path, cold: str, half: int
) -> None:
    scratch = ["allocated", 2, 64 + half * scratch_bytes(tmp_path, forgetful_driver)]
    result = remembering(tmp_path, forgetful_driver, scratch, cold=cold, **STRICT)
    assert len(set(result)) == 4 and all(b != a + 1 for a, b in itertools.pairwise(result))
    if half == 1:
        result = remembering(tmp_path, forgetful_driver, scratch, cold=cold)
        assert [value - result[0] for value in result] == [0, 1, 2, 3]


def scratch_bytes(folder: Path, forgetful_driver: Path) -> int:
    """Bytes of a half of the scratch memory."""
    log = folder / "scratch"
    replayed(
        add_one_capture(folder / "scratch.ncap", n=1),
        driver=str(forgetful_driver),
        environment={"CALL_LOG": str(log)},
        cold="flush",
    )
    return (
        int([line for line in log.read_text().splitlines() if line.startswith("allocated")][2].split()[2])
        // 2
    )


def upload_capture(path: Path) -> Path:
    """Uploads 4 bytes, then counts where the pointer leads."""
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + REMEMBER)
        builder.add(Kernel(module, 8, 8, 0, 0, 1024, "remember", POINTER))
        builder.stream()
        builder.memory(Memory(ARENA, POINTER_BYTES, b"", 4096))
        builder.operation(MemcpyHtoD(0, ARENA + 64, 4, 0, 4, 1, 1, builder.content(integers([5]))))
        builder.operation(Launch(0, 0, ONE, ONE, 0, struct.pack("<Q", ARENA)))
        builder.end()
    return path


@sim_only
def test_host_uploads_are_rewritten_before_each_sample(tmp_path: Path, forgetful_driver: Path) -> None:
    """A kernel that has the address of the pinned memory writes to what the next sample uploads."""

    def uploaded(**options: Any) -> list[str]:
        results = replayed(
            upload_capture(tmp_path / "x.ncap"),
            ["point", 0, ARENA, "pinned", 2, 0],
            ["samples", 3, ARENA + 64, 4],
            driver=str(forgetful_driver),
            environment={"CALL_LOG": str(tmp_path / "calls")},
            **options,
        )
        return [left for _, left in results[2]]

    assert uploaded() == [integers([n]).hex() for n in (6, 7, 8)]  # the first run warms up
    assert uploaded(**STRICT) == [integers([5]).hex()] * 3


@pytest.mark.parametrize("name", ["saxpy", "streams", "copies", "graph", "global"])
@pytest.mark.parametrize("cold", MODES)
def test_strict_replay_matches_the_recorded_outcome(tmp_path: Path, name: str, cold: str) -> None:
    capture = CAPTURES[name](tmp_path / "x.ncap")
    results = replayed(
        capture, ["verify"], ["measure", 3], ["once", NOTHING], ["verify"], cold=cold, **STRICT
    )
    assert_exact(results[1])
    assert_exact(results[4])


@pytest.mark.parametrize("input_bytes", [0, 1 << 20])
def test_strict_replay_writes_and_guards_inputs(tmp_path: Path, input_bytes: int) -> None:
    capture = add_one_capture(tmp_path / "x.ncap", n=256)
    inputs = [["input", number, ARENA, integers([1000 * (number + 1)] * 256).hex()] for number in range(12)]
    *_, samples = replayed(capture, *inputs, ["samples", 24, ARENA, 1024], input_bytes=input_bytes, **STRICT)
    for sample, left in samples:
        assert left == integers([1000 * (sample["input_set"] + 1) + 1] * 256).hex()
        assert sample["guard_us"] > 0
    (_, plain) = replayed(capture, ["measure", 1])
    assert plain[0]["guard_us"] < 5


@sim_only
@pytest.mark.parametrize(("sets", "one_set"), [(1, 0), (20, 0), (40, 1), (128, 1)])
def test_device_holds_all_input_sets_if_they_leave_half_of_its_memory(
    tmp_path: Path, sets: int, one_set: int
) -> None:
    capture, memory = add_one_capture(tmp_path / "x.ncap", n=256), {"SIM_MEMORY_BYTES": str(64 * MIB)}
    inputs = {"input_bytes": sets * MIB, "set_bytes": MIB}
    ((_, prepared),) = replayed(capture, environment=memory, **inputs, **STRICT)
    assert prepared["one_set"] == one_set


@sim_only
def test_inputs_that_must_all_be_held_are_refused_without_room(tmp_path: Path) -> None:
    capture, memory = add_one_capture(tmp_path / "x.ncap", n=256), {"SIM_MEMORY_BYTES": str(64 * MIB)}
    (refused,) = replayed(capture, environment=memory, input_bytes=128 * MIB, **STRICT)
    assert refused["status"] == CANNOT and "inputs 128.0" in refused["text"]


def test_strict_replay_restores_globals_of_every_code_copy(tmp_path: Path) -> None:
    capture = CAPTURES["global"](tmp_path / "x.ncap")
    _, samples = replayed(capture, ["samples", 10, COUNTER, 4], cold_code=True, **STRICT)
    assert {left for _, left in samples} == {integers([40 + 3 * 5]).hex()}


@pytest.mark.parametrize("cold", ["remap", "rotate"])
def test_strict_replay_refuses_copies_of_the_state(tmp_path: Path, cold: str) -> None:
    (refused,) = replayed(add_one_capture(tmp_path / "x.ncap"), cold=cold, **STRICT)
    assert refused["status"] == OURS


@pytest.mark.parametrize("offset", range(5))
@pytest.mark.parametrize("size", [1, 3, 4, 6, 4000])
def test_strict_poison_differs_in_every_word(tmp_path: Path, offset: int, size: int) -> None:
    """The kernel writes none of it. Words differ from each other and from sample to sample."""
    capture = one_kernel(tmp_path / "x.ncap", REMEMBER, "remember", POINTER_BYTES + bytes(8192))
    at = ARENA + 64 + offset
    steps: list[list[Any]] = [["output", at, size], ["samples", 6, at - 8, size + 16]]
    samples = [bytes.fromhex(left) for _, left in replayed(capture, *steps, **STRICT)[2]]
    assert all(left[:8] == left[-8:] == bytes(8) for left in samples)
    inside = [left[8:-8] for left in samples]
    assert all(any(left[byte] for left in inside) for byte in range(size))
    assert len(set(inside)) > 4
    if size > 16:
        words = {left[4 * n : 4 * n + 4] for left in inside for n in range(1, size // 4)}
        assert len(words) > size


def temporary_capture(path: Path) -> Path:
    """Memory that the region allocates, and frees, beside one that it began with; the first is counted in.

    One temporary lies where something was when the region began, which the kernel is given: not to be touched.
    """
    at = [ARENA, ARENA + 2 * GRANULE]
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + REMEMBER)
        builder.add(Kernel(module, 8, 8, 0, 0, 1024, "remember", POINTER))
        builder.stream()
        builder.memory(Memory(at[0], struct.pack("<QI", at[1], 0), b"", 4096))
        builder.memory(Memory(at[0], b"", b"", 4096), AllocationFlag(0))
        builder.memory(Memory(at[1], b"", b"", 4096), AllocationFlag(0))
        builder.operation(Launch(0, 0, ONE, ONE, 0, struct.pack("<Q", at[0])))
        builder.end()
    return path


def test_temporaries_hold_different_noise_in_each_sample(tmp_path: Path) -> None:
    capture = temporary_capture(tmp_path / "x.ncap")

    def found(**options: Any) -> list[int]:
        samples = replayed(capture, ["samples", 4, ARENA + 8, 4], **options)[1]
        return [struct.unpack("<I", bytes.fromhex(left))[0] for _, left in samples]

    assert found() == [0, 0, 0, 0]
    strict = found(**STRICT)
    assert len(set(strict)) == 4 and 0 not in strict


WINDOW = Attribute(1, struct.pack("<QQfII36x", ARENA, 4096, 1.0, 2, 1))
EARLY = Attribute(6, struct.pack("<i60x", 1))
PRIORITY = Attribute(8, struct.pack("<i60x", -1))


def early_capture(path: Path) -> Path:
    """Two launches that ask for everything."""
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + ADD_ONE)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "add_one"))
        builder.stream()
        builder.memory(Memory(ARENA, integers([5]), integers([7])))
        for _ in range(2):
            attributes = (WINDOW, EARLY, PRIORITY)
            parameters = struct.pack("<QI", ARENA, 1)
            builder.operation(Launch(0, 0, ONE, ONE, 0, parameters, attributes=attributes))
        builder.end()
    return path


@sim_only
def test_strict_replay_drops_attributes_beyond_the_region(tmp_path: Path, forgetful_driver: Path) -> None:
    log = tmp_path / "calls"

    def launches(**options: Any) -> tuple[list[str], list[str]]:
        results = replayed(
            early_capture(tmp_path / "x.ncap"),
            ["measure", 1],
            ["notes"],
            driver=str(forgetful_driver),
            environment={"CALL_LOG": str(log)},
            **options,
        )
        words = " ".join(
            line.split(" 0x")[0] + "".join(line.split()[1:2]) for line in log.read_text().splitlines()
        )
        at = words.rindex("record add_one")
        return words[at : words.index("nb_time", at)].split()[1:-1], results[2]

    everything = ["add_one", "attribute0x1", "attribute0x6", "attribute0x8"]
    assert launches() == (everything * 2, [])
    values, notes = launches(**STRICT)
    assert values == ["add_one", "attribute0x8", "add_one", "attribute0x6", "attribute0x8"]
    assert "windows of 2 launches" in notes[0] and "serialization of 1 launches" in notes[1]


@sim_only
def test_strict_limits_do_not_exceed_the_drivers(tmp_path: Path, forgetful_driver: Path) -> None:
    stack, fifo, heap = Limit(0, 8192), Limit(1, 64 << 20), Limit(2, 1 << 30)
    capture = one_kernel(tmp_path / "x.ncap", REMEMBER, "remember", POINTER_BYTES, limits=(stack, fifo, heap))
    log = tmp_path / "calls"

    def limits(**options: Any) -> tuple[list[str], list[str]]:
        results = replayed(
            capture, ["notes"], driver=str(forgetful_driver), environment={"CALL_LOG": str(log)}, **options
        )
        lines = log.read_text().splitlines()
        return [line.removeprefix("limit ") for line in lines if line.startswith("limit")], results[1]

    assert limits() == (["0 8192", "0x1 67108864", "0x2 1073741824"], [])
    strict, notes = limits(**STRICT)
    assert strict == ["0x6 0", "0 8192"]
    assert len(notes) == 2 and notes[0].startswith(
        "limit 1 of the captured context was 67108864; the replay leaves it at"
    )


@sim_only
def test_work_behind_the_end_event_is_awaited_and_reported(tmp_path: Path) -> None:
    capture = add_one_capture(tmp_path / "x.ncap", n=1)
    late = {"SIM_INJECT": "cuCtxSynchronize=delay(20ms)"}
    for environment, least, most in (({}, 0, 15_000), (late, 20_000, 1e9)):
        _, samples = replayed(capture, ["measure", 3], environment=environment)
        tails = [sample["tail_us"] for sample in samples]
        assert all(least < tail for tail in tails) and min(tails) < most
