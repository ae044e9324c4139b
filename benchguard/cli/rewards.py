"""neutrino-bench rewards: answer a trainer's requests for rewards over HTTP."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .. import exit_status
from ..errors import UsageError
from ..grade.options import GradeOptions
from ..rewards.reward import Baseline, baseline_of
from ..rewards.rewarder import Rewarder, RewardTask
from ..rewards.scale import Scale
from ..rewards.server import RewardServer, ServerOptions
from .fleet_flags import fleet_options
from .options import Flag, driver_option, options_of, pairs, quiet_option
from .output import notify

TOKEN_MIN = 16
SCORES = ("violation", "failed", "wrong", "slow_pass", "fast_pass")
SERVER = ("host", "port", "grades")


@click.command(
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog="\b\n"
    "POST /reward takes {problem, response} or {problem, source, language}; GET /health names the problems.\n"
    "A failure of a machine is status 503, and no reward. docs/fleet.md has the adapters to trainers.\n"
    "COMMAND has the server's address in NEUTRINO_REWARDS. The service ends with it, and with its exit status.",
)
@click.option(
    "--problem",
    "problems",
    multiple=True,
    required=True,
    metavar="NAME=PROBLEM",
    callback=lambda _, __, words: pairs("--problem", words),
    help="Reward submissions to this problem (PATH or PATH:NAME) under this name; may be repeated.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME=RESULT",
    callback=lambda _, __, words: pairs("--baseline", words),
    help="Compare passes with the time of this result of `grade --json`; may be repeated.  [default: every pass scores "
    "the same]",
)
@options_of(
    Scale,
    {
        "violation": Flag("Score of a violation.", "SCORE"),
        "failed": Flag(
            "Score of a submission that fails to compile or run, or runs into its time limit.", "SCORE"
        ),
        "wrong": Flag("Score of wrong outputs.", "SCORE"),
        "slow_pass": Flag("Limit of a pass's score as its time grows.", "SCORE"),
        "fast_pass": Flag("Limit of a pass's score as its time goes to 0.", "SCORE"),
    },
)
@options_of(
    ServerOptions,
    {
        "host": Flag(
            "Listen at this address. Addresses that other machines reach need --token-file.", "ADDRESS"
        ),
        "port": Flag("Listen at this TCP port (0: a free one).", "PORT"),
        "grades": Flag("Submissions that are graded at the same time; give the number of GPUs.", "N"),
    },
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Refuse clients that do not send the token in this file.",
)
@fleet_options
@options_of(
    GradeOptions,
    {
        "samples": Flag(
            "Take exactly N samples per case.  [default: until converged; 20 on the CPU driver]", "N"
        ),
        "timeout": Flag("Time limit of a grade.  [default: the suite's, or 300]", "SECONDS"),
        "wait_for_gpu": Flag(
            "Wait this long in a grade while other grades or replays use the GPU. The wait does not count for "
            "--timeout.",
            "SECONDS",
        ),
        "require_sandbox": "Refuse to run submissions in a partial sandbox.",
    },
)
@driver_option
@quiet_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def rewards(
    problems: dict[str, str],
    baselines: dict[str, str],
    token_file: Path | None,
    engine: Any,
    address: str | None,
    cascade: bool,
    quiet: bool,
    command: tuple[str, ...],
    **values: Any,
) -> int:
    """Grade submissions for trainers, and answer with rewards over HTTP.

    A reward is a score with verdict, reason and evidence. A slow pass scores more than any other verdict, and a
    violation at most as much as wrong outputs. Serves until COMMAND ends; without it until SIGTERM or Ctrl-C.
    """
    from ..fleet.job import Source
    from ..fleet.service import GradeService

    scale = Scale(**{name: values.pop(name) for name in SCORES})
    token = token_in(token_file) if token_file is not None else ""
    server_options = ServerOptions(**{name: values.pop(name) for name in SERVER}, token=token)
    options = GradeOptions(**values)
    tasks = tasks_of(problems, baselines)
    say = (lambda _: None) if quiet else _say
    paths = list(problems.values())
    service = GradeService(paths, options, engine=engine, address=address, cascade=cascade, say=say)
    rewarder = Rewarder(
        tasks, lambda p, code: service.grade(p, Source(code.source, code.language)), scale, service.languages
    )
    with service, _listening(rewarder, server_options, say) as server:
        where = "on a Ray cluster" if engine == "ray" else "on this machine"
        say(f"serving at {server.url}; grading {where}; problems: {', '.join(sorted(tasks))}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            if command:
                return _run(command, server.url)
            thread.join()
        finally:
            server.shutdown()
            thread.join()
    return exit_status.PASS


def tasks_of(problems: dict[str, str], baselines: dict[str, str]) -> dict[str, RewardTask]:
    """The tasks by name. Raises UsageError for a baseline without a problem, or that is not a timed pass."""
    for name in baselines.keys() - problems.keys():
        raise UsageError(f"--baseline {name}: there is no --problem {name}")
    return {
        name: RewardTask(problem, baseline_in(Path(baselines[name])) if name in baselines else None)
        for name, problem in problems.items()
    }


def token_in(path: Path) -> str:
    """The token in a file. Raises UsageError for a file that cannot be read, and for a token that can be guessed or
    cannot be sent in a header."""
    try:
        token = path.read_bytes().strip().decode("ascii", "replace")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check --token-file") from error
    if len(token) < TOKEN_MIN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{path} must hold one word of at least {TOKEN_MIN} ASCII characters; make one with `openssl rand -hex 32`"
        )
    return token


def baseline_in(path: Path) -> Baseline:
    """The time of a result of `grade --json`. Raises UsageError."""
    import msgspec

    from ..grade.result import read_result

    try:
        return baseline_of(read_result(path))
    except OSError as error:
        raise UsageError(f"--baseline: {path} cannot be read: {error.strerror}; check the path") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--baseline: {path} is not a result of `grade --json`: {error}; give such a result"
        ) from error
    except UsageError as error:
        raise UsageError(f"--baseline: {path}: {error}") from error


def _listening(rewarder: Rewarder, options: ServerOptions, say: Any) -> RewardServer:
    try:
        return RewardServer(rewarder, options, say)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {options.host}:{options.port}: {error.strerror}; choose another address or port"
        ) from error


def _run(command: Sequence[str], url: str) -> int:
    """Run the command of a service; its exit status as a shell reports it."""
    try:
        with subprocess.Popen(command, env={**os.environ, "NEUTRINO_REWARDS": url}) as child:
            status = child.wait()
    except FileNotFoundError as error:
        raise UsageError(f"{command[0]} does not exist") from error
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from error
    return status if status >= 0 else 128 - status


def _say(text: str) -> None:
    """A service goes on if nobody reads its messages."""
    with contextlib.suppress(OSError):
        notify(text)
