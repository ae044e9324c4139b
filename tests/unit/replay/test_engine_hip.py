"""The engine on a driver that speaks for HIP: its kernels are compiled, and what HIP lacks is done without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchguard.capture.layout import ARENA, NOTHING, OperationFlag, StreamKind
from benchguard.capture.model import GraphLaunch
from benchguard.quarantine.runner.compilers import compile_kernels, find_nvrtc
from benchguard.quarantine.runner.source import Flags
from tests.conftest import ROOT
from tests.support.captures import CAPTURES, Builder, Memory, saxpy_capture, saxpy_launch
from tests.unit.replay.engine_captures import add_one_capture
from tests.unit.replay.engine_support import CANNOT, OURS, assert_exact, on_sim, replayed

KERNELS = ROOT / "engine" / "replay" / "sample" / "kernels.hip"
pytestmark = pytest.mark.skipif(not on_sim, reason="asks the CPU driver for it")


@pytest.fixture(scope="module")
def over_hip(compile_c: Callable[..., Path], native: Path) -> str:
    sim = native / "sim"
    links = ("-Wl,--no-as-needed", f"-L{sim}", "-l:libcuda.so.1", f"-Wl,-rpath,{sim}")
    source = Path(__file__).parent / "programs" / "over_hip.c"
    return str(compile_c("over_hip.so", source, flags=("-D__CUDA_API_VERSION_INTERNAL",), links=links))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kernels.hip as CUDA's compiler has it, which is what the CPU driver runs."""
    nvrtc = find_nvrtc()
    if nvrtc is None:
        pytest.skip("compiles kernels.hip: needs NVRTC, of a CUDA toolkit or the package nvidia-cuda-nvrtc")
    path = tmp_path_factory.mktemp("kernels") / "kernels.ptx"
    path.write_bytes(compile_kernels(nvrtc, KERNELS, "sm_90", Flags()).rstrip(b"\0"))
    return path


@pytest.fixture
def run(over_hip: str, kernels: Path, tmp_path: Path) -> Callable[..., list[Any]]:
    def run_(*words: Any, environment: dict[str, str] | None = None, **options: Any) -> list[Any]:
        inputs = {"KERNELS_PTX": str(kernels), "CALL_LOG": str(tmp_path / "calls"), **(environment or {})}
        return replayed(*words, driver=over_hip, environment=inputs, **options)

    return run_


def disabled_capture(path: Path) -> Path:
    """A graph whose only kernel is switched off."""
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        stream = builder.stream(0x1001, StreamKind.CREATED)
        builder.memory(Memory(ARENA, b"1234", b"1234"))
        launch = saxpy_launch(ARENA, ARENA, 4, NOTHING, 1)
        builder.operation(replace(launch, flags=OperationFlag.DISABLED))
        builder.operation(GraphLaunch(stream, 1))
        builder.end()
    return path


def calls(tmp_path: Path) -> list[tuple[str, int, int]]:
    lines = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    return [(name, int(blocks), int(threads)) for name, blocks, threads in lines]


@pytest.mark.parametrize("name", ["saxpy", "streams", "copies", "graph", "global"])
@pytest.mark.parametrize("cold", ["none", "flush", "rotate"])
def test_functions_missing_in_hip_are_not_needed(
    tmp_path: Path, run: Callable[..., list[Any]], name: str, cold: str
) -> None:
    path = CAPTURES[name](tmp_path / "x.ncap")
    _, first, samples, overhead, then = run(
        path, ["verify"], ["measure", 3], ["overhead"], ["verify"], cold=cold
    )
    assert_exact(first)
    assert_exact(then)
    assert all(sample["flags"] == 0 and sample["clock_mhz"] > 100 for sample in samples)
    assert overhead["empty_kernel_us"] > 0


def test_persisting_l2_is_queried_once(tmp_path: Path, run: Callable[..., list[Any]]) -> None:
    run(saxpy_capture(tmp_path / "x.ncap"), ["measure", 5])
    assert [name for name, _, _ in calls(tmp_path)].count("reset") == 1


def test_strict_replay_disables_persisting_l2(tmp_path: Path, run: Callable[..., list[Any]]) -> None:
    path = saxpy_capture(tmp_path / "x.ncap")
    _, samples, verified = run(path, ["measure", 3], ["verify"], cold="flush", strict=True, guard=True)
    assert len(samples) == 3
    assert_exact(verified)


@pytest.mark.parametrize("has_icache", [False, True])
def test_instruction_caches_are_flushed_directly_before_a_sample(
    tmp_path: Path, run: Callable[..., list[Any]], has_icache: bool
) -> None:
    """60 blocks of 64 threads a compute unit, outside the timed window; said to be flushed only where that is so."""
    environment = {"HAS_ICACHE": "1"} if has_icache else {}
    path = saxpy_capture(tmp_path / "x.ncap")
    prepared, samples = run(path, ["measure", 2], environment=environment, cold="flush", flush_code=True)
    blocks = 60 * prepared[0]["multiprocessors"]
    assert (prepared[1]["flush_blocks"], prepared[1]["flushed"]) == (blocks, has_icache)
    result = calls(tmp_path)
    assert result.count(("nb_empty", blocks, 64)) == len(samples)  # what stands for it here
    window = [each for each, _, _ in result][-10:]
    fill = ["nb_noise", "nb_fill_shared"]
    assert window == [
        "nb_hold",
        "nb_read",
        *fill,
        "nb_empty",
        "record",
        "saxpy",
        "record",
        "nb_time",
        "nb_stamp",
    ]


def test_instruction_caches_are_not_flushed_by_default(tmp_path: Path, run: Callable[..., list[Any]]) -> None:
    prepared, _ = run(saxpy_capture(tmp_path / "x.ncap"), ["measure", 1])
    assert (prepared[1]["flush_blocks"], prepared[1]["flushed"], prepared[1]["code_copies"]) == (0, 0, 1)
    assert {blocks for name, blocks, _ in calls(tmp_path) if name == "nb_empty"} <= {
        1
    }  # launches before a sample


def test_flush_on_cuda_launches_no_kernel(tmp_path: Path) -> None:
    (refused,) = replayed(saxpy_capture(tmp_path / "x.ncap"), flush_code=True)
    assert refused == {"status": OURS, "text": "no kernel flushes this device's instruction caches"}


def test_missing_hip_compiler_is_a_one_line_error(tmp_path: Path, over_hip: str) -> None:
    (refused,) = replayed(add_one_capture(tmp_path / "x.ncap"), driver=over_hip)
    assert refused["status"] == CANNOT
    assert refused["text"] == (
        "the engine's kernels cannot be compiled by hiprtc: CUDA_ERROR_NOT_SUPPORTED (801): no hiprtc here"
    )


def test_disabled_node_is_left_out_where_it_cannot_be_disabled(
    tmp_path: Path, run: Callable[..., list[Any]]
) -> None:
    (refused,) = run(disabled_capture(tmp_path / "x.ncap"))
    assert refused["status"] == CANNOT
    assert refused["text"] == "cuGraphNodeSetEnabled: CUDA_ERROR_NOT_SUPPORTED (801)"
