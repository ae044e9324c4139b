"""The example, unmodified, on the CPU driver: the right picture, and a log of exactly what the driver ran."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchguard import verify_log
from tests.integration.support import Observe

EXAMPLE = Path(__file__).parents[2] / "examples" / "grayscale"
MODULES = {"cuda": "cuda.core", "numba": "numba_cuda"}


@pytest.fixture
def picture() -> ModuleType:
    """The example's own picture.py."""
    spec = importlib.util.spec_from_file_location("picture", EXAMPLE / "picture.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(folder: Path, version: str, out: Path) -> list[str]:
    pytest.importorskip(MODULES[version], reason="comes with the extra examples")
    return [sys.executable, str(folder / "submission.py"), "--version", version, "--out", str(out)]


@pytest.mark.parametrize("version", list(MODULES))
def test_picture_and_log_are_right(
    observe: Observe, tmp_path: Path, picture: ModuleType, version: str
) -> None:
    """The picture is judged here, not by the example; the launches are those that the driver counted."""
    import numpy as np

    observed = observe(arguments(EXAMPLE, version, tmp_path / "out"))
    assert observed.status == 0, observed.stderr
    expected = picture.grey_by_numpy(picture.make_picture(512, 512))
    assert np.array_equal(np.load(tmp_path / "out" / "grey.npy"), expected)

    assert observed.launches == observed.driver_launches
    ((name, grid, block),) = observed.launches
    assert "grayscale" in name
    assert (grid, block) == ((32, 32, 1), (16, 16, 1))
    assert verify_log(observed.log).lines == len(observed.lines)
    (launch,) = observed.of_kind("launch")
    assert launch["image"] in {line["sha256"] for line in observed.of_kind("image")}


def test_wrong_picture_fails_the_example(observe: Observe, tmp_path: Path) -> None:
    """A kernel with another weight: one line, status 1, and the log is there all the same."""
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    kernel = folder / "grayscale.cu"
    kernel.write_text(kernel.read_text().replace("77 * colour[0]", "78 * colour[0]"))
    observed = observe(arguments(folder, "cuda", tmp_path / "out"), "--quiet")
    assert observed.status == 1
    assert observed.stderr.count("\n") == 1
    assert "pixels differ from numpy's" in observed.stderr
    assert observed.launches.total() == 1
