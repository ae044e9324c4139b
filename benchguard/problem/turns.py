"""Let one thread at a time run the code of a problem's author, which need not be thread-safe.

A large input set takes time mostly for our own work on its arrays, which needs no lock. A method of a problem that
does such work gives the lock up meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from types import TracebackType

ALONE: AbstractContextManager[object] = nullcontext()
"""In place of turns, where no other thread runs the author's code."""

_held: ContextVar[Turns | None] = ContextVar("held", default=None)


class Turns:
    """A lock that knows its thread, so that code which was called with it can give it up for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._token: Token[Turns | None] | None = None

    def __enter__(self) -> Turns:
        self._lock.acquire()
        self._token = _held.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        _held.reset(self._token)
        self._lock.release()


@contextmanager
def others_turn() -> Iterator[None]:
    """Other threads may run the author's code within the context. Does nothing in a thread that has no turn."""
    turns = _held.get()
    if turns is None:
        yield
        return
    turns.__exit__(None, None, None)
    try:
        yield
    finally:
        turns.__enter__()
