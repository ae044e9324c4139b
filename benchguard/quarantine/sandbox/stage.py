"""The first program of a sandboxed process. It enters the sandbox before any code of the submission runs, or before a
program of ours sees a byte that the submission wrote.

    python -I -m benchguard.quarantine.sandbox.stage EVENTS SUPERVISOR SANDBOX CGROUP

with an Order or a Task on its standard input. EVENTS is the descriptor for events, and SUPERVISOR the
parent's number. SANDBOX is "full" to run the submission only if all protections are on, "probe" to run nothing, or
"any". CGROUP is the folder of a cgroup to enter, or empty.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from pathlib import Path

import msgspec

from ...ipc.processes import end_with, lower_priority
from ..contract import CONFINE, FEATURES, Broke, Confined, Event, Order, Task, missing_features
from ..named import function_named
from . import (
    environment,
    filesystem,
    identity,
    keeper,
    landlock,
    limits,
    privileges,
    shared_memory,
    system_calls,
)

ORDER_MAX = 64 << 20
STATUS_REFUSED = 3


def main(arguments: list[str]) -> None:
    """Fork: the parent becomes the keeper, the child the quarantine. Does not return."""
    events, supervisor, sandbox, cgroup = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3]
    order: Order | Task = msgspec.json.decode(sys.stdin.buffer.read(ORDER_MAX), type=Order | Task)
    places = filesystem.places(order.readable, order.confine.network)
    who = identity.decide(order.confine.user, places.needed, order.confine.scratch)
    bounded = _enter(cgroup)
    keeper.prepare(supervisor)
    ours = os.getpid()
    child = os.fork()
    if child:
        keeper.keep(child, who.user)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Before the rules on files, in which /proc/self is the process that makes them.
    sibling = _siblings(order) if isinstance(order, Task) else None
    try:
        features = _confine(order, places, who, ours if sibling is None else os.getppid(), bounded)
    except OSError as error:
        _send(events, Broke(CONFINE, f"the sandbox could not be set up: {error}"))
        os._exit(STATUS_REFUSED)
    if sibling is not None and isinstance(order, Task):
        _close_all_but(sibling)
        if sandbox != "full" or not missing_features(features, order.confine.network):
            function_named(order.sibling)(sibling)
        os._exit(STATUS_REFUSED)
    _close_all_but(events, *order.descriptors)
    _send(events, Confined(features))
    if sandbox == "probe":
        os._exit(0)
    missing = missing_features(features, order.confine.network)
    if sandbox == "full" and missing:
        _send(events, Broke(CONFINE, f"sandbox: partial ({missing})"[:4096]))
        os._exit(STATUS_REFUSED)
    # All are imported in the sandbox, and none returns.
    if isinstance(order, Task):
        function_named(order.function)(bytes(order.argument), events)
        os._exit(0)
    from ..runner import main as run  # noqa: PLC0415

    run(order, events)


def _siblings(task: Task) -> int | None:
    """Fork the siblings; return the descriptor of this process, if it is one."""
    return next((each for each in task.siblings if os.fork() == 0), None)


def _confine(
    order: Order | Task,
    places: filesystem.Places,
    who: identity.Identity,
    parent: int,
    bounded: bool,
) -> dict[str, str]:
    """Turn on each protection, in the order that the kernel requires. Raises OSError."""
    confine = order.confine
    variables = order.variables if isinstance(order, Task) else ()
    on = {"identity": who.feature, "environment": environment.check(os.environ, variables)}
    if isinstance(order, Order) and order.inline_order is None:
        lower_priority()
    privileges.bound()
    shared = isinstance(order, Order) and shared_memory.make_private(
        f"{confine.scratch}/{environment.SHARED}", who.user
    )
    if who.user is not None:
        os.chown(confine.scratch, who.user, who.user)
        for stream in (1, 2):  # the owner of a pipe may open it by name: /dev/stdout, /dev/stderr
            if stat.S_ISFIFO(os.fstat(stream).st_mode):
                os.fchown(stream, who.user, who.user)
        identity.become(who.user)
    os.umask(0o077)
    environment.make_folders(Path(confine.scratch))
    os.chdir(Path(confine.scratch) / environment.WORK)
    on["limits"] = limits.confine(confine, bounded)
    on["privileges"] = privileges.drop()
    end_with(parent)  # again here, because a change of user resets it
    on["filesystem"] = filesystem.confine(
        places, confine.scratch, confine.hidden, order.readable, confine.network, shared
    )
    on["processes"] = _processes(who)
    on["system calls"], on["network"] = system_calls.confine(confine.network, who.user is None)
    return {name: on[name] for name in FEATURES}


def _processes(who: identity.Identity) -> str:
    """The feature "processes": "on" unless the quarantine could kill its supervisor."""
    if who.user is not None or landlock.abi() >= landlock.ABI_SCOPES:
        return "on"
    return (
        f"it may signal the processes of its user: this kernel has landlock ABI {landlock.abi()}, "
        f"{landlock.ABI_SCOPES} is needed"
    )


def _enter(cgroup: str) -> bool:
    """Enter the cgroup, before the fork; return whether it limits the number of processes."""
    if not cgroup:
        return False
    try:
        Path(cgroup, "cgroup.procs").write_text("0")
        return Path(cgroup, "pids.max").read_text().strip() != "max"
    except OSError:
        return False


def _close_all_but(*descriptor: int) -> None:
    """Close inherited descriptors except `kept`, the standard ones and the shim's trace ring. Empty standard input."""
    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(null, 0)
    ring = os.environ.get("NEUTRINO_RING", "").partition(":")[0]
    stay = {0, 1, 2, *descriptor, *([int(ring)] if ring.isdigit() else [])}
    for number in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if number not in stay:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(number)


def _send(events: int, event: Event) -> None:
    line = msgspec.json.encode(event) + b"\n"
    while line:
        line = line[os.write(events, line) :]


if __name__ == "__main__":
    main(sys.argv[1:])
