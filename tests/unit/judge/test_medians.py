"""The medians are numpy's, bit by bit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchguard.judge.medians import median, medians
from tests.conftest import ROOT

VALUES = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, 1.0, float("inf"), float("nan"), 5e-324]))


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 40)), elements=VALUES), st.booleans())
def test_medians_equal_numpys(rows: np.ndarray, in_float32: bool) -> None:
    with np.errstate(all="ignore"):
        rows = rows.astype(np.float32) if in_float32 else rows
        theirs = np.asarray(np.median(rows, axis=1))
        np.testing.assert_array_equal(medians(rows), theirs)
        np.testing.assert_array_equal(median(rows[0]), theirs[0])


def test_tests_of_times_and_errors_import_nothing_late() -> None:
    """numpy.ma and numpy.random take 0.1 s to import, longer than the tests of a grade, which come after its replay."""
    code = (
        "import sys; import numpy as np; from benchguard.judge.carried import first_use; "
        "from benchguard.judge.precision import errors_of; from benchguard.problem.spec import Tolerance; "
        "before = set(sys.modules); "
        "first_use([(1.0 + i % 7, i % 5 == 0) for i in range(100)], [i % 10 for i in range(100)]); "
        "errors_of([(np.ones(99, np.float32), np.ones(99))], 'float32', Tolerance()); "
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
