"""The device cordon sees kernels that use memory which nobody gave them, also where no time shows it."""

from __future__ import annotations

import pytest

from tests.attacks.catalogue import ATTACKS, CONTROLS, HONEST, LOOK_ALIKES
from tests.attacks.running import Machine, grade

SIM = Machine("sim", seconds=700)
"""Checked kernels take many times as long as others: 200 s were too few on a slow machine."""

CORDON = ("--samples", "4", "--cordon-device")
EVENT_SHIFT = ATTACKS / "11_event_shift.py"
OTHER_GLOBAL = "another module's global"
DOUBTFUL = {"clean_global.py": OTHER_GLOBAL}
"""Honest submissions whose kernels cannot be checked completely, and a word of the reason."""

pytestmark = pytest.mark.timeout(1500)


def cordon_of(name: str, problem: str, machine: Machine, *options: str) -> tuple[str, dict[str, object]]:
    path = EVENT_SHIFT if name == EVENT_SHIFT.name else HONEST / name
    result = grade(path, problem, machine, "small", (*CORDON, *options))
    return result.verdict, result.whole["cases"][0]["cordon"]


@pytest.mark.full
def test_small_shift_of_an_event_passes_without_the_cordon_and_fails_with_it() -> None:
    """On the CPU driver the clocks' noise hides the shift."""
    plain = grade(EVENT_SHIFT, "Mix", SIM, "small", CORDON[:2])
    assert (plain.verdict, plain.whole["cases"][0]["cordon"]) == ("pass", None)
    verdict, cordon = cordon_of(EVENT_SHIFT.name, "Mix", SIM)
    assert (verdict, cordon["status"]) == ("violation", "failed")
    first = cordon["violations"][0]
    assert (first["function"], first["access"], first["fault"]) == ("shift", "read", "outside")
    assert 0x204800000 <= first["address"] < 0x204A00000


@pytest.mark.full
@pytest.mark.parametrize("problem", CONTROLS)
def test_control_holds_in_the_cordon(problem: str) -> None:
    verdict, cordon = cordon_of(CONTROLS[problem], problem, SIM)
    assert (verdict, cordon["status"], cordon["violations"]) == ("pass", "held", [])


@pytest.mark.full
@pytest.mark.parametrize("alike", LOOK_ALIKES, ids=lambda each: each.name)
def test_look_alike_passes_in_the_cordon(alike: object) -> None:
    verdict, cordon = cordon_of(alike.file, alike.problem, SIM)  # type: ignore[attr-defined]
    doubt = DOUBTFUL.get(alike.file)  # type: ignore[attr-defined]
    assert verdict == "pass"
    assert bool(cordon["violations"]) == (doubt == OTHER_GLOBAL)
    assert cordon["status"] == ("could not tell" if doubt else "held"), cordon["reason"]
    assert (doubt or "") in str(cordon["reason"])
