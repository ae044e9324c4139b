"""The current context of each thread. Contexts that `cuCtxCreate` made are separate; all others count as one."""

from __future__ import annotations

from .errors import FindingsError

CONTEXTS_MAX = 256
THREADS_MAX = 1 << 12
DEPTH_MAX = 64
SHARED = 0


class Contexts:
    """The contexts that a process made, and a stack of current ones for each thread."""

    def __init__(self) -> None:
        self._made: set[int] = set()
        self._stacks: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._made)

    def create(self, thread: int, context: int) -> None:
        if len(self._made) >= CONTEXTS_MAX:
            raise FindingsError(f"a process made more than {CONTEXTS_MAX} contexts; findings follows no more")
        self._made.add(context)
        self.push(thread, context)

    def destroy(self, context: int) -> None:
        self._made.discard(context)

    def push(self, thread: int, context: int) -> None:
        if len(self._stacks) >= THREADS_MAX:
            self._stacks.pop(next(iter(self._stacks)))
        stack = self._stacks.setdefault(thread, [])
        stack.append(context)
        del stack[:-DEPTH_MAX]

    def pop(self, thread: int) -> None:
        del self._stacks.get(thread, [])[-1:]

    def set(self, thread: int, context: int) -> None:
        self.pop(thread)
        self.push(thread, context)

    def known(self, context: int) -> int:
        """The number of a context: its handle if the process made it."""
        return context if context in self._made else SHARED

    def current(self, thread: int) -> int:
        """The number of a thread's current context."""
        stack = self._stacks.get(thread)
        return self.known(stack[-1]) if stack else SHARED
