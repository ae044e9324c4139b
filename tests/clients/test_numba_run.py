"""The runner of numba-cuda's suite says what became of every test, of those after a crash too."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

MODULE = """
import os, time
import pytest

launches = os.environ["SIM_LAUNCH_LOG"]


def test_passes():
    with open(launches, "a") as log:
        log.write("1 kernel 1,1,1 1,1,1 0\\n" * 2)


def test_crashes():
    os.abort()


@pytest.mark.parametrize("number", [1, 2])
def test_after_the_crash(number):
    assert number == 1, "CUDA_ERROR_ILLEGAL_ADDRESS"


def test_in_a_new_process():
    assert not os.path.exists(launches)


@pytest.mark.skip(reason="nvdisasm needed")
def test_skips():
    pass


@pytest.mark.xfail(reason="not yet")
def test_expected_failure_is_recognised():
    assert False


def test_hangs():
    time.sleep(60)


@pytest.fixture
def bad():
    yield
    raise ValueError("at the end")


def test_fails_at_its_end(bad):
    pass
"""


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import numba_run

    yield numba_run
    sys.modules.pop("numba_run")


def test_every_test_gets_its_outcome(runner: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_module.py").write_text(MODULE)
    settings = runner.Settings(sys.executable, False, 10, tmp_path, tmp_path)
    module = runner.run_module("test_module.py", settings)
    outcomes = {test.name.partition("::")[2]: test.outcome for test in module.tests}
    assert outcomes == {
        "test_passes": "passed",
        "test_crashes": "crashed",
        "test_after_the_crash[1]": "passed",
        "test_after_the_crash[2]": "failed",
        "test_in_a_new_process": "passed",
        "test_skips": "skipped",
        "test_expected_failure_is_recognised": "xfailed",
        "test_hangs": "timeout",
        "test_fails_at_its_end": "failed",
    }
    assert module.tests[0].launches == 2
    assert "nvdisasm" in next(test.text for test in module.tests if test.outcome == "skipped")


def test_unimportable_module_has_failed(runner: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_module.py").write_text("import none_of_the_sort\n")
    module = runner.run_module(
        "test_module.py", runner.Settings(sys.executable, False, 30, tmp_path, tmp_path)
    )
    (test,) = module.tests
    assert (test.name, test.outcome) == ("test_module.py", "failed")
    assert "none_of_the_sort" in test.text


def test_patterns_select_tests(runner: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_module.py").write_text(MODULE)
    settings = runner.Settings(sys.executable, False, 30, tmp_path, tmp_path)
    module = runner.run_module("test_module.py", settings, ["test_module.py::test_skips", "*::test_p*"])
    assert [test.outcome for test in module.tests] == ["passed", "skipped"]
