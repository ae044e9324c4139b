"""The replay process: it runs no host code of the recorded program, no site customisation, and little of Python.

The command of command() starts it with the request on its standard input; its events go to an inherited pipe. The
worker of a strict replay starts in a sandbox instead (confined.py).
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..ipc.mapped import map_inherited
from ..ipc.processes import end_with
from ..ipc.slots import map_first_slots
from . import loop
from .contract import EngineError
from .protocol import (
    BAD_CAPTURE,
    CANNOT,
    OURS,
    Event,
    Failed,
    Request,
    Searched,
    decode_request,
    decode_work,
    encode,
    renumbered,
)

if TYPE_CHECKING:
    from .siblings import Sibling

REQUEST_MAX = 64 << 20
_NEEDED = ("benchguard", "msgspec", "cffi", "_cffi_backend", "pycparser", "pyseccomp")
_START = (
    "import sys; sys.path += sys.argv[1:-2]; from benchguard.replay.worker import main; "
    "main(int(sys.argv[-2]), int(sys.argv[-1]))"
)


def command() -> list[str]:
    """The command of a worker without a sandbox, without its last two arguments: the descriptor of its events and its
    parent's process id.

    -I and -S: no folder of the user's, no .pth file, no sitecustomize, no PYTHON* variable. The folders that it needs
    are named, behind the standard library.
    """
    return [sys.executable, "-I", "-S", "-c", _START, *folders()]


def folders() -> list[str]:
    """The folders of the modules that a worker imports, besides the standard library."""
    places = (place.parents[1] if place.name == "__init__.py" else place.parent for place in _origins())
    return list(dict.fromkeys(map(str, places)))


def files() -> list[str]:
    """The packages and modules that a worker imports, besides the standard library."""
    places = (place.parent if place.name == "__init__.py" else place for place in _origins())
    return list(dict.fromkeys(map(str, places)))


def _origins() -> Iterator[Path]:
    for name in _NEEDED:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            yield Path(spec.origin).resolve()


def main(events: int, parent: int) -> None:
    """Replay what is requested on standard input, send what happens, and end the process."""
    end_with(parent)
    _run(lambda: (decode_request(sys.stdin.buffer.read(REQUEST_MAX)), ()), events)


def wait(ends: bytes, events: int) -> None:
    """As main(), with the request from a socket (replay/confined.py).

    `ends` is a JSON list of descriptors: of that socket, and of one for each sibling.
    """
    channel, *others = msgspec.json.decode(ends, type=list[int])
    _run(lambda: _awaited(channel, others), events)


def _awaited(channel: int, others: Sequence[int]) -> tuple[Request, Sequence[Sibling]]:
    """The request, and the siblings that it needs; the others end.

    Opens the driver before in all of them, if the supervisor asks for it.
    """
    from ..quarantine.work import receive_work  # noqa: PLC0415 - a process without a sandbox needs none of this
    from .binding import load_engine, open_driver  # noqa: PLC0415
    from .siblings import Sibling, close_all  # noqa: PLC0415

    load_engine()
    siblings = [Sibling(socket.socket(fileno=each)) for each in others]
    with socket.socket(fileno=channel) as end:
        while True:
            work = receive_work(end)
            order = decode_work(work.argument)
            if isinstance(order, Request):
                close_all(siblings[order.processes - 1 :])
                return renumbered(order, work.descriptors), siblings[: order.processes - 1]
            opening = siblings[: order.processes - 1]
            for each in opening:
                each.open_driver(order)
            with suppress(EngineError):  # the replay meets the same error, and reports it
                open_driver(order.driver, order.device)
            for each in opening:
                each.opened()
            with suppress(OSError):  # the supervisor does not wait, and has closed its end
                end.send(b".")


def _run(awaited: Callable[[], tuple[Request, Sequence[Sibling]]], events: int) -> None:
    os.dup2(2, 1)  # what a driver prints is for people

    def send(event: Event) -> None:
        data = memoryview(encode(event) + b"\n")
        while data:
            data = data[os.write(events, data) :]

    siblings: Sequence[Sibling] = ()
    try:
        request, siblings = awaited()
        _replay(request, siblings, send)
    except EngineError as error:
        send(Failed(error.status, loop.line(str(error)), "open"))
    except Exception as error:  # the supervisor reports it in one line
        send(Failed(OURS, loop.line(f"{type(error).__name__}: {error}"), "worker"))
    for each in siblings:  # beside this process, not when they see its end
        each.end()
    # The kernel frees memory and device state faster than calls for each would.
    os._exit(0)


def _replay(request: Request, siblings: Sequence[Sibling], send: loop.Send) -> None:
    from .binding import open_engine  # noqa: PLC0415 - loads the engine; nothing else here needs it

    buffers = loop.Buffers(
        inputs=map_inherited(request.inputs_descriptor, writable=False, changes=request.inputs_ready >= 0),
        outputs=map_inherited(request.outputs_descriptor, writable=True),
        slots=map_inherited(request.slots.descriptor if request.slots else -1, writable=True),
    )
    for each in siblings:
        each.open(request, buffers.inputs, buffers.slots)
    if request.slots is not None:
        mapping = threading.Thread(target=map_first_slots, args=(request.slots, buffers.slots), daemon=True)
        mapping.start()
        buffers = replace(buffers, wait=mapping.join)
    engine = open_engine(request.capture, request.limits)
    if request.checked is not None:  # no judge, so no reader has searched the images
        _search(request, send)
    loop.run(engine, request, buffers, send, time.monotonic, siblings)


def _search(request: Request, send: loop.Send) -> None:
    """Raises EngineError for code that must not run, or cannot be read."""
    # A replay with a judge needs none of these, and they take 0.1 s.
    from ..capture import Capture, CaptureError  # noqa: PLC0415
    from ..capture.device_launch import graph_launcher  # noqa: PLC0415
    from ..capture.unrestored import unrestored  # noqa: PLC0415
    from ..capture.validate import Limits  # noqa: PLC0415

    try:
        with Capture(Path("the capture"), os.dup(request.capture), Limits()) as capture:
            launcher = "" if request.ignore_refusals else graph_launcher(capture)
            if launcher:
                raise EngineError(CANNOT, launcher)
            send(Searched(loop.line(unrestored(capture))))
    except CaptureError as error:
        raise EngineError(BAD_CAPTURE, str(error)) from error
