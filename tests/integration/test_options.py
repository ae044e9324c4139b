"""Every option of every command has an effect, or is refused before anything runs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from benchguard.cli.main import SUMMARIES, cli, main
from benchguard.errors import BenchguardError
from benchguard.quarantine.probe import features
from tests.integration.option_runs import RUNS, TASK, Check, OptionRun, Ran, run

RAISES = "raise SystemExit('code of the problem or of the submission ran')\n"


def options_of_all_commands() -> Iterator[tuple[str, str]]:
    """Each option as (command, longest name), from the definition of the command line."""
    context = click.Context(cli)
    commands = {"": cli, **{name: cli.get_command(context, name) for name in SUMMARIES}}
    for name, command in commands.items():
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                yield name, max(parameter.opts, key=len)


def checked_options() -> set[tuple[str, str]]:
    return {
        ("" if each.command.startswith("-") else each.command, option)
        for each in RUNS.values()
        for option in each.checks
    }


@pytest.mark.quick
def test_every_option_of_every_command_has_a_check() -> None:
    """A new option needs an entry in option_runs.py."""
    assert set(options_of_all_commands()) == checked_options()


@pytest.mark.quick
def test_every_check_has_its_option_in_its_run() -> None:
    short = {"--output": "-o"}
    for name, each in RUNS.items():
        for option in each.checks:
            assert option in each.words or short.get(option) in each.words, (name, option)


def holds(check: Check, ran: Ran) -> bool:
    """False also if the run has left nothing to look at."""
    with contextlib.suppress(LookupError, OSError, TypeError, json.JSONDecodeError, BenchguardError):
        return bool(check(ran))
    return False


@pytest.mark.parametrize("command", sorted({each.command for each in RUNS.values() if not each.slow}))
def test_every_option_of_a_command_has_an_effect(command: str, tmp_path: Path, native: Path) -> None:
    """Each check holds for the run with the option, and does not hold without."""
    assert (native / "sim").is_dir()
    check_runs(
        {name: each for name, each in RUNS.items() if each.command == command and not each.slow}, tmp_path
    )


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name, each in RUNS.items() if each.slow])
def test_option_has_an_effect_in_a_slow_run(name: str, tmp_path: Path, native: Path) -> None:
    assert (native / "sim").is_dir()
    if RUNS[name].command == "build":
        run(
            tmp_path / "first", RUNS[name].baseline, tmp_path / "cache"
        )  # a later build finds the shim in the cache
    check_runs({name: RUNS[name]}, tmp_path)


def check_runs(runs: dict[str, OptionRun], folder: Path) -> None:
    """Run baselines once each, then every run, and hold the checks against both.

    The names of the folders are short, because the path of a socket in them has at most 107 bytes.
    """
    baselines: dict[tuple[str, ...], Ran] = {}
    for number, (name, each) in enumerate(runs.items()):
        if "--require-sandbox" in each.checks and is_sandbox_full():
            continue
        cache = folder / "cache" if each.command == "build" else None
        if each.baseline not in baselines:
            baselines[each.baseline] = run(folder / f"{number}b", each.baseline, cache)
        without = baselines[each.baseline]
        ran = run(folder / str(number), each.words, cache, gpu_in_use=each.gpu_in_use)
        for option, check in each.checks.items():
            assert holds(check, ran), (name, option, ran.status, ran.err)
            assert not holds(check, without), (name, option, without.status, without.err)


def is_sandbox_full() -> bool:
    """Whether --require-sandbox has nothing to refuse here."""
    return all(why == "on" for why in features().values())


INLINE = ("grade", "problem.py", "submission.py", "--inline")
GRADE = ("grade", "problem.py", "submission.py")
COMPARE = ("compare", "problem.py", "submission.py", "submission.py")
CAPTURES = ("compare", "absent.ncap", "absent.ncap")
RAN = ("touch", "ran")
"""A command that leaves a file."""


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*INLINE, "--cold", "none"), "--cold has no effect with --inline"),
        ((*INLINE, "--flush-cache"), "--flush-cache has no effect with --inline"),
        ((*INLINE, "--until", "cv=0.1"), "--until has no effect with --inline"),
        ((*INLINE, "--require-converged"), "--require-converged has no effect with --inline"),
        ((*INLINE, "--sets", "4"), "--sets has no effect with --inline"),
        ((*INLINE, "--sets", "8"), "--sets has no effect with --inline"),  # the default of a replayed grade
        ((*INLINE, "--one-use", "12"), "--one-use has no effect with --inline"),
        ((*INLINE, "--device", "1"), "--device has no effect with --inline"),
        ((*INLINE, "--require-evidence", "full"), "--require-evidence has no effect with --inline"),
        ((*INLINE, "--samples", "1024"), "give at most 1023"),
        ((*GRADE, "--cold", "rotate"), "'rotate' is not one of"),
        ((*GRADE, "--cold", "remap"), "'remap' is not one of"),
        ((*COMPARE, "--cold", "rotate"), "cold cannot be 'rotate' for a submission"),
        ((*COMPARE, "--strict"), "--strict is for captures and commands"),
        ((*COMPARE, "--verify"), "--verify is for captures and commands"),
        ((*COMPARE, "--input", "x=y"), "--input is for captures and commands"),
        ((*COMPARE, "--warm-up-samples", "10001"), "give 0 to 10000"),
        ((*INLINE, "--icache", "cold"), "--icache has no effect with --inline"),
        ((*INLINE, "--cold", "warm"), "--cold has no effect with --inline"),
        ((*INLINE, "--warm-up-samples", "2"), "--warm-up-samples has no effect with --inline"),
        ((*GRADE, "--rotating-count", "3"), "No such option"),
        (("replay", "absent.ncap", "--cold", "warm", "--warm-samples", "3"), "leave warm-samples out"),
        (("replay", "absent.ncap", "--warm-up-samples", "10001"), "give 0 to 10000"),
        ((*COMPARE, "--rotating-count", "3"), "--rotating-count is for captures and commands"),
        ((*COMPARE, "--kernel", "x"), "--kernel is for commands"),
        ((*COMPARE, "--driver", "hip-sim"), "is a HIP driver, but a CUDA driver is needed"),
        ((*CAPTURES, "--kernel", "x"), "--kernel is for commands"),
        ((*CAPTURES, "--window", "1"), "--window is for commands"),
        ((*CAPTURES, "--keep", "x"), "--keep is for a problem, or commands"),
        ((*CAPTURES, "--case", "x"), "--case is for a problem"),
        ((*CAPTURES, "--adapter", "gpumode"), "--adapter is for a problem"),
        ((*CAPTURES, "--adapter-option", "cases=all"), "--adapter-option is for a problem"),
        ((*CAPTURES, "--require-evidence", "full"), "only a strict replay has evidence"),
        (("compare", "--", *RAN), "1 commands and 0 captures are given"),
        (("compare", "--", *RAN, "--vs"), "compare takes `-- COMMAND_A --vs COMMAND_B`"),
        (("compare", "absent.ncap", "--", *RAN), "the capture absent.ncap: No such file"),
        (("compare", "--case", "x", "--", *RAN, "--vs", *RAN), "--case is for a problem"),
        (("compare", "--samples", "0", "--", *RAN, "--vs", *RAN), "samples"),
        (
            ("compare", "--cold", "none", "--rotating-count", "3", "--", *RAN, "--vs", *RAN),
            "no effect with cold",
        ),
        (("compare", "--strict", "--cold", "remap", "--", *RAN, "--vs", *RAN), "kernels can reach"),
        (("compare", "--kernel", "a", "--window", "1", "--", *RAN, "--vs", *RAN), "give only one"),
        (
            ("compare", *["--kernel", "a"] * 3, "--", *RAN, "--vs", *RAN),
            "--kernel is given 3 times for 2 commands",
        ),
        (("compare", "--keep", "old", "--", *RAN, "--vs", *RAN), "a.ncap exists"),
        (("replay", "--keep", "old", "--", *RAN), "capture.ncap exists"),
        (("replay", "absent.ncap", "--kernel", "x"), "--kernel is for a command"),
        (("replay", "absent.ncap", "--keep", "x"), "--keep is for a command"),
        (("replay", "absent.ncap", "--", *RAN), "replay takes a capture, or a command"),
        (("replay", "--samples", "5", "--until", "cv=1", "--", *RAN), "give one of them"),
        (("replay", "--kernel", "a", "--window", "1", "--", *RAN), "give only one"),
        ((*GRADE, "--samples", "5", "--until", "cv=0.1"), "give one of them"),
        ((*GRADE, "--adapter-option", "nothing=1"), "no option 'nothing'"),
        ((*GRADE, "--adapter-option", "nothing"), "NAME=VALUE"),
        (("starter", "task.py", "--dtype", "double"), "no parameter of"),
        (("replay", "absent.ncap", "--seed", "1"), "--seed"),
        (("replay", "absent.ncap", "--require-evidence", "full"), "only a strict replay has evidence"),
        (("replay", "absent.ncap", "--require-sandbox", "full"), "only a strict replay has a sandbox"),
        (
            ("--fail-on", "error", "--driver", "hip-sim", "--", "true"),
            "--fail-on examines timing windows of CUDA",
        ),
        (("trace", "--log-size", "64K", "--", *RAN), "--log-size is for a log that is kept; give --log, too"),
        (("trace", "absent.jsonl", "--log-size", "64K"), "--log-size is for a COMMAND"),
        (("serve", "--log", "x", "--log-size", "2G", "--", *RAN), "give a larger --max-log-bytes"),
        (("record", "-o", "x.ncap", "--log-size", "1K", "--", *RAN), "give at least 64K"),
        (("report", "absent.jsonl"), "the report has no output; give --html"),
        (("record", "-o", "x.ncap", "--window", "1", "--kernel", "k", "--", "true"), "give only one"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_option_without_effect_is_refused_before_anything_runs(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problem.py").write_text(RAISES)
    (tmp_path / "submission.py").write_text(RAISES)
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "old").mkdir()
    for name in ("a.ncap", "capture.ncap"):
        (tmp_path / "old" / name).touch()
    with pytest.raises(SystemExit) as ended:
        main(words)
    err = capsys.readouterr().err
    assert (ended.value.code, err.count("\n")) == (2, 1), err
    assert not (tmp_path / "ran").exists()
    assert message in err and "ran" not in err.split()


@pytest.mark.quick
def test_popcorn_without_a_descriptor_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GPU MODE's own status for a missing pipe."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POPCORN_FD", raising=False)
    (tmp_path / "problem.py").write_text(RAISES)
    (tmp_path / "submission.py").write_text(RAISES)
    with pytest.raises(SystemExit, match="111"):
        main((*GRADE, "--popcorn"))
    assert "POPCORN_FD" in capsys.readouterr().err
