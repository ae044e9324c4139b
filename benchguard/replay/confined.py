"""Start the replay process in a sandbox: it runs hostile kernels, and the driver compiles hostile code.

Clocks are read by the supervisor, and shared memory and the capture come as descriptors, so the process needs no
file besides those of Python, of the engine and of the driver.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from ..ipc import child
from ..quarantine.confined import Program, Running, scratch_folder
from ..quarantine.contract import Confine, Task
from ..quarantine.sandbox import identity
from ..quarantine.sandbox.environment import quarantine_environment
from ..quarantine.start import Sandbox
from ..quarantine.waiting import Waiting
from .environment import replay_environment, sandboxed_names
from .protocol import LINE_MAX, LINES_MAX, OpenDriver, Request, encode
from .target import Target
from .worker import files, folders

WORKER, SIBLING = "benchguard.replay.worker:wait", "benchguard.replay.siblings:serve"
PROCESSES = 1024
"""Limit for each process of a replay: threads of a driver and processes that decompress, with room to spare. The CPU
driver has a thread for each core."""


CONTEXT_SECONDS = 5.0
"""Time for a waiting replay to make its context, which took up to 0.4 s on H100s."""


class WaitingReplay(Waiting):
    """A replay process, which may start before its request is known: it loads the engine, and the driver when told.

    `following` replays next: it makes its context while this one frees its memory and ends.
    """

    def __init__(self, target: Target, device: int, sandbox: Sandbox, processes: int = 1) -> None:
        """`processes`: the most in which it takes samples."""
        super().__init__(sandbox)
        self.target, self._device, self.processes = target, device, processes
        self.wanted = processes
        """The processes that take samples in its next replay."""
        self.following: WaitingReplay | None = None
        self._pairs = ExitStack()
        """The sockets between the process and its siblings, until these have inherited them."""
        self._told: Running | None = None
        self._told_at, self._has_context = 0.0, False

    @contextmanager
    def program(self, channel: int) -> Iterator[Program]:
        with identity.claimed_user() as user, scratch_folder(user) as scratch, self._pairs:
            ours: list[int] = []
            theirs: list[int] = []
            for _ in range(self.processes - 1):
                for each, ends in zip(socket.socketpair(), (ours, theirs), strict=True):
                    ends.append(self._pairs.enter_context(each).fileno())
            environment, added = environment_of(self.target, scratch)
            yield Program(
                name="the replay",
                order=Task(
                    function=WORKER,
                    argument=msgspec.Raw(msgspec.json.encode([channel, *ours])),
                    descriptors=(channel, *ours),
                    sibling=SIBLING,
                    siblings=tuple(theirs),
                    confine=Confine(
                        scratch=str(scratch),
                        readable=tuple(dict.fromkeys([*files(), *libraries_of(self.target)])),
                        hidden=(os.path.realpath(tempfile.gettempdir()),),
                        user=user,
                        processes=self.processes * PROCESSES,
                    ),
                    variables=added,
                ),
                environment=environment,
                deadline=0.0,  # its work has one
                line_max=LINE_MAX,
                lines_max=LINES_MAX,
                path=folders(),
            )

    def start(self) -> None:
        super().start()
        self._pairs.close()  # so that each side sees the end of the other

    def open_driver(self) -> None:
        """Have a process that waits make its context, once. Only while this program has a turn on the GPU."""
        if self._told is not self._running:
            self._told, self._told_at, self._has_context = self._running, time.monotonic(), False
            self.tell(encode(OpenDriver(self.target.library, self._device, self.wanted)))

    def hear(self, seconds: float) -> bool:
        """Whether its context is made within `seconds`."""
        self._has_context = self._has_context or super().hear(seconds)
        return self._has_context

    @property
    def uses_gpu(self) -> bool:
        told = self._told
        if told is None or told is not self._running or told.has_ended():
            return False
        return time.monotonic() < self._told_at + CONTEXT_SECONDS and not self.hear(0.0)

    def replay(
        self,
        request: Request,
        descriptors: Sequence[int],
        memory_max: int,
        handle: Callable[[bytes], bool],
    ) -> tuple[child.Ended, dict[str, str]]:
        """Run the replay process to its end; return how it ended, and each protection of its sandbox.

        A protection is "on", or the reason why it is off. If the sandbox is to be "full", the process reads the capture
        only if all are on. Raises BenchguardError.
        """

        def take(line: bytes) -> bool:
            goes_on = handle(line)
            if not goes_on and self.following is not None:
                self.following.open_driver()
            return goes_on

        ended = self.work(encode(request), descriptors, take, request.deadline, memory_max)
        survivors = "some processes of the replay survived SIGKILL" if ended.survived else ""
        return (
            child.Ended(
                status=ended.status,
                timed_out=ended.timed_out,
                trouble=ended.trouble,
                stderr=ended.output,
                excess=ended.excess or survivors,
                refusal=ended.refusal,
            ),
            {**ended.features, **({"processes": survivors} if survivors else {})},
        )


def environment_of(target: Target, scratch: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables of a sandboxed process that uses the driver, and the names of those that no submission gets."""
    replays = replay_environment(os.environ)
    added = {**{name: replays[name] for name in sandboxed_names(replays)}, **target.environment}
    return {**quarantine_environment(replays, scratch, target.driver.path), **added}, tuple(added)


def libraries_of(target: Target) -> list[str]:
    """The folders of the driver and of the libraries that its variables name."""
    places = [Path(target.library), target.driver.path, *map(Path, target.environment.values())]
    return [str(path.resolve().parent) for path in places if path.is_absolute()]
