"""The page docs/scale.md has the figures of its script, and the simulation keeps the bounds that follow by hand."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def scale() -> ModuleType:
    specification = importlib.util.spec_from_file_location("make_scale", ROOT / "docs" / "make_scale.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # its dataclasses look themselves up
    specification.loader.exec_module(module)
    return module


TIES = 0.17
"""Stages of equal length end together, so that the counted part of a run has some grades more or fewer."""


def measured(scale: ModuleType, dispatch_s: float = 0.0, **stages: float) -> object:
    """Stage times that do not vary."""
    row = dict.fromkeys(scale.STAGES, 0.0) | stages
    return scale.Measured("s", "d", "g", 2, 0.0, 1000, dispatch_s, 0.0, (row,))


@pytest.mark.full
def test_page_has_the_figures_of_the_script(scale: ModuleType) -> None:
    """If it does not: python docs/make_scale.py"""
    assert scale.page(scale.read(ROOT / "docs" / "scale.json")) == (ROOT / "docs" / "scale.md").read_text()


def test_single_grade_in_flight_takes_the_sum_of_its_stages(scale: ModuleType) -> None:
    outcome = scale.simulate(
        measured(scale, start=0.5, compile=0.5, quarantine=1.0, replay=2.0), scale.Fleet(8)
    )
    assert outcome.per_second == pytest.approx(8 / 4, rel=TIES)
    assert outcome.busy["GPU"] == pytest.approx(0.5, rel=TIES)


def test_grades_in_flight_hide_all_but_the_replay(scale: ModuleType) -> None:
    outcome = scale.simulate(measured(scale, start=1.0, replay=2.0), scale.Fleet(8, in_flight=3))
    assert outcome.per_second == pytest.approx(8 / 2, rel=TIES)
    assert outcome.busy["GPU"] == pytest.approx(1.0)


def test_replay_stops_the_submissions_on_its_gpu(scale: ModuleType) -> None:
    """Two quarantines overlap, and neither overlaps a replay."""
    values = measured(scale, compile=1.0, quarantine=1.0, replay=2.0)
    for in_flight, seconds in ((1, 4.0), (2, 3.0)):
        outcome = scale.simulate(values, scale.Fleet(8, in_flight))
        assert outcome.per_second == pytest.approx(8 / seconds, rel=TIES)


def test_slow_dispatcher_bounds_the_fleet(scale: ModuleType) -> None:
    outcome = scale.simulate(measured(scale, dispatch_s=0.1, replay=1.0), scale.Fleet(64, in_flight=2))
    assert outcome.per_second == pytest.approx(10)
    assert outcome.busy["dispatcher"] == pytest.approx(1.0)


def test_few_cores_bound_the_fleet(scale: ModuleType) -> None:
    outcome = scale.simulate(measured(scale, compile=3.0, replay=1.0), scale.Fleet(8, in_flight=6, cores=1))
    assert outcome.per_second == pytest.approx(8 / 4, rel=TIES)
    assert outcome.busy["cores"] == pytest.approx(1.0, rel=0.02)


def test_cascade_spares_the_gpu_in_the_share_of_wrong_submissions(scale: ModuleType) -> None:
    values = measured(scale, replay=1.0)
    outcome = scale.simulate(values, scale.Fleet(32, first=7, wrong=0.5))
    assert outcome.busy["GPU"] / outcome.per_second == pytest.approx(0.5 / 32, rel=0.1)
    assert scale.simulate(values, scale.Fleet(32, first=4, wrong=1.0)).busy["GPU"] == 0.0


def test_cost_is_gpu_hours_times_price(scale: ModuleType) -> None:
    outcome = scale.Outcome(10.0, {})
    assert outcome.cost(100, 2.0) == pytest.approx(1000 / 10 / 3600 * 100 * 2)
