"""neutrino-bench env: the variables that put programs under the shim of a running service."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from ..ipc.json_text import json_document
from .options import OutputFolder, complete_policy, driver_option
from .output import print_document

if TYPE_CHECKING:
    from ..shim.surface import Surface

FORMATS = ("shell", "env-file", "dockerfile", "json")


@click.command(
    epilog='\b\nExample:\n  neutrino-bench serve --log logs &\n  eval "$(neutrino-bench env --log logs)"\n  ./program\n'
)
@click.option(
    "--log",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder of the service: `neutrino-bench serve --log FOLDER`.",
)
@click.option(
    "--socket",
    "path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Socket of the service, if it has another than FOLDER/serve.sock.",
)
@driver_option
@click.option(
    "--filter",
    "callers",
    metavar="WORDS",
    help="Do not log calls from libraries whose names contain one of these comma-separated words: cublas,cudnn.",
)
@click.option(
    "--copy",
    "copy_folder",
    type=OutputFolder(),
    metavar="FOLDER",
    help="Copy the shim and the preload library to this folder, and print variables that name the copies.",
)
@click.option(
    "--policy",
    metavar="FILE|NAME",
    shell_complete=lambda ctx, parameter, typed: complete_policy(typed),  # noqa: ARG005
    help="Make programs obey this policy (implies --require): a file, or observe, grading, quarantine or strict.",
)
@click.option(
    "--require", is_flag=True, help="Make driver calls fail in a process that no supervisor records."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="shell",
    show_default=True,
    help="Print export lines, lines for `docker run --env-file`, lines for a Dockerfile, or a JSON object.",
)
def env(
    folder: Path | None,
    path: Path | None,
    driver: str,
    callers: str | None,
    copy_folder: Path | None,
    policy: str | None,
    require: bool,
    form: str,
) -> int:
    """Print the environment variables that put programs under the shim of `neutrino-bench serve`."""
    from ..audit.environment import shim_environment
    from ..serve.place import check_socket, socket_in
    from ..shim.interposer import copy_to
    from .interpose import announced_interposer

    if path is None:
        if folder is None:
            raise UsageError("env needs --log FOLDER, the folder of the service, or --socket PATH")
        path = socket_in(folder)
    check_socket(path.absolute())
    interposer = announced_interposer(driver, quiet=False)
    if copy_folder is not None:
        interposer = copy_to(copy_folder.absolute(), interposer)
    variables = shim_environment(interposer, callers, os.environ)
    variables["NEUTRINO_SERVE"] = str(path.absolute())
    if policy is not None:
        variables["NEUTRINO_POLICY"] = _offered(policy, folder, interposer.surface)
    if require or policy is not None:
        variables["NEUTRINO_REQUIRE"] = "1"
    new = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    print_document(_text(new, form))
    return 0


def _offered(spec: str, folder: Path | None, surface: Surface) -> str:
    """The SHA-256 by which programs ask the service for a policy. Stores a policy that is a file. Raises UsageError."""
    from ..policy import NAMES, compile_policy, load_policy
    from ..serve.policies import store

    policy = load_policy(spec)
    compile_policy(policy, surface)
    if spec not in NAMES:
        if folder is None:
            raise UsageError(f"the policy {spec} is stored in the service's folder; give --log FOLDER, too")
        store(folder.absolute(), policy)
    return policy.sha256


def _text(variables: dict[str, str], form: str) -> str:
    if form == "json":
        return json_document(variables)
    for name, value in variables.items():
        if "\n" in value:
            raise UsageError(f"{name} has a line break; print --format json")
    return "".join(f"{_line(name, value, form)}\n" for name, value in variables.items())


def _line(name: str, value: str, form: str) -> str:
    if form == "shell":
        return f"export {name}={shlex.quote(value)}"
    if form == "env-file":
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'ENV {name}="{escaped}"'
