"""The command line: help texts, usage errors, imports."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from benchguard.cli.main import SUMMARIES, cli
from benchguard.quarantine.contract import FEATURES
from tests.conftest import ROOT

HEAVY = {"cffi", "lz4", "msgspec", "numpy", "pycparser", "rich", "torch", "yaml"}


def run(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "benchguard", *map(str, arguments)]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=240, check=False, cwd=cwd, env=environment
    )


def modules_after(code: str) -> set[str]:
    """Names of all modules that are imported once `code` has run."""
    code += "\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(result.stderr.split())


def test_cli_page_equals_help_texts() -> None:
    specification = importlib.util.spec_from_file_location("make_cli", ROOT / "docs" / "make_cli.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert (ROOT / "docs" / "cli.md").read_text() == module.text(), "run `python docs/make_cli.py`"


@pytest.mark.parametrize("name", SUMMARIES)
def test_command_is_found_under_its_name(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None and command.name == name
    assert command.help and SUMMARIES[name].endswith(".")


@pytest.mark.parametrize("name", ["", "observe"])
def test_help_prints_usage(name: str) -> None:
    result = run(*filter(None, [name]), "--help")
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: neutrino-bench")


def test_version_imports_nothing_heavy() -> None:
    code = "import benchguard.cli.main as m\ntry: m.main(['--version'])\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert "benchguard.cli.main" in loaded
    assert not loaded & HEAVY
    assert not loaded & {f"benchguard.cli.{name.replace('-', '_')}" for name in SUMMARIES}


def test_observe_imports_no_numpy_yaml_or_parser() -> None:
    """Modules that only building a shim, grading or a table need."""
    code = "import benchguard.cli.observe, benchguard.audit.supervise, benchguard.cli.interpose"
    loaded = modules_after(code)
    assert "msgspec" in loaded
    assert not loaded & {"lz4", "numpy", "pycparser", "rich", "torch", "yaml"}


def test_package_import_loads_nothing_heavy() -> None:
    assert not modules_after("import benchguard") & (HEAVY | {"click"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--no-such-option", "--", "true"], "No such option"),
        (["--timeout", "soon", "--", "true"], "soon"),
        (["--timeout", "0", "--", "true"], "--timeout"),
        (["--timeout", "nan", "--", "true"], "nan is not a finite number"),
        (["record", "-o", "x.ncap", "--timeout", "inf", "--", "true"], "inf is not a finite number"),
        (["probe", "count", "--engine-timeout", "nan", "--", "true"], "nan is not a finite number"),
        (["import", "pyproject.toml", "--within", "nan"], "nan is not a finite number"),
        (["fast-p", "tests", "--threshold", "nan"], "nan is not a finite number"),
        (["--driver"], "--driver"),
        (["no-such-command"], "no-such-command"),
        (["verify-log"], "LOG"),
        (
            ["--fail-on", "unjoined-kernel,nothing", "--", "true"],
            "'nothing' is neither a finding nor a severity",
        ),
        (["findings", "x", "--fail-on", "worse"], "'worse' is neither"),
        (["findings"], "LOG"),
        (["inspect"], "FILE"),
        (["completion", "tcsh"], "tcsh"),
        (["--log", "x", "--"], "COMMAND"),
        (["--log", "/nowhere/x", "--", "true"], "/nowhere is not a folder"),
        (["--summary", "/", "--", "true"], "--summary"),
        (["record", "-o", "/nowhere/x.ncap", "--", "true"], "/nowhere is not a folder"),
    ],
)
def test_usage_error_is_one_line(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("neutrino-bench: error: ") and message in result.stderr
    assert "--help" in result.stderr


@pytest.mark.parametrize(
    ("driver", "message"),
    [("/nowhere/libcuda.so.1", "No such file"), ("/etc/passwd", "ELF"), ("/bin/true", "driver")],
)
def test_invalid_driver_message_is_one_line(driver: str, message: str, tmp_path: Path) -> None:
    result = run("--driver", driver, "--log", str(tmp_path / "log"), "--", "true")
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1 and message in result.stderr


@pytest.mark.parametrize("command", ["verify-log", "findings", "inspect", "replay"])
def test_missing_file_is_a_usage_error_of_one_line(command: str) -> None:
    result = run(command, "/nowhere/x")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "/nowhere/x: No such file" in result.stderr


def test_no_arguments_print_help() -> None:
    result = run()
    assert result.returncode == 2
    assert "Usage:" in result.stdout + result.stderr


PROBLEM = "raise SystemExit('the problem was imported')\n"
SUBMISSION = "raise SystemExit('the submission was imported')\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grade", "problem.py", "absent.py"], "absent.py"),
        (["grade", "absent.py", "submission.py"], "absent.py"),
        (["grade", "problem.py", "submission.py", "--json", "absent/x.json"], "absent is not a folder"),
        (["grade", "problem.py", "submission.py", "--keep", "problem.py"], "problem.py"),
        (["grade", "problem.py", "submission.py", "--sets", "1"], "sets is 1; give 4 to 1024"),
        (["grade", "problem.py", "submission.py", "--one-use", "0"], "one-use is 0; give 8 to 256"),
        (
            ["grade", "problem.py", "submission.py", "--memory", "1M"],
            "memory is 1048576 bytes; a submission needs at least 64M",
        ),
        (
            ["compare", "problem.py", "a.cu"],
            "problem.py is not a capture; to compare submissions, give PROBLEM A B: 2 paths",
        ),
        (["grade", "problem.py", "submission.py", "--memory", "much"], "not a size"),
        (["grade", "problem.py", "submission.py", "--until", "soon"], "soon"),
        (["grade", "problem.py", "submission.py", "--samples", "0"], "samples"),
        (["grade", "problem.py", "submission.py", "--inline", "--flush-cache"], "--flush-cache"),
        (["grade", "problem.py", "submission.txt"], "submission.txt"),
        (["compare", "problem.py", "submission.py", "absent.py"], "absent.py"),
        (["compare", "problem.py", "submission.py", "submission.txt"], "submission.txt"),
        (["compare", "problem.py", "submission.py", "submission.py", "--json", "absent/x"], "absent is not"),
        (["starter", "problem.py", "-o", "absent/x.cu"], "absent is not a folder"),
        (["starter", "problem.py", "-o", "submission.py"], "submission.py exists"),
    ],
)
def test_usage_error_is_found_before_code_runs(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM)
    (tmp_path / "submission.py").write_text(SUBMISSION)
    (tmp_path / "submission.txt").write_text(SUBMISSION)
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr and "was imported" not in result.stderr


@pytest.mark.full
@pytest.mark.parametrize("words", [["starter"], ["grade", "--adapter", "problem"]], ids=" ".join)
@pytest.mark.parametrize("name", ["p\udcff.py", "\udcff/p.py"])
def test_problem_path_that_is_not_utf8_is_refused_in_one_line(
    words: list[str], name: str, tmp_path: Path
) -> None:
    problem, submission = tmp_path / name, tmp_path / "submission.py"
    problem.parent.mkdir(exist_ok=True)
    problem.write_text(PROBLEM)
    submission.write_text(SUBMISSION)
    result = run(*words, problem.name, *[submission][: words[0] == "grade"], cwd=problem.parent)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "is not UTF-8; rename" in result.stderr


def test_doctor_reports_every_subject() -> None:
    result = run("doctor", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    subjects = [finding["subject"] for finding in json.loads(result.stdout)["findings"]]
    assert subjects == [
        "driver",
        "shim",
        "compiler",
        "cuda.h",
        "hip driver",
        "hip shim",
        "hip headers",
        "memfd",
        "service",
        "torch",
        "bytecode",
        "landlock",
        "mseal",
        "seccomp",
        *FEATURES,
    ]


def test_manual_page_has_every_command_and_option() -> None:
    result = run("man")
    assert result.returncode == 0, result.stderr
    for name in SUMMARIES:
        assert f"\n.SH {name.upper()}\n".replace("-", r"\-") in result.stdout
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for parameter in command.params:
            for option in (
                parameter.opts if isinstance(parameter, click.Option) and not parameter.hidden else ()
            ):
                assert option.replace("-", r"\-") in result.stdout, (name, option)
    assert not [
        line for line in result.stdout.splitlines() if re.match(r"[.'](?!(TH|SH|PP|TP|nf|fi)\b)", line)
    ]


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff in PATH")
def test_manual_page_is_shown_by_groff_without_warnings() -> None:
    shown = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww"],
        input=run("man").stdout,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stderr == ""
    assert "is shown on a page" not in shown.stdout and "COMMAND..." in shown.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_script(shell: str) -> None:
    result = run("completion", shell)
    assert result.returncode == 0
    assert "_NEUTRINO_BENCH_COMPLETE" in result.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["--driver", "h"], ["plain,hip", "plain,hip-sim"]),
        (["build", "--driver", "s"], ["plain,sim"]),
        (["observe", "--driver", "/opt/"], ["file,/opt/"]),
        (["grade", "--driver", "h"], ["file,h"]),
    ],
)
def test_driver_completion_offers_words_then_files(typed: list[str], offered: list[str]) -> None:
    words = ["neutrino-bench", *typed]
    environment = {
        **os.environ,
        "_NEUTRINO_BENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    code = "import sys; from benchguard.cli.main import cli; cli.main(prog_name='neutrino-bench')"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert result.stdout.split() == offered, result.stderr
