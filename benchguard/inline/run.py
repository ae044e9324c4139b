"""In the quarantine: secrets away before the submission is there, and its calls timed when it is.

    session = prepare(order.inline_order, order.cases)        # before any byte of the submission
    session.run(number, call, addresses, outputs)             # for each case

Whatever this module is after the first of the two is in the submission's hands; what counts is in the arena, and goes
out sealed.
"""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ..problem.spec import CaseSpec
from .binding import Engine, InlineError, Running
from .contract import Armed, InlineOrder
from .result import stopped_text

DRIVER = "libcuda.so.1"

Call = Callable[[], object]
"""Queues the work of one call; what it returns, if not None, are the outputs."""

Outputs = Callable[[object], Mapping[str, int]]
"""From what a call returned, which may be None, to the addresses of the checked buffers."""


class Session:
    """The prepared engine; `sets` are the accepted input sets by case. One per process."""

    def __init__(self, engine: Engine, cases: Sequence[CaseSpec]) -> None:
        self._engine, self._cases = engine, cases

    def run(
        self, number: int, call: Call, addresses: Mapping[str, int], outputs: Outputs | None = None
    ) -> None:
        """Take all samples of a case, whose buffers are at `addresses`, 16-byte aligned, by name.

        Raises what the call raises, and InlineError. Once for each case.
        """
        names = [buffer.name for buffer in self._cases[number].buffers]
        running = Running(case_number=number, call=call)
        for index, name in enumerate(names):
            running.places[index] = addresses[name]

        def look(returned: object) -> None:
            """Within the sample's time: it could make what it looks for."""
            assert outputs is not None
            for name, address in outputs(returned).items():
                running.places[names.index(name)] = address

        if outputs is not None:
            running.outputs = id(look)
        gc.collect()
        gc.disable()
        try:
            status = self._engine.run(running)
        finally:
            gc.enable()
        if status != 0:
            raise InlineError(f"timing stopped: {stopped_text(status)}")


def prepare(order: InlineOrder, cases: Sequence[CaseSpec], driver: str | None = None) -> Session:
    """Upload everything secret, forget it here, and arm. Raises InlineError.

    `driver` is the real one's path; None: the one behind the shim, or the loader's.
    """
    path = driver or os.environ.get("NEUTRINO_DRIVER") or DRIVER
    if len(cases) != len(order.cases):
        raise InlineError(
            f"{len(order.cases)} cases have secrets, there are {len(cases)}; this is a fault of ours"
        )
    engine = Engine(path, order)
    taken_cases = []
    for spec, case in zip(cases, order.cases, strict=True):
        taken_cases.append(engine.load(spec, case))
        for descriptor in {case.inputs, case.expected}:
            os.close(descriptor)
    guards, listener = engine.arm()
    armed = msgspec.json.encode(Armed(guards, engine.joins_all, tuple(taken_cases)))
    with socket.socket(fileno=os.dup(order.channel)) as channel:
        socket.send_fds(channel, [armed], [listener] if listener >= 0 else [])
    if listener >= 0:
        os.close(listener)
    return Session(engine, cases)
