"""Find out which protections this machine supports, by starting a throw-away sandboxed process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec

from ..errors import BenchguardError
from ..ipc.folders import temporary_folder
from ..ipc.json_text import UNREADABLE
from .contract import LINE_MAX, Confine, Confined, Event, Order
from .group import Group
from .sandbox import identity
from .sandbox.environment import quarantine_environment
from .start import command, request

PROBE_SECONDS = 30.0


def features() -> dict[str, str]:
    """For each name in contract.FEATURES: "on", or the reason why it is off. Raises BenchguardError."""
    with (
        identity.claimed_user() as user,
        temporary_folder("neutrino-probe-") as folder,
        Group(64) as group,
    ):
        folder.chmod(0o755)
        scratch = folder / "scratch"
        scratch.mkdir(mode=0o700)
        order = Order(
            submission=str(folder),
            language="python",
            entry="solution",
            convention="arguments",
            confine=Confine(str(scratch), (), user=user),
        )
        return _confined(order, scratch, group)


def _confined(order: Order, scratch: Path, group: Group) -> dict[str, str]:
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as stream, request(order) as stdin:
        try:
            done = subprocess.run(
                command(theirs, "probe", group),
                env=quarantine_environment(os.environ, scratch, Path()),
                stdin=stdin,
                capture_output=True,
                pass_fds=[theirs],
                timeout=PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BenchguardError(f"the sandbox could not be tested: {error}") from error
        finally:
            os.close(theirs)
        line = stream.readline(LINE_MAX)
    try:
        event = msgspec.json.decode(line, type=Event)
    except UNREADABLE:
        event = None
    if not isinstance(event, Confined):
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise BenchguardError(f"the sandbox could not be tested: {words[-1] if words else line!r}")
    return event.features
