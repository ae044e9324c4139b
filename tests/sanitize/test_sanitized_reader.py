"""The engine's reader of captures under the sanitizers: the parent, the decoders and every validation rule.

A decoder that a sanitizer stops is killed by its sandbox, so that a capture which is well would be refused; what
the decoders do with hostile bytes is fuzzed in one process (tests/fuzz/run.py capture).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.altered import Altered
from tests.support.captures import CAPTURES, saxpy_capture
from tests.unit.replay.support import Compiler, Reader, compile_reader
from tests.unit.replay.test_reader_rules import CASES

pytestmark = pytest.mark.skipif(
    not os.environ.get("NEUTRINO_SANITIZED"), reason="run by `python build.py sanitize`"
)

OPTIONS = {
    "ASAN_OPTIONS": "exitcode=99:abort_on_error=0:detect_stack_use_after_return=0",  # leaks are reported
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
}


@pytest.fixture(scope="module")
def read(compile_c: Compiler) -> Reader:
    return compile_reader(compile_c, "sanitized_reader", ("-fsanitize=address,undefined",))


@pytest.mark.parametrize("name", CAPTURES)
def test_valid_captures_are_read(name: str, read: Reader, tmp_path: Path) -> None:
    answer = read(CAPTURES[name](tmp_path / "x.ncap"), environment=OPTIONS)
    assert (answer.status, answer.line) == (0, "")


@pytest.mark.parametrize("how", ["", "filtered"])
def test_large_capture_is_read(how: str, read: Reader, tmp_path: Path) -> None:
    path = saxpy_capture(tmp_path / "x.ncap", 1_000_000)
    assert read(path, how=how, environment=OPTIONS).status == 0


@pytest.mark.parametrize("name", CASES)
def test_invalid_captures_are_refused(name: str, read: Reader, tmp_path: Path) -> None:
    altered = Altered(CAPTURES[CASES[name].capture](tmp_path / "whole.ncap"))
    CASES[name].alter(altered)
    answer = read(altered.write(tmp_path / "altered.ncap"), environment=OPTIONS)
    assert answer.status == 1
    assert CASES[name].said in answer.line
