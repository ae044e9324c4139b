"""Kernels that once made the CPU driver use memory that is not its own, on a CPU driver built with a sanitizer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.sanitize.test_sanitized import FOLDER, OPTIONS
from tests.sim.isolated import Outcome, isolated
from tests.sim.test_device_launch import MAX_DEPTH, START
from tests.sim.test_printf import FLAGS_MAX, PRINT_ALL_FLAGS

pytestmark = pytest.mark.skipif(not FOLDER, reason="run by `python build.py sanitize`")


def sanitized(code: str) -> Outcome:
    """Like isolated(), but a sanitizer report ends the child with a status that fails the test."""
    compiler = os.environ.get("CC", "cc")
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={each}"], capture_output=True, text=True, check=True
        ).stdout
        for each in ("libasan.so", "libubsan.so")
    ]
    driver = Path(str(FOLDER)) / "address-undefined" / "sim" / "libcuda.so.1"
    return isolated(driver, code, LD_PRELOAD=":".join(each.strip() for each in libraries), **OPTIONS)


def test_parameters_of_a_refused_launch_are_not_freed() -> None:
    outcome = sanitized(START + 'answer(run(driver, load(driver, NESTED), "nested")[:4])\n')
    assert outcome.answers == [[25, MAX_DEPTH, 7, MAX_DEPTH]]


def test_format_with_as_many_numbers_as_flags_fits_its_buffer() -> None:
    assert sanitized(PRINT_ALL_FLAGS).answers == [[FLAGS_MAX + 1, 85]]
