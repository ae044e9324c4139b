"""The command line: help that is true, and one line for every mistake."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.quarantine.contract import FEATURES
from tests.conftest import ROOT

COMMANDS = [
    "observe",
    "record",
    "inspect",
    "replay",
    "verify-log",
    "starter",
    "doctor",
    "build",
    "completion",
]


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "benchguard", *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, cwd=cwd, env=environment
    )


def test_the_page_of_commands_is_their_help() -> None:
    """docs/cli.md is made by docs/make_cli.py and not edited."""
    specification = importlib.util.spec_from_file_location("make_cli", ROOT / "docs" / "make_cli.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert (ROOT / "docs" / "cli.md").read_text() == module.text(), "run `python docs/make_cli.py`"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command: str) -> None:
    done = run(*filter(None, [command]), "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: neutrino-bench")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--no-such-option", "--", "true"], "No such option"),
        (["--timeout", "soon", "--", "true"], "soon"),
        (["--timeout", "0", "--", "true"], "--timeout"),
        (["--driver"], "--driver"),
        (["no-such-command"], "no-such-command"),
        (["verify-log"], "LOG"),
        (["inspect"], "CAPTURE"),
        (["completion", "tcsh"], "tcsh"),
        (["--log", "x", "--"], "COMMAND"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("neutrino-bench: error: ") and said in done.stderr
    assert "--help" in done.stderr


@pytest.mark.parametrize(
    ("driver", "said"),
    [("/nowhere/libcuda.so.1", "No such file"), ("/etc/passwd", "ELF"), ("/bin/true", "driver")],
)
def test_what_is_no_driver_is_one_line(driver: str, said: str, tmp_path: Path) -> None:
    done = run("--driver", driver, "--log", str(tmp_path / "log"), "--", "true")
    assert done.returncode == 70
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr


def test_a_missing_log_is_one_line() -> None:
    done = run("verify-log", "/nowhere/log")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_no_arguments_show_the_help() -> None:
    done = run()
    assert done.returncode == 2
    assert "Usage:" in done.stdout + done.stderr


def test_the_doctor_has_a_line_for_everything() -> None:
    done = run("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    subjects = [finding["subject"] for finding in json.loads(done.stdout)]
    assert subjects == [
        "driver",
        "shim",
        "compiler",
        "cuda.h",
        "hip driver",
        "hip shim",
        "hip headers",
        "memfd",
        "torch",
        "landlock",
        "mseal",
        "seccomp",
        *FEATURES,
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0
    assert "_NEUTRINO_BENCH_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["--driver", "h"], ["plain,hip", "plain,hip-sim"]),
        (["build", "--driver", "s"], ["plain,sim"]),
        (["observe", "--driver", "/opt/"], ["file,/opt/"]),
        (["grade", "--driver", "h"], ["file,h"]),
    ],
)
def test_drivers_are_completed(typed: list[str], offered: list[str]) -> None:
    """The words, and files where none fits; HIP's only where HIP can be had."""
    words = ["neutrino-bench", *typed]
    environment = {
        **os.environ,
        "_NEUTRINO_BENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    code = "import sys; from benchguard.cli.main import cli; cli.main(prog_name='neutrino-bench')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.stdout.split() == offered, done.stderr


def test_importing_the_package_is_cheap() -> None:
    """Neither torch nor numpy nor the command line comes with it."""
    code = "import benchguard, sys; print(sorted({'torch', 'numpy', 'click', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_inline_there_are_no_caches_to_flush() -> None:
    done = run("grade", "problem.py", "submission.py", "--inline", "--flush-cache")
    assert done.returncode == 2
    assert "leave --flush-cache out" in done.stderr
    assert len(done.stderr.splitlines()) == 1
