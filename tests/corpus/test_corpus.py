"""The corpus on the CPU driver: each kernel and image against its reference. See README.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import nvrtc
from tests.corpus.case import Out
from tests.corpus.compare import compare
from tests.corpus.families import FAMILIES, cases_of, images_of

HERE = Path(__file__).parent
NVRTC = "nvrtc90"
MISSING: dict[str, str] = {}
"""Unsupported cases with the reason. If the engine gains support, a test fails: remove the line then."""
Results = dict[tuple[str, str], list[dict[str, Any]]]


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """Run the corpus in its own process: a driver reads its environment once."""
    results_file = folder / "results.json"
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SIM_", "CORPUS_"))
    }
    command = [sys.executable, str(HERE / "run.py"), "--json", str(results_file), *arguments]
    outcome = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=250
    )
    assert results_file.is_file(), outcome.stdout + outcome.stderr
    actual: dict[str, Any] = json.loads(results_file.read_text())
    return actual


def grouped(document: dict[str, Any]) -> Results:
    items: Results = {}
    for result in document["results"]:
        items.setdefault((result["family"], result["image"]), []).append(result)
    return items


@pytest.fixture(scope="module")
def document(native: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(tmp_path_factory.mktemp("ptx"), "--driver", str(native / "sim" / "libcuda.so.1"))


@pytest.fixture(scope="module")
def compiled(native: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    if nvrtc.library() is None:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
    driver = str(native / "sim" / "libcuda.so.1")
    return grouped(run(tmp_path_factory.mktemp("nvrtc"), "--driver", driver, "--image", NVRTC))


def judge(results: list[dict[str, Any]]) -> None:
    """Report all failures at once; cases in MISSING must still fail."""
    wrong = {r["case"]: r["problem"] for r in results if r["problem"] and r["case"] not in MISSING}
    assert wrong == {}
    assert [r["case"] for r in results if r["case"] in MISSING and not r["problem"]] == []


@pytest.mark.parametrize(
    ("family", "image"), [(family, image) for family in FAMILIES for image in images_of(family)]
)
def test_nvcc_image_matches_reference(document: dict[str, Any], family: str, image: str) -> None:
    judge(grouped(document)[family, image])


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
def test_nvrtc_image_matches_reference(compiled: Results, family: str) -> None:
    results = compiled[family, NVRTC]
    if all("cannot open source file" in result["problem"] for result in results):
        pytest.skip(f"headers are not installed: {results[0]['problem'].splitlines()[0]}")
    judge(results)


def test_every_kernel_has_a_case() -> None:
    for family in FAMILIES:
        known = {case.kernel for case in cases_of(family)}
        entries = {
            line.split("(")[0].split()[-1]
            for image in images_of(family).values()
            for line in image.read_text().splitlines()
            if ".entry" in line
        }
        assert entries == known, family


def test_each_case_changes_an_output(document: dict[str, Any]) -> None:
    """A kernel that does nothing must fail: each case has an output that differs from its initial contents."""
    assert len(document["results"]) > 600
    for family in FAMILIES:
        for case in cases_of(family):
            outs = [each for each in case.arguments if isinstance(each, Out)]
            changed = any(out.expected.tobytes() != out.start().tobytes() for out in outs)
            assert changed or case.prints or case.fails, case.name


def test_comparison_detects_changed_bit(document: dict[str, Any]) -> None:
    """Exact outputs equal themselves, and differ after one bit is changed."""
    passed = {**document, "results": [r for r in document["results"] if not r["problem"]]}
    assert compare(passed, passed).problems == []
    other = json.loads(json.dumps(passed))
    outputs = next(r["outputs"] for r in other["results"] if r["case"] == "saxpy")
    outputs[0]["sha256"] = outputs[0]["sha256"][::-1]
    assert compare(passed, other).problems == ["elementwise 75 saxpy: output 0 is exact, and differs"]
