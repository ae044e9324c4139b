"""neutrino-bench: the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from .. import __version__
from ..codegen.errors import CodegenError
from ..errors import BenchguardError
from ..shim.errors import ShimError
from .build import build
from .compare import compare
from .completion import completion
from .doctor import doctor
from .grade import grade
from .inspect import inspect
from .observe import observe
from .record import record
from .replay import replay
from .starter import starter
from .streams import ClosedPipeError, closed_pipes_renamed, exit_unwritable, exit_with, replace_closed_output
from .termination import raise_on_termination, status_of
from .verify_log import verify_log

STATUS_USAGE = 2
STATUS_OURS = 70

EXAMPLES = """
\b
Examples:
  neutrino-bench -- python submission.py
  neutrino-bench --log run.audit.jsonl --driver sim -- ./program
  neutrino-bench record -o x.ncap --launches 100:110 -- python submission.py
  neutrino-bench replay x.ncap --verify
  neutrino-bench grade problem.py submission.cu
  neutrino-bench compare problem.py before.cu after.cu
  neutrino-bench verify-log run.audit.jsonl
  neutrino-bench doctor
"""


class _Group(click.Group):
    """`neutrino-bench [OPTIONS] -- COMMAND` is `neutrino-bench observe [OPTIONS] -- COMMAND`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0] not in self.commands and args[0] not in own and (args[0].startswith("-")):
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


@click.group(
    cls=_Group,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "--version", prog_name="neutrino-bench", message="%(prog)s %(version)s")
def cli() -> None:
    """Put a shim between a GPU program and its driver, and see what it launches.

    Without a subcommand, the command after `--` is observed: it runs as always, and every kernel it launches is
    written to an audit log. On a machine without a GPU it runs on the embedded CPU driver.
    """


COMMANDS = (
    observe, record, inspect, replay, grade, compare, starter, verify_log, doctor, build, completion,
)  # fmt: skip
for command in COMMANDS:
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Exit with the observed command's status, or ours: 2 usage, 124 time-out, 70 our own error."""
    replace_closed_output()
    raise_on_termination()
    try:
        status = cli.main(
            list(arguments) if arguments is not None else None, "neutrino-bench", standalone_mode=False
        )
        exit_with(status if isinstance(status, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        exit_with(STATUS_USAGE)
    except click.Abort as error:
        exit_with(status_of(error.__cause__))
    except click.ClickException as error:
        hint = (
            error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "neutrino-bench"
        )
        _fail(f"{error.format_message().rstrip('.')}; see `{hint} --help`", STATUS_USAGE)
    except BenchguardError as error:
        _fail(str(error), error.status)
    except (ShimError, CodegenError) as error:
        _fail(str(error), STATUS_OURS)
    except (OSError, ClosedPipeError) as error:
        exit_unwritable(error)


def _fail(message: str, status: int) -> NoReturn:
    with contextlib.suppress(OSError):
        click.echo(f"neutrino-bench: error: {message}", err=True)
    exit_with(status)
