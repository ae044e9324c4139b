"""benchguard.replay with `strict`, on the CPU driver: samples of a hostile capture without a problem are checked."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import benchguard
from benchguard.capture.layout import ARENA, Role
from benchguard.capture.model import Kernel, Launch, Parameter, Range
from benchguard.replay.evidence import State
from benchguard.replay.options import ReplayOptions
from benchguard.replay.replay import one_use_of
from benchguard.replay.result import ReplayResult
from tests.support.captures import GRANULE, Builder, Memory
from tests.support.kernels import PTX_HEAD

N = 256
X, Y = ARENA, ARENA + GRANULE
RECORDED = 0x11111111
"""Each word of y before the region."""

HEAD = (
    PTX_HEAD
    + """
.visible .entry triple(.param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    ld.global.u32 %r4, [%rd5];
"""
)
TAIL = """
    mul.lo.u32 %r3, %r2, 3;
    st.global.u32 [%rd5], %r3;
done:
    ret;
}
"""
HONEST = HEAD + TAIL

# Returns at once if the output is not the recorded one, so that only an untimed run is right.
SEES_THE_PATTERN = HEAD + f"setp.ne.u32 %p1, %r4, {RECORDED};\n@%p1 bra done;" + TAIL

# Works if the output is the recorded one, or if a part of the pattern is not 0: seven of eight samples.
SELDOM = (
    HEAD
    + f"setp.eq.u32 %p1, %r4, {RECORDED};\n@%p1 bra work;\nld.global.u32 %r5, [%rd2];\nand.b32 %r5, %r5, 14;\n"
    + "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra done;\nwork:"
    + TAIL
)


def words(values: range | list[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def triple(path: Path, kernel: str, outputs: bool = True) -> Path:
    """A capture of y = 3 x, by a kernel of the test."""
    x, after = words(range(N)), words(range(0, 3 * N, 3))
    with Builder(path) as builder:
        builder.device()
        layout = (Parameter(0, 8), Parameter(8, 8))
        builder.add(Kernel(builder.module(kernel), 16, 12, 0, 0, 1024, "triple", layout))
        builder.stream()
        builder.memory(Memory(X, x, x))
        builder.memory(Memory(Y, words([RECORDED] * N), after))
        builder.operation(Launch(0, 0, (1, 1, 1), (N, 1, 1), 0, struct.pack("<QQ", X, Y)))
        builder.add(Range(X, 4 * N, Role.INPUT, "x", "int32", (N,)))
        if outputs:
            builder.add(Range(Y, 4 * N, Role.OUTPUT, "y", "int32", (N,)))
        builder.end()
    return path


def replayed(path: Path, **options: object) -> ReplayResult:
    return benchguard.replay(path, driver="sim", cold="none", **{"strict": True, "samples": 60, **options})


def states(result: ReplayResult) -> dict[str, State]:
    return {each.check: each.state for each in result.evidence}


@pytest.fixture(autouse=True)
def _built(native: Path) -> None:
    assert native


def test_honest_capture_passes_and_its_outputs_hold(tmp_path: Path) -> None:
    result = replayed(triple(tmp_path / "x.ncap", HONEST), warm_samples=5)
    assert (result.verdict, result.reason) == ("pass", "")
    assert states(result)["outputs"] == "held"
    assert result.checked is not None and result.checked.samples == 65
    assert result.warm_us is not None and len(result.warm) == 5 and len(result.table) == 60


def test_kernel_that_skips_work_on_filled_outputs_does_not_pass(tmp_path: Path) -> None:
    path = triple(tmp_path / "x.ncap", SEES_THE_PATTERN)
    result = replayed(path)
    assert (result.verdict, result.time_us) == ("unreplayable", None)
    assert "'y' is not the recorded one if it begins with a pattern" in result.reason


def test_kernel_that_skips_work_in_some_samples_does_not_hold(tmp_path: Path) -> None:
    """Which untimed runs it skips depends on the pattern. None of its results is evidence of a right output."""
    path = triple(tmp_path / "x.ncap", SELDOM)
    for seed in range(3):
        result = replayed(path, seed=seed, require_evidence="full")
        assert result.verdict in ("wrong", "unreplayable", "unproven")
        assert states(result).get("outputs") != "held"


def test_recorded_inputs_alone_cannot_show_carried_results(tmp_path: Path) -> None:
    path = triple(tmp_path / "x.ncap", HONEST)
    assert states(replayed(path))["carried results"] == "could not tell"
    result = replayed(path, require_evidence="full")
    assert (result.verdict, result.status) == ("unproven", 8)
    assert "carried results: 0 samples on one-use inputs" in result.reason


def test_given_input_sets_are_used_once_and_checked(tmp_path: Path) -> None:
    sets = [words([number + i for i in range(N)]) for number in range(20)]
    result = replayed(
        triple(tmp_path / "x.ncap", HONEST), inputs={"x": sets}, outputs=["y"], keep_outputs="sets"
    )
    assert result.verdict == "pass"
    assert states(result)["outputs"] == "held" and states(result)["carried results"] != "could not tell"
    once = [row.input_set for row in result.table if row.one_use]
    assert sorted(each or 0 for each in once) == list(range(8, 20))
    assert result.outputs["y"][3] == words([3 * (3 + i) for i in range(N)])


def test_outputs_of_a_single_sample_are_kept(tmp_path: Path) -> None:
    """The empty samples that complete a short run come after it, and fill the outputs with noise."""
    inputs = words([5 * i for i in range(N)])
    path = triple(tmp_path / "x.ncap", HONEST)
    result = replayed(path, inputs={"x": inputs}, outputs=["y"], keep_outputs="last", samples=1)
    assert (result.verdict, len(result.table)) == ("pass", 1) and result.empty
    assert result.outputs["y"] == words([15 * i for i in range(N)])


def test_computed_inputs_have_enough_sets(tmp_path: Path) -> None:
    path = triple(tmp_path / "x.ncap", HONEST)
    inputs = {"x": lambda number: words([number * i for i in range(N)])}
    assert replayed(path, inputs=inputs).settings.one_use_sets == 12
    assert replayed(path, inputs=inputs, strict=False).settings.input_sets == 8


def test_capture_without_outputs_is_checked_where_the_user_names_them(tmp_path: Path) -> None:
    path = triple(tmp_path / "x.ncap", HONEST, outputs=False)
    assert states(replayed(path))["outputs"] == "could not tell"
    assert states(replayed(path, outputs=[(Y, 4 * N)]))["outputs"] == "held"


def test_replay_without_strict_has_no_evidence(tmp_path: Path) -> None:
    result = replayed(triple(tmp_path / "x.ncap", HONEST), strict=False)
    assert (result.verdict, result.evidence, result.checked) == ("pass", (), None)


def test_few_sets_stay_repeated() -> None:
    assert [one_use_of(sets) for sets in (1, 9, 10, 12, 16, 18, 20, 100)] == [0, 0, 8, 8, 8, 10, 12, 12]


def test_evidence_without_strict_is_refused() -> None:
    with pytest.raises(benchguard.UsageError, match="only a strict replay has evidence"):
        ReplayOptions(require_evidence="full")


@pytest.mark.parametrize(("strict", "cold"), [(True, "none"), (False, "flush")])
def test_caches_of_the_cpu_driver_are_not_flushed_in_a_strict_replay(
    strict: bool, cold: str, tmp_path: Path
) -> None:
    """A flush would make empty samples so long that they hide the work of most kernels."""
    path = triple(tmp_path / "x.ncap", HONEST)
    assert benchguard.replay(path, driver="sim", samples=8, strict=strict).settings.cold == cold
    assert (
        benchguard.replay(path, driver="sim", samples=8, strict=strict, cold="flush").settings.cold == "flush"
    )
