"""neutrino-bench: the command line."""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn

import click

from .. import __version__, exit_status
from ..errors import BenchguardError
from .output import notify
from .streams import ClosedPipeError, closed_pipes_renamed, exit_unwritable, exit_with, replace_closed_output
from .termination import end_watch, interrupted_status, raise_on_termination

SUMMARIES = {
    "observe": "Run a command and log every kernel that it launches.",
    "trace": "Show every driver call of a command, live.",
    "probe": "Run a command with instrumented kernels, and keep their traces.",
    "serve": "Log the kernels of many programs, as a service.",
    "env": "Print the variables that put programs under a service.",
    "record": "Run a command and capture a region of its GPU work.",
    "inspect": "Show what a capture, a log or a code image contains.",
    "replay": "Time a capture in a clean process.",
    "grade": "Judge and time a submission to a problem.",
    "batch": "Grade many submissions, and go on where an earlier run stopped.",
    "regrade": "Verify a stored grade: replay its captures, compare verdict and times.",
    "compare": "Find out which of two submissions, captures or commands is faster.",
    "fast-p": "Print KernelBench's score over a folder of comparisons.",
    "rewards": "Answer a trainer's requests for rewards over HTTP.",
    "starter": "Write a template for a submission to a problem.",
    "findings": "Examine the timing windows of an observed program.",
    "report": "Show an audit log or a result as a page.",
    "export": "Write results in the format of another suite.",
    "import": "Show results of another suite, and own grades beside them.",
    "verify-log": "Check the hash chain of an audit log.",
    "doctor": "Check this machine: driver, shim, compiler, headers, sandbox.",
    "build": "Build the shim for a driver.",
    "completion": "Print a shell completion script.",
    "man": "Print the manual page.",
}
"""Each command is the function of its name in the module of its name, which is imported when the command is called.

A name that is a keyword of Python has an underscore behind it there."""

EXAMPLES = """
\b
Examples:
  neutrino-bench -- python submission.py
  neutrino-bench --log run.audit.jsonl --driver sim -- ./program
  neutrino-bench trace -- ./program
  neutrino-bench record -o x.ncap --launches 100:110 -- python submission.py
  neutrino-bench replay x.ncap --verify
  neutrino-bench grade problem.py submission.cu
  neutrino-bench batch --problem problem.py --results results.jsonl *.cu
  neutrino-bench compare problem.py before.cu after.cu
  neutrino-bench compare -- python before.py --vs python after.py
  neutrino-bench verify-log run.audit.jsonl
  neutrino-bench doctor
"""


class _Group(click.Group):
    """Imports a command when it is called; `neutrino-bench [OPTIONS] -- COMMAND` means `neutrino-bench observe ...`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in SUMMARIES:
            return None
        name = cmd_name.replace("-", "_")
        name += "_" if iskeyword(name) else ""
        command: click.Command = getattr(import_module(f".{name}", __package__), name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0].startswith("-") and args[0] not in own:
            args = ["observe", *args]
        return super().parse_args(ctx, args)

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        with closed_pipes_renamed():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with closed_pipes_renamed():
            return super().invoke(ctx)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OBSERVE OPTIONS] -- COMMAND...")
        formatter.write_usage(ctx.command_path, "SUBCOMMAND [OPTIONS]", prefix="       ")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


@click.group(
    cls=_Group,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "--version", prog_name="neutrino-bench", message="%(prog)s %(version)s")
def cli() -> None:
    """Observe, replay and grade GPU programs.

    Without a subcommand, run the command after `--` and write every kernel that it launches to an audit log. On a
    machine without a GPU, programs run on the built-in CPU driver.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status (benchguard/exit_status.py). Its context's `obj` is when it began."""
    began = time.monotonic()
    try:
        raise_on_termination()
        replace_closed_output()
        status = cli.main(
            list(arguments) if arguments is not None else None,
            "neutrino-bench",
            standalone_mode=False,
            obj=began,
        )
        exit_with(status if isinstance(status, int) else exit_status.PASS)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        exit_with(exit_status.USAGE)
    except (click.Abort, KeyboardInterrupt, RuntimeError) as error:
        # click turns an interrupt into an Abort, and Python 3.11 one in __set_name__ into a RuntimeError.
        status = interrupted_status(error)
        if status is None and not isinstance(error, click.Abort):
            raise
        exit_with(exit_status.INTERRUPTED if status is None else status)
    except click.ClickException as error:
        hint = (
            error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "neutrino-bench"
        )
        _fail(f"{error.format_message().rstrip('.')}; see `{hint} --help`", exit_status.USAGE)
    except BenchguardError as error:
        _fail(str(error), error.status)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            _fail("too many open files; raise the limit with `ulimit -n`", exit_status.INTERNAL)
        if error.filename is not None:
            _fail(
                f"{error.filename}: {error.strerror}; check the path, its rights and free space",
                exit_status.INTERNAL,
            )
        if isinstance(error, FileNotFoundError):  # of os.getcwd and tempfile; no write raises it
            _fail(
                f"no working folder, or none for temporary files: {error.strerror}; change to a folder that exists, "
                "or name a writable one in TMPDIR",
                exit_status.INTERNAL,
            )
        exit_unwritable(error)
    except ClosedPipeError as error:
        exit_unwritable(error)
    finally:
        end_watch()


def _fail(message: str, status: int) -> NoReturn:
    with contextlib.suppress(OSError):
        notify(f"error: {message}")
    exit_with(status)
