"""Every attack gets the verdict it deserves, and honest submissions pass.

Nightly: every attack beats the naive grader, and none gets a pass with a false time. Attacks that the CPU driver has no
class for run on a GPU: python -m tests.attacks.run.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.attacks.catalogue import (
    ATTACK_LIST,
    CONTROLS,
    HERE,
    HONEST,
    LOOK_ALIKES,
    OWN_TESTS,
    Attack,
    LookAlike,
)
from tests.attacks.running import Machine, control, grade, hole_in, naive, naive_of

SIM = Machine("sim", seconds=200)
"""A busy machine takes its time: no attack may turn into a time-out because of it."""

pytestmark = pytest.mark.timeout(900)
ON_SIM = ("both", "sim")


def _skip_without_compiler(path_suffix: str) -> None:
    if (
        path_suffix == ".cu"
        and shutil.which("nvcc") is None
        and not Path("/usr/local/cuda/bin/nvcc").exists()
    ):
        pytest.skip("nvcc is not installed; it compiles host code in CUDA C++")


QUICK_ATTACKS = {"14_unjoined_stream", "16_cached_output"}
NIGHTLY_ATTACKS = {"34_hole", "34_launch_shapes", "34_many_calls"}  # each needs its whole time-out
QUICK_CONTROLS = {"RowMean"}


def _attacks() -> list[object]:
    return [_parameters(each) for each in ATTACK_LIST if each.where in ON_SIM]


def _parameters(attack: Attack) -> object:
    marks = [pytest.mark.quick] if attack.name in QUICK_ATTACKS else []
    marks += [pytest.mark.nightly] if attack.name in NIGHTLY_ATTACKS else []
    return pytest.param(attack, id=attack.name, marks=marks)


def _controls() -> list[object]:
    return [
        pytest.param(each, marks=[pytest.mark.quick] if each in QUICK_CONTROLS else []) for each in CONTROLS
    ]


def test_cached_output_is_wrong_with_warm_caches_and_the_control_passes() -> None:
    """With `--cold warm`, too, outputs are filled and checked, and one-use inputs come."""
    warm = ("--cold", "warm", "--warm-up-samples", "2")
    (attack,) = (each for each in ATTACK_LIST if each.name == "16_cached_output")
    assert grade(attack.path, attack.problem, SIM, SIM.case(attack), warm).verdict == "wrong"
    honest = grade(HONEST / CONTROLS[attack.problem], attack.problem, SIM, SIM.case(attack), warm)
    assert (honest.verdict, honest.whole["settings"]["cold"]) == ("pass", "warm")
    assert (
        honest.whole["cases"][0]["inputs"]["one_use"] == 12
        and honest.whole["cases"][0]["times"]["warm"] is None
    )


@pytest.mark.parametrize("attack", _attacks())
def test_attack_gets_one_of_its_verdicts(attack: Attack) -> None:
    _skip_without_compiler(attack.path.suffix)
    result, _, hole = hole_in(attack, SIM, timed=False)
    assert not hole
    if result.verdict in ("error", "failed"):  # because of the attack, not of a grader that is broken
        assert control(attack.problem, SIM, SIM.case()).verdict == "pass"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "attack", [each for each in ATTACK_LIST if each.where in ON_SIM], ids=lambda each: each.name
)
def test_attack_beats_the_naive_grader_and_gets_no_false_time(attack: Attack) -> None:
    _skip_without_compiler(attack.path.suffix)
    _, failure = naive_of(attack, SIM)
    assert not failure
    _, _, hole = hole_in(attack, SIM)
    assert not hole


@pytest.mark.parametrize("alike", [pytest.param(each, id=each.path.stem) for each in LOOK_ALIKES])
def test_look_alike_passes(alike: LookAlike) -> None:
    _skip_without_compiler(alike.path.suffix)
    result = grade(alike.path, alike.problem, SIM, SIM.case(), alike.options)
    assert (result.verdict, result.reason) == ("pass", "")


@pytest.mark.parametrize("problem", _controls())
def test_control_passes(problem: str) -> None:
    result = control(problem, SIM, SIM.case())
    assert (result.verdict, result.reason, result.status) == ("pass", "", 0)


@pytest.mark.parametrize("problem", CONTROLS)
def test_control_passes_the_naive_grader(problem: str) -> None:
    assert naive(HONEST / CONTROLS[problem], problem, SIM, SIM.case()).passed


def test_call_that_needs_the_call_before_is_unproven() -> None:
    """The submission clears memory for its next call. Memory cleared outside of the calls looks the same."""
    result = grade(HONEST / "alternating.py", "Repeats", SIM, SIM.case())
    assert (result.verdict, result.status) == ("unproven", 8)
    assert "clear memory in the call that uses it" in result.reason


def test_wrong_control_fails() -> None:
    assert not naive(HONEST / "wrong.py", "Mix", SIM, SIM.case()).passed
    result = grade(HONEST / "wrong.py", "Mix", SIM, SIM.case())
    assert (result.verdict, result.status) == ("wrong", 1)


@pytest.mark.quick
def test_catalogue_has_every_class() -> None:
    """Classes 27, 28 and 32 need a GPU."""
    assert {each.number for each in ATTACK_LIST} >= set(range(1, 33))


@pytest.mark.quick
def test_every_attack_file_is_in_the_catalogue() -> None:
    listed = {each.file for each in ATTACK_LIST} | set(OWN_TESTS)
    assert all(file in (HERE / test).read_text() for file, test in OWN_TESTS.items())
    assert listed == {
        path.name for path in ATTACK_LIST[0].path.parent.iterdir() if path.suffix in (".py", ".cu")
    }
