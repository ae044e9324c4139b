"""neutrino-bench serve: the supervisor as a service."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any

import click

from .. import exit_status
from ..errors import UsageError
from ..ipc.json_text import json_document
from ..serve.options import ServeOptions
from ..version import __version__
from .options import Flag, Size, driver_option, log_size, options_of, policy_option, quiet_option
from .output import notify, print_document


@click.command(
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
    epilog="\b\nSIGTERM, SIGINT and SIGHUP end the service; it then ends all logs.\n"
    "With COMMAND it ends when COMMAND does, with COMMAND's exit status.\n"
    "`neutrino-bench env` prints the variables with which programs find it.",
)
@click.option(
    "--log",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write the audit logs to this folder, one for each program.",
)
@click.option(
    "--socket",
    "path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Listen at this path.  [default: FOLDER/serve.sock]",
)
@driver_option
@policy_option
@options_of(
    ServeOptions,
    {
        "any_user": "Also record programs of other users.",
        "max_programs": Flag("Programs that are recorded at the same time.", type=click.IntRange(1)),
        "max_programs_per_user": Flag(
            "Programs of one user that are recorded at the same time.", type=click.IntRange(1)
        ),
        "max_log_bytes": Flag("Longest log of one program.", metavar="SIZE", type=Size()),
        "log_size": log_size,
        "max_total_bytes": Flag("Size of all logs in the folder.", metavar="SIZE", type=Size()),
        "image_bytes": Flag(
            "Memory for the code images of one program.", metavar="SIZE", name="image-memory", type=Size()
        ),
    },
)
@click.option("--list", "as_list", is_flag=True, help="List the programs of a running service as JSON.")
@quiet_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def serve(
    folder: Path | None,
    path: Path | None,
    driver: str,
    policy: str | None,
    as_list: bool,
    quiet: bool,
    command: tuple[str, ...],
    **limits: Any,
) -> int:
    """Write an audit log for each program that runs with the variables of `neutrino-bench env`.

    Programs may start, fork, execute others and die at any time; each process that uses the driver has its own log.
    With COMMAND, for the entry point of a container: run COMMAND with these variables.
    """
    from ..audit.environment import shim_environment
    from ..serve.place import socket_in

    options = ServeOptions(**limits)
    if folder is None and (path is None or not as_list):
        raise UsageError("serve needs --log FOLDER, where the logs go")
    where = path.absolute() if path is not None else socket_in(folder) if folder is not None else Path()
    if as_list:
        from ..serve.client import list_programs

        print_document(json_document(list_programs(where)))
        return exit_status.PASS
    from ..policy import cordon_for
    from ..serve.service import Service
    from .interpose import announced_interposer

    assert folder is not None
    interposer = announced_interposer(driver, quiet)
    cordon = cordon_for(policy, interposer.surface)
    surface = hashlib.sha256(interposer.shim.with_name("surface.json").read_bytes()).hexdigest()
    service = Service(
        folder.absolute(),
        where,
        {surface: interposer},
        options,
        __version__,
        say=(lambda _: None) if quiet else _notify,
        warn=_notify,
        cordon=cordon,
    )
    environment = {**shim_environment(interposer, None, os.environ), "NEUTRINO_SERVE": str(where)}
    ending = service.run(command, environment)
    if ending.status:
        return ending.status
    return exit_status.INTERNAL if ending.trouble else exit_status.PASS


def _notify(text: str) -> None:
    """A service goes on if nobody reads its messages, or if the disk that they go to is full."""
    with contextlib.suppress(OSError):
        notify(text)
