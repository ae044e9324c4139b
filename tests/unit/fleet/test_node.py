"""A machine gets work only if its report fits the needs of the run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.fleet.node import NodeReport, needs_of, parse_report, refusal_of
from benchguard.grade.options import GradeOptions
from benchguard.grade.problem_identity import sha256_of
from benchguard.ipc.json_text import json_line
from benchguard.machine.checks import Finding
from benchguard.quarantine.contract import FEATURES
from benchguard.version import __version__

ON = dict.fromkeys(FEATURES, "on")


@pytest.fixture
def problem(tmp_path: Path) -> str:
    (tmp_path / "p.py").write_text("a problem")
    return str(tmp_path / "p.py")


def report(problem: str, **changes: Any) -> NodeReport:
    """The report of a machine that is as the driver's."""
    sound = NodeReport(__version__, {problem: sha256_of(problem)}, False, (Finding("ok", "shim", ""),), ON)
    return msgspec.structs.replace(sound, **changes)


def test_machine_that_fits_gets_work(problem: str) -> None:
    assert refusal_of(report(problem), needs_of([problem], GradeOptions()), gpu=True) == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": "0.0.1"}, "neutrino-bench 0.0.1 is installed"),
        ({"problems": {}}, "cannot be read there"),
        ({"findings": (Finding("fail", "driver", "no driver"),)}, "driver: no driver"),
        ({"is_sim": True}, "it has no GPU driver"),
        ({"features": ON | {"network": "no seccomp"}}, "the sandbox is partial: network: no seccomp"),
        ({"features": ON | {"system calls": "no seccomp"}}, "system calls: no seccomp"),
        ({"features": ON | {"filesystem": "no landlock"}}, "filesystem: no landlock"),
        ({"features": {}}, "network: not tested"),
    ],
)
def test_machine_that_does_not_fit_gets_no_work(problem: str, changes: dict[str, Any], reason: str) -> None:
    assert reason in refusal_of(report(problem, **changes), needs_of([problem], GradeOptions()), gpu=True)


def test_machine_with_another_problem_gets_no_work(problem: str) -> None:
    other = report(problem, problems={problem: "0" * 64})
    assert "differs there" in refusal_of(other, needs_of([problem], GradeOptions()), gpu=True)


def test_partial_sandbox_is_refused_only_if_a_full_one_is_required(problem: str) -> None:
    partial = report(problem, features=ON | {"identity": "it runs as root"})
    needs = needs_of([problem], GradeOptions())
    assert refusal_of(partial, needs, gpu=True) == ""
    full = needs_of([problem], GradeOptions(require_sandbox="full"))
    assert refusal_of(partial, full, gpu=True) == "the sandbox is partial: identity: it runs as root"


def test_hash_of_a_problem_covers_its_file_or_folder(problem: str, tmp_path: Path) -> None:
    assert sha256_of(f"{problem}:Name") == sha256_of(problem)
    before = sha256_of(str(tmp_path))
    (tmp_path / "data.txt").write_text("x")
    assert sha256_of(str(tmp_path)) != before
    with pytest.raises(UsageError, match="cannot be read"):
        needs_of([str(tmp_path / "absent.py")], GradeOptions())


def test_random_reports_are_parsed_or_refused(problem: str) -> None:
    """A fuzzer with a fixed seed."""
    good = json_line(report(problem))
    assert parse_report(good) == report(problem)
    for seed in range(500):
        draw = random.Random(seed)
        data = bytearray(good)
        at = draw.randrange(len(data))
        data[at : at + draw.randrange(4)] = draw.randbytes(draw.randrange(4))
        try:
            assert isinstance(parse_report(bytes(data)), NodeReport)
        except BenchguardError as error:
            assert "invalid report" in str(error)
