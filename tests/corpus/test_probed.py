"""Corpus kernels rewritten by the engines: the outputs are those of the originals, and equal the references."""

from __future__ import annotations

import pytest

from benchguard.probe.engines.block_times.build import build as block_times
from benchguard.probe.engines.count.build import build as count
from benchguard.probe.ptx import PtxError
from tests.corpus.capture import captured
from tests.corpus.case import Case
from tests.corpus.driver import Driver
from tests.corpus.families import FAMILIES, cases_of, images_of, target_of, text_of
from tests.support.probed import Build, run_probed

ENGINES = {"block-times": block_times, "count": count}
QUICK = {("calls", "count"), ("spaces", "block-times")}
REFUSED = {("spaces", "90g", "generic_pointers"): "asks whether an address is in constant memory"}
"""Kernels that the engines refuse, with the reason."""


def pairs() -> list[object]:
    return [
        pytest.param(family, engine, id=f"{family}-{engine}", marks=() if pair in QUICK else pytest.mark.full)
        for family in FAMILIES
        for engine in ENGINES
        if (pair := (family, engine))
    ]


def difference(driver: Driver, text: str, case: Case, build: Build) -> str:
    """The first difference of a probed launch from the reference, or the reason of a refusal."""
    problems: list[str] = []
    try:
        printed = captured(lambda: problems.append(run_probed(driver, text, case, build)[1]))
    except PtxError as error:
        return str(error)
    if printed != list(case.prints):
        return f"printed {printed}"
    return problems[0]


@pytest.mark.parametrize(("family", "engine"), pairs())
def test_probed_kernel_outputs_equal_the_references(
    family: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIM_KERNEL_TIMEOUT_MS", "20000")
    driver = Driver()
    images = list(images_of(family))
    if (family, engine) in QUICK:
        images = images[-1:]
    wrong, ran = {}, 0
    for image in images:
        for case in cases_of(family):
            if case.minimum_target > target_of(image) or case.fails:
                continue
            ran += 1
            found = difference(driver, text_of(family, image), case, ENGINES[engine])
            expected = REFUSED.get((family, image, case.kernel), "")
            if (expected not in found) if expected else found:
                wrong[image, case.name] = found
    assert ran > 0 and not wrong
