"""The cases that are compared with a GPU, on the CPU driver: against a second implementation of the formulas."""

from __future__ import annotations

import itertools
import json
import math
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.device.textures import compare_results
from tests.support.texture_cases import BORDER_COLOUR, CASES, Case, elements, places_of
from tests.support.textures import ARRAY, BORDER, CLAMP, F32, LINEAR, MIRROR, NORMALIZED, WRAP

MODELLED = [
    case
    for case in CASES
    if case.kind == ARRAY and case.geometry in ("1d", "2d", "3d") and case.instruction == "tex" and case.format == F32
    and case.channels == 1
]  # fmt: skip

NORMALIZED_ONE = 1 << 21
"""An H200 reads as if a normalized position had 21 fraction bits, and a line were an image of one row."""


@pytest.fixture(scope="module")
def results(sim_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Results of a process of its own: a driver reads its environment once."""
    file = tmp_path_factory.mktemp("textures") / "results.json"
    command = [sys.executable, "-m", "tests.support.texture_cases", str(sim_path), str(file)]
    subprocess.run(command, check=True, timeout=200, cwd=ROOT)
    actual: dict[str, str] = json.loads(file.read_text())
    return actual


def element_at(index: int, extent: int, mode: int) -> int | None:
    """The element that an index names; None: the border."""
    if mode == WRAP:
        return index % extent
    if mode == MIRROR:
        folded = index % (2 * extent)
        return folded if folded < extent else 2 * extent - 1 - folded
    if mode == CLAMP:
        return min(max(index, 0), extent - 1)
    return index if 0 <= index < extent else None


def weights_of(place: float, extent: int, case: Case) -> list[tuple[int | None, float]]:
    """The elements along one dimension with their weights."""
    sampler = case.sampler
    normalized = bool(sampler.flags & NORMALIZED)
    mode = sampler.addressing if normalized or sampler.addressing == BORDER else CLAMP
    place = struct.unpack("f", struct.pack("f", place))[0]
    x = math.floor(place * NORMALIZED_ONE) / NORMALIZED_ONE * extent if normalized else place
    if sampler.filter != LINEAR:
        return [(element_at(math.floor(x), extent, mode), 1.0)]
    low = math.floor(x - 0.5)
    weight = math.floor((x - 0.5 - low) * 256 + 0.5) / 256
    return [
        (element_at(low, extent, mode), 1 - weight),
        (element_at(low + 1, extent, mode), weight),
    ]


def reference(case: Case, values: list[float], place: tuple[float | int, ...]) -> float:
    extents = [size for size in case.extent if size]
    along = [weights_of(float(place[i]), extent, case) for i, extent in enumerate(extents)]
    if case.geometry == "1d" and case.sampler.filter == LINEAR:
        border = 0.5 if case.sampler.addressing == BORDER else 0.0
        along.append([(None, border), (0, 1 - border)])  # above and in the row
        extents.append(1)
    total = []
    for corner in itertools.product(*along):
        at = 0
        for (index, _), extent in reversed(list(zip(corner, extents, strict=True))):
            at = at * extent + (index or 0)
        value = BORDER_COLOUR[0] if any(index is None for index, _ in corner) else values[at]
        total.append(math.prod(weight for _, weight in corner) * value)
    return math.fsum(total)


def test_modelled_cases_cover_modes_and_filters() -> None:
    assert len({(case.sampler.addressing, case.sampler.filter, case.geometry) for case in MODELLED}) == 24


@pytest.mark.parametrize("case", MODELLED, ids=lambda case: case.name)
def test_reads_match_the_guides_formulas(results: dict[str, str], case: Case) -> None:
    data = bytes.fromhex(results[case.name])
    count = math.prod(max(1, size) for size in case.extent)
    values = [struct.unpack("f", struct.pack("f", value))[0] for value in elements(case, count)]
    compared = 0
    for i, place in enumerate(places_of(case)):
        axes = [float(each) for each in place[: sum(1 for size in case.extent if size)]]
        if not all(abs(each) < 1e6 for each in axes):
            continue  # infinite, not a number, or without a fraction: test_textures.py
        (actual,) = struct.unpack("f", data[16 * i : 16 * i + 4])
        assert actual == pytest.approx(reference(case, values, place), rel=2e-7, abs=1e-6), place
        compared += 1
    assert compared > 50


def test_no_case_is_refused(results: dict[str, str]) -> None:
    assert set(results) == {case.name for case in CASES}
    assert [name for name, result in results.items() if result.startswith("error")] == []


def test_comparison_reports_changed_words(results: dict[str, str]) -> None:
    """A changed bit of an exact result is a problem; of a filtered result only if it exceeds a step of the weights."""
    assert compare_results(results, results) == []
    for name, byte, change, problem in (
        ("2d clamp point", 0, 1, True),
        ("2d clamp linear", 0, 1, False),
        ("2d clamp linear", 3, 0x80, True),
        ("sust 2d clamp", 0, 1, True),
    ):
        data = bytearray.fromhex(results[name])
        data[byte] ^= change
        (difference,) = compare_results({**results, name: data.hex()}, results)
        assert (difference.case.name, difference.words, difference.is_problem) == (name, 1, problem)
    refused = {**results, "1d wrap point": "error 1: cuTexObjectCreate"}
    assert [each.is_problem for each in compare_results(refused, results)] == [True]
