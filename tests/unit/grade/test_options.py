"""Defaults that depend on the driver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.errors import UsageError
from benchguard.grade.grade import for_driver
from benchguard.grade.options import SIM_SAMPLES, GradeOptions
from benchguard.shim.driver import Driver, discover


@pytest.fixture
def sim() -> Driver:
    return discover("sim", api="cuda")


def test_cpu_driver_takes_a_fixed_number_of_samples_and_leaves_caches(sim: Driver) -> None:
    assert for_driver(GradeOptions(), sim) == GradeOptions(samples=SIM_SAMPLES, cold="none")
    assert for_driver(GradeOptions(cold="flush"), sim).cold == "flush"


@pytest.mark.parametrize(
    "options", [GradeOptions(samples=7), GradeOptions(until="cv=0.1"), GradeOptions(require_converged=True)]
)
def test_chosen_number_of_samples_is_kept(options: GradeOptions, sim: Driver) -> None:
    assert for_driver(options, sim) == replace(options, cold="none")


def test_gpu_samples_until_the_rule_is_met(sim: Driver) -> None:
    options = GradeOptions()
    assert for_driver(options, replace(sim, path=Path("/usr/lib/libcuda.so.1"))) == options


@pytest.mark.parametrize("name", ["forbid_library", "allow_images"])
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("", "empty; give a pattern"),
        ("[", r"'\[' has a \[ without \]; add the \]"),
        ("lib[a]x[!]", r"has a \[ without \]"),
    ],
)
def test_pattern_that_matches_no_library_is_refused(name: str, pattern: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} .*{text}"):
        GradeOptions(**{name: ("libcublas*", pattern)})  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", ["libcublas*", "lib[a-c]*", "[!]]x", "[[]", "x]", "[]]", "[!!]"])
def test_whole_pattern_of_a_library_is_accepted(pattern: str) -> None:
    assert GradeOptions(forbid_library=(pattern,)).forbid_library == (pattern,)


def test_device_that_the_machine_lacks_is_refused(sim: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the replay fails, after the submission has run."""
    with pytest.raises(UsageError, match="--device 1: the CPU driver has device 0 only; leave"):
        for_driver(GradeOptions(device=1), sim)
    gpu = replace(sim, path=Path("/usr/lib/libcuda.so.1"))
    monkeypatch.setattr("benchguard.gpu.identity.visible_gpus", lambda _: ("GPU-a", "GPU-b"))
    assert for_driver(GradeOptions(device=1), gpu).device == 1
    with pytest.raises(UsageError, match="--device 2: programs see 2 GPUs here; give a number from 0 to 1"):
        for_driver(GradeOptions(device=2), gpu)
    monkeypatch.setattr("benchguard.gpu.identity.visible_gpus", lambda _: ())
    assert for_driver(GradeOptions(device=2), gpu).device == 2
