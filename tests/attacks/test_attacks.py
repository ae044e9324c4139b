"""Every attack beats the naive grader and gets no pass with a false time from ours; what is honest passes.

Those that the CPU driver has no class for run on a GPU: python -m tests.attacks.run.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.attacks.catalogue import ATTACK_LIST, CONTROLS, HONEST, LOOK_ALIKES, Attack, LookAlike
from tests.attacks.running import Machine, control, grade, hole_in, naive, naive_of

SIM = Machine("sim")
ON_SIM = ("both", "sim")


def _runs(path_suffix: str) -> None:
    if (
        path_suffix == ".cu"
        and shutil.which("nvcc") is None
        and not Path("/usr/local/cuda/bin/nvcc").exists()
    ):
        pytest.skip("host code in CUDA C++ takes nvcc, which is not here")


def _attacks() -> list[object]:
    return [pytest.param(each, id=each.name) for each in ATTACK_LIST if each.where in ON_SIM]


@pytest.mark.parametrize("attack", _attacks())
def test_attack(attack: Attack) -> None:
    _runs(attack.path.suffix)
    _, failure = naive_of(attack, SIM)
    assert not failure
    _, _, hole = hole_in(attack, SIM)
    assert not hole


@pytest.mark.parametrize("alike", [pytest.param(each, id=each.path.stem) for each in LOOK_ALIKES])
def test_look_alike(alike: LookAlike) -> None:
    _runs(alike.path.suffix)
    found = grade(alike.path, alike.problem, SIM, SIM.case())
    assert (found.verdict, found.reason) == ("pass", "")


@pytest.mark.parametrize("problem", CONTROLS)
def test_control_passes(problem: str) -> None:
    assert naive(HONEST / CONTROLS[problem], problem, SIM, SIM.case()).passed
    found = control(problem, SIM, SIM.case())
    assert (found.verdict, found.reason, found.status) == ("pass", "", 0)


def test_wrong_control_fails() -> None:
    assert not naive(HONEST / "wrong.py", "Mix", SIM, SIM.case()).passed
    found = grade(HONEST / "wrong.py", "Mix", SIM, SIM.case())
    assert (found.verdict, found.status) == ("wrong", 1)


def test_every_class_is_there() -> None:
    """26, 27, 28 and 32 need a GPU, and are there for one."""
    assert {each.number for each in ATTACK_LIST} >= set(range(1, 33))


def test_files_are_in_the_catalogue() -> None:
    listed = {each.file for each in ATTACK_LIST}
    assert listed == {
        path.name for path in ATTACK_LIST[0].path.parent.iterdir() if path.suffix in (".py", ".cu")
    }
