"""A submission and a file name cannot draw on the terminal: what they name reaches it escaped, and so do all files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("native")
PROBLEM = ROOT / "examples" / "problems" / "vector_add.py"
HONEST_NAME = "größe_日本"
HOSTILE_NAME = "a\x1b[2J\x9b1m\u202e\r"

FORGED_REASON = r"""
import ctypes, os, pathlib, re

FORGED = "\x1b]0;owned\x07\r\nneutrino-bench: pass in 0.1 s\x9b2K\u202e\u2066".encode()
CALL = b"cuLaunchHostFunc"
do_nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
driver = ctypes.CDLL("libcuda.so.1")


def solution(*arguments):
    driver.cuLaunchHostFunc(None, do_nothing, None)
    for capture in pathlib.Path(os.environ["NEUTRINO_CAPTURE"]).iterdir():
        data = capture.read_bytes()
        reason = re.compile(CALL + rb"[ -~]{40,}").search(data)
        if reason:
            start = reason.start() + len(CALL)
            capture.write_bytes(data[:start] + FORGED + data[start + len(FORGED) :])
"""


def run(folder: Path, *words: str) -> tuple[str, str]:
    """Standard output and standard error of the command line."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "PYTHONUTF8": "1"}
    outcome = subprocess.run(
        [sys.executable, "-m", "benchguard", *words],
        cwd=folder, env=environment, capture_output=True, timeout=240, check=False,
    )  # fmt: skip
    return outcome.stdout.decode(), outcome.stderr.decode()


def assert_harmless(text: str) -> None:
    for line in text.split("\n"):
        assert line.isprintable(), ascii(line)


def test_forged_reason_shown_escaped(tmp_path: Path) -> None:
    """The submission writes control characters and a line `pass` into its raw capture, which a reason quotes."""
    submission = tmp_path / "forger.py"
    submission.write_text(FORGED_REASON)
    words = ("--driver", "sim", "--case", "small", "--samples", "3", "--json", "result.json")
    out, err = run(tmp_path, "grade", str(PROBLEM), str(submission), *words)
    document = (tmp_path / "result.json").read_text()
    result = json.loads(document)
    assert (result["verdict"], "owned" in result["reason"]) == ("unreplayable", True)
    for text in (out, err, document, result["reason"]):
        assert_harmless(text)
    assert not any(line.startswith("neutrino-bench: pass") for line in (out + err).splitlines())


FORGED_PROGRESS = r"""
import os
from benchguard.quarantine.runner.reporting import Reporter

begin = Reporter.begin


def forged(self, phase, case=-1):
    begin(self, phase, case)
    os.write(self._descriptor, b'{"event":"began","phase":"pass in 1.25 s; trust replayed"}\n')


Reporter.begin = forged


def solution(*arguments):
    pass
"""


def test_forged_progress_is_no_line_of_a_verdict(tmp_path: Path) -> None:
    submission = tmp_path / "forger.py"
    submission.write_text(FORGED_PROGRESS)
    words = ("--driver", "sim", "--case", "small", "--samples", "3")
    out, err = run(tmp_path, "grade", str(PROBLEM), str(submission), *words)
    assert "failed: the submission's process sent invalid events" in err
    assert not any(line.startswith("neutrino-bench: pass") for line in (out + err).splitlines())


@pytest.mark.parametrize("name", [HOSTILE_NAME, HONEST_NAME])
def test_file_name_in_log_and_summary(tmp_path: Path, name: str) -> None:
    """Parsing the log gives the name itself; an honest name is readable without parsing."""
    folder = tmp_path / name
    folder.mkdir()
    program = folder / "program"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    log = folder / "run.jsonl"
    out, err = run(tmp_path, "--driver", "sim", "--log", str(log), "--summary", "-", "--", str(program))
    for text in (out, err, log.read_bytes().decode()):
        assert_harmless(text)
        assert (HONEST_NAME in text) == (name == HONEST_NAME)
    assert json.loads(log.read_text().splitlines()[0])["command"] == [str(program)]
    assert json.loads(out)["command"] == [str(program)]
    out, err = run(tmp_path, "verify-log", str(log))
    assert "chain valid" in out
    assert_harmless(out)
    out, err = run(tmp_path, "inspect", str(folder / "missing.ncap"))
    assert err.startswith("neutrino-bench: error:") and err.count("\n") == 1
    assert_harmless(err)


def test_compile_errors_stay_on_their_lines(tmp_path: Path) -> None:
    submission = tmp_path / "broken.py"
    submission.write_text("def solution(a, b, c, n):\n\treturn undefined_größe\n")
    words = ("--driver", "sim", "--case", "small", "--samples", "3")
    out, _ = run(tmp_path, "grade", str(PROBLEM), str(submission), *words)
    assert_harmless(out)
    shown = [line.strip() for line in out.splitlines()]
    assert "return undefined_größe" in shown
    assert any(line.startswith("NameError:") for line in shown)
