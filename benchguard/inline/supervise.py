"""The supervisor's side: makes the seal, takes what the quarantine sends, and opens it.

with Inline(cases, samples) as inline:
    quarantine(..., inline=inline)        # its order has inline.order, its process inherits the descriptors
    results = inline.results()
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Sequence
from types import TracebackType

import msgspec

from ..ipc.json_text import UNREADABLE
from .contract import Armed, InlineCase, InlineOrder
from .result import InlineResult, result_of
from .seal import SEALED_BYTES, SealedResult, SealError, new_keys, open_sealed
from .violations import Violations

MESSAGE_MAX = 1 << 16
POLL_MS = 50


class Inline:
    """Inline timing of one quarantine. A thread reads messages until `results` is called."""

    def __init__(self, cases: Sequence[InlineCase], samples: int, *, device: int = 0) -> None:
        self._keys = bytearray(new_keys(len(cases)))
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._seal = os.memfd_create("neutrino-seal", os.MFD_CLOEXEC)
        with open(self._seal, "wb", closefd=False) as file:
            file.write(self._keys)
        self.order = InlineOrder(
            cases=tuple(cases),
            samples=samples,
            seal=self._seal,
            channel=self._theirs.fileno(),
            device=device,
        )
        self._receiver = _Receiver(self._ours, len(cases))
        self._receiver.start()

    def __enter__(self) -> Inline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._receiver.stop()
        self._theirs.close()
        self._ours.close()
        os.close(self._seal)
        self._keys[:] = bytes(len(self._keys))

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that the quarantined process inherits under the same numbers."""
        return self.order.descriptors

    def results(self) -> tuple[InlineResult | str, ...]:
        """Each case's result, or the reason why it has none. Call it after the quarantine has ended.

        A message counts only if the case's key opens it, and it is the only one for its case.
        """
        armed, messages, attempts = self._receiver.stop()
        keys = bytes(self._keys)
        self._keys[:] = bytes(len(keys))  # opened or not, it is used
        if armed is None:
            return ("the quarantine did not say that the arena is armed",) * len(self.order.cases)
        return tuple(
            _opened(keys, number, messages.get(number, []), armed, attempts)
            for number in range(len(self.order.cases))
        )


def _opened(
    keys: bytes, number: int, messages: list[bytes], armed: Armed, attempts: tuple[str, ...]
) -> InlineResult | str:
    if not messages:
        return "no result came: the process ended before it was sealed"
    try:
        if len(messages) > 1:
            raise SealError(
                f"{len(messages)} results came for case {number}: there is one, others are forged"
            )
        result: SealedResult = open_sealed(keys, number, messages[0])
    except SealError as error:
        return str(error)
    return result_of(result, armed.guards, armed.sets[number], armed.joins_all, attempts)


class _Receiver(threading.Thread):
    """The first message says what is armed; all others are sealed results, or somebody's noise."""

    def __init__(self, end: socket.socket, cases: int) -> None:
        super().__init__(name="inline-receiver", daemon=True)
        self._end, self._cases = end, cases
        self._over = threading.Event()
        self._armed: Armed | None = None
        self._spoilt = False
        self._messages: dict[int, list[bytes]] = {}
        self._violations: Violations | None = None

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        while True:
            over = self._over.is_set()  # looked at before reading: what was sent by then is read
            ready = poll.poll(0 if over else POLL_MS)
            if ready and not self._receive():
                return
            if over and not ready:
                return

    def stop(self) -> tuple[Armed | None, dict[int, list[bytes]], tuple[str, ...]]:
        self._over.set()
        self.join()
        attempts = self._violations.stop() if self._violations is not None else ()
        return self._armed, self._messages, attempts

    def _receive(self) -> bool:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._end, MESSAGE_MAX, 4)
        except OSError:
            return False
        if self._armed is None and not self._spoilt:
            self._arm(data, descriptors)
            return bool(data)
        for each in descriptors:
            os.close(each)
        if len(data) == SEALED_BYTES:
            number = int.from_bytes(data[4:8], "little")
            messages = self._messages.setdefault(number, []) if number < self._cases else []
            if len(messages) < 2:  # two are one too many already
                messages.append(data)
        return bool(data)

    def _arm(self, data: bytes, descriptors: list[int]) -> None:
        try:
            armed = msgspec.json.decode(data, type=Armed)
            self._armed = armed if len(armed.sets) == self._cases else None
        except UNREADABLE:
            self._armed = None
        self._spoilt = self._armed is None
        if len(descriptors) == 1 and not self._spoilt:
            self._violations = Violations(descriptors[0])
            self._violations.start()
            return
        for each in descriptors:
            os.close(each)
