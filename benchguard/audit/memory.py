"""Follow the memory of one process through the calls of a log: what is alive, what was freed twice."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from . import memory_calls as calls
from .copies import Ranges
from .entries import CallEntry
from .names import SUCCESS, error_name, plain_name

LIVE_MAX = 1 << 18
"""Allocations that are followed at once in one process."""
FREED_MAX = 1 << 16
"""Freed allocations that are remembered, the latest ones."""
BAD_FREES_MAX = 1000
LINES_MAX = 3
"""Log lines that are listed for allocations of one size and call."""

DOUBLE, INVALID, WRONG_CALL = "double free", "invalid free", "wrong call"
CONTEXTS_MAX = 1024
"""Contexts that are followed for a thread, and devices for a process."""

_HANDLES = (calls.ARRAY, calls.PHYSICAL)
_REFUSED = frozenset({1, 17, 400})
"""Errors about the address: INVALID_VALUE and INVALID_HANDLE of both vendors, hipErrorInvalidDevicePointer. Others, as
that of a fault in an earlier kernel, say nothing about the address that is freed."""


@dataclass(frozen=True)
class MemoryRow:
    """Memory of one kind of one process. Peak and alive bytes leave out memory whose size is not recorded."""

    process: int
    executable: str
    kind: str
    allocations: int
    frees: int
    failed_allocations: int
    peak_bytes: int
    peak_ns: int
    """Nanoseconds since the session began."""
    alive: int
    alive_bytes: int


@dataclass(frozen=True)
class AliveRow:
    """Allocations of one size by one call that the program never freed.

    `released_by` is the call that ended their context; None if they were alive when the process ended. `lines` are the
    log's lines of the first of them.
    """

    process: int
    kind: str
    call: str
    bytes: int | None
    count: int
    released_by: str | None
    lines: list[int]


@dataclass(frozen=True)
class BadFree:
    """A free that the driver refused because its address is not allocated.

    `fault` is "double free", "invalid free" (no logged call gave the address) or "wrong call" (memory of another kind).
    The last four fields are those of the allocation, if the log has it.
    """

    process: int
    thread: int
    line: int
    call: str
    error: str
    fault: str
    address: int
    bytes: int | None
    allocated_by: str | None
    allocated_line: int | None
    freed_line: int | None

    @property
    def is_sure(self) -> bool:
        """Whether this holds even if records were lost, which may be those of the allocation."""
        return self.fault != INVALID


@dataclass(frozen=True)
class Block:
    """One allocation."""

    kind: str
    bytes: int | None
    call: str
    line: int
    context: int


@dataclass
class _Kind:
    allocations: int = 0
    frees: int = 0
    failed: int = 0
    now: int = 0
    peak: int = 0
    peak_ns: int = 0


@dataclass
class _Physical:
    """Physical memory exists until all of its references and mappings are gone."""

    handle: int
    block: Block
    references: int = 1
    mappings: int = 0


@dataclass
class ProcessMemory:
    """The memory of one program in one process. Calls are given in the order in which they took effect."""

    api: str
    process: int
    executable: str = ""
    is_cut: bool = False
    """More than LIVE_MAX allocations were alive at once, or more than BAD_FREES_MAX frees were refused."""
    ranges: Ranges = field(default_factory=Ranges)
    bad_frees: list[BadFree] = field(default_factory=list)
    _kinds: dict[str, _Kind] = field(default_factory=lambda: defaultdict(_Kind))
    _live: dict[tuple[bool, int], Block] = field(default_factory=dict)
    _freed: OrderedDict[tuple[bool, int], tuple[Block, int]] = field(default_factory=OrderedDict)
    _early: OrderedDict[tuple[bool, int], tuple[int, int]] = field(default_factory=OrderedDict)
    _physical: dict[int, _Physical] = field(default_factory=dict)
    _mapped: dict[int, _Physical] = field(default_factory=dict)
    _ended: list[tuple[Block, str]] = field(default_factory=list)
    _contexts: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _primary: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, entry: CallEntry, line: int) -> None:
        """Take one call of the process. `line` is its number in the log."""
        name = plain_name(entry.call)
        words = list(entry.arguments.values())
        if (allocation := calls.ALLOCATIONS.get(name)) is not None:
            self._allocate(entry, line, allocation, words)
        elif (kinds := calls.RELEASES.get(name)) is not None and words and words[0]:
            self._release(entry, line, kinds, words[0])
        elif (
            entry.result == SUCCESS and (change := _CHANGES.get(name)) is not None and len(words) >= change[0]
        ):
            change[1](self, entry, words)

    def find(self, address: int) -> Block | None:
        """The live allocation that begins at an address."""
        return self._live.get((False, address))

    def freed(self, address: int) -> tuple[Block, int] | None:
        """The latest allocation that was freed at an address, and the log line of its free."""
        return self._freed.get((False, address))

    def live_bytes(self) -> dict[str, int]:
        """The bytes that are allocated now, by kind of memory."""
        return {kind: each.now for kind, each in self._kinds.items()}

    def rows(self) -> list[MemoryRow]:
        alive: Counter[str] = Counter(block.kind for block, _ in self._alive())
        return [
            MemoryRow(
                self.process,
                self.executable,
                kind,
                each.allocations,
                each.frees,
                each.failed,
                each.peak,
                each.peak_ns,
                alive[kind],
                sum(block.bytes or 0 for block, _ in self._alive() if block.kind == kind),
            )
            for kind, each in self._kinds.items()
        ]

    def alive(self) -> list[AliveRow]:
        """The allocations that were never freed, the most bytes first."""
        groups: dict[tuple[str, str, int | None, str | None], list[int]] = {}
        for block, by in self._alive():
            groups.setdefault((block.kind, block.call, block.bytes, by), []).append(block.line)
        rows = [
            AliveRow(self.process, kind, call, size, len(lines), by, sorted(lines)[:LINES_MAX])
            for (kind, call, size, by), lines in groups.items()
        ]
        return sorted(rows, key=lambda row: -(row.bytes or 0) * row.count)

    def _alive(self) -> Iterable[tuple[Block, str | None]]:
        yield from ((block, None) for block in self._live.values())
        yield from self._ended

    def _allocate(self, entry: CallEntry, line: int, allocation: calls.Allocation, words: list[int]) -> None:
        kind = self._kinds[allocation.kind]
        if entry.result != SUCCESS:
            kind.failed += 1
            return
        try:
            address, size = words[0], allocation.bytes(words)
        except IndexError:
            return
        kind.allocations += 1
        if address == 0:  # an allocation of 0 bytes
            return
        key = allocation.kind in _HANDLES, address
        before = self._live.pop(key, None)  # the driver gave the address again: it was released unseen
        if before is not None:
            self._subtract(before)
        if len(self._live) >= LIVE_MAX:
            self.is_cut = True
            return
        block = Block(allocation.kind, size, entry.call, line, self._context(entry.thread))
        self._live[key] = block
        self._freed.pop(key, None)
        freed_at, freed_line = self._early.pop(key, (-1, 0))
        kind.now += size or 0
        if kind.now > kind.peak:
            kind.peak, kind.peak_ns = kind.now, entry.time_ns + entry.duration_ns
        if allocation.kind == calls.PHYSICAL:
            self._physical[address] = _Physical(address, block)
        elif allocation.kind not in _HANDLES:
            self.ranges.add(address, size or 1, allocation.kind)
        if freed_at > entry.time_ns and allocation.kind != calls.PHYSICAL:
            self._end(key, block, freed_line)

    def _release(self, entry: CallEntry, line: int, kinds: frozenset[str], address: int) -> None:
        key = bool(kinds & set(_HANDLES)), address
        block = self._live.get(key)
        if entry.result != SUCCESS:
            self._refused(entry, line, kinds, key, block)
        elif block is None:
            # The log lacks the allocation (of a graph, of another process, of a lost record), or lists it later.
            self._early[key] = entry.time_ns, line
            if len(self._early) > FREED_MAX:
                self._early.popitem(last=False)
        elif block.kind == calls.PHYSICAL:
            self._physical[address].references -= 1
            self._end_physical(self._physical[address], line)
        else:
            self._end(key, block, line)

    def _refused(
        self, entry: CallEntry, line: int, kinds: frozenset[str], key: tuple[bool, int], block: Block | None
    ) -> None:
        """A free that was refused for its address is bad, unless the allocation is alive and of the right kind."""
        freed_line = None
        if entry.result not in _REFUSED or (block is not None and block.kind in kinds):
            return
        if block is not None:
            fault = WRONG_CALL
        elif key in self._freed:
            fault = DOUBLE
            block, freed_line = self._freed[key]
        else:
            fault = INVALID
        if len(self.bad_frees) >= BAD_FREES_MAX:
            self.is_cut = True
            return
        self.bad_frees.append(
            BadFree(
                self.process,
                entry.thread,
                line,
                entry.call,
                error_name(self.api, entry.result),
                fault,
                key[1],
                block.bytes if block else None,
                block.call if block else None,
                block.line if block else None,
                freed_line,
            )
        )

    def _end(self, key: tuple[bool, int], block: Block, line: int) -> None:
        del self._live[key]
        self._kinds[block.kind].frees += 1
        self._subtract(block)
        self._freed[key] = block, line
        self._freed.move_to_end(key)
        if len(self._freed) > FREED_MAX:
            self._freed.popitem(last=False)
        if not key[0]:
            self.ranges.remove(key[1])

    def _subtract(self, block: Block) -> None:
        self._kinds[block.kind].now -= block.bytes or 0

    def _end_physical(self, physical: _Physical, line: int) -> None:
        if (
            physical.references <= 0
            and physical.mappings <= 0
            and self._physical.get(physical.handle) is physical
        ):
            self._end((True, physical.handle), physical.block, line)
            del self._physical[physical.handle]

    def _map(self, _: CallEntry, words: list[int]) -> None:
        physical = self._physical.get(words[3])
        if physical is not None and len(self._mapped) < LIVE_MAX:
            physical.mappings += 1
            self._mapped[words[0]] = physical
        self.ranges.add(words[0], words[1], calls.DEVICE)

    def _unmap(self, _: CallEntry, words: list[int]) -> None:
        for start in self.ranges.starts_within(words[0], words[0] + words[1]):
            self.ranges.remove(start)
            physical = self._mapped.pop(start, None)
            if physical is not None:
                physical.mappings -= 1
                self._end_physical(physical, 0)

    def _retain(self, _: CallEntry, words: list[int]) -> None:
        if words[0] in self._physical:
            self._physical[words[0]].references += 1

    def _add_global(self, _: CallEntry, words: list[int]) -> None:
        self.ranges.add(words[0], max(words[1], 1), calls.DEVICE)

    def _register(self, _: CallEntry, words: list[int]) -> None:
        self.ranges.add(words[0], words[1], calls.HOST)

    def _unregister(self, _: CallEntry, words: list[int]) -> None:
        self.ranges.remove(words[0])

    def _lose_sight(self, _: CallEntry, __: list[int]) -> None:
        self.ranges.is_partial = True

    def _context(self, thread: int) -> int:
        stack = self._contexts[thread]
        return stack[-1] if stack else 0

    def _push(self, entry: CallEntry, words: list[int]) -> None:
        stack = self._contexts[entry.thread]
        stack.append(words[0])
        del stack[:-CONTEXTS_MAX]

    def _pop(self, entry: CallEntry, _: list[int]) -> None:
        if self._contexts[entry.thread]:
            self._contexts[entry.thread].pop()

    def _set(self, entry: CallEntry, words: list[int]) -> None:
        self._contexts[entry.thread][-1:] = [words[0]]

    def _destroy(self, entry: CallEntry, words: list[int]) -> None:
        self._end_context(entry.call, words[0])

    def _retain_primary(self, _: CallEntry, words: list[int]) -> None:
        if words[1] in self._primary or len(self._primary) < CONTEXTS_MAX:
            self._primary[words[1]] = words[0], self._primary.get(words[1], (0, 0))[1] + 1

    def _release_primary(self, entry: CallEntry, words: list[int]) -> None:
        context, count = self._primary.pop(words[0], (0, 0))
        if count > 1:
            self._primary[words[0]] = context, count - 1
        elif count == 1:
            self._end_context(entry.call, context)

    def _reset_primary(self, entry: CallEntry, words: list[int]) -> None:
        self._end_context(entry.call, self._primary.get(words[0], (0, 0))[0])

    def _reset_device(self, entry: CallEntry, _: list[int]) -> None:
        self._end_context(entry.call, 0)

    def _end_context(self, call: str, context: int) -> None:
        """Release what belongs to a context; 0 is every context."""
        for key, block in [
            (k, b) for k, b in self._live.items() if context in (0, b.context) or b.context == 0
        ]:
            if block.kind == calls.PHYSICAL:
                continue  # belongs to no context
            del self._live[key]
            self._subtract(block)
            self._ended.append((block, call))
            if not key[0]:
                self.ranges.remove(key[1])
        if len(self._ended) > LIVE_MAX:
            self.is_cut = True
            del self._ended[LIVE_MAX:]


_Change = Callable[[ProcessMemory, CallEntry, list[int]], None]


def _changes(*rows: tuple[Iterable[str], int, _Change]) -> dict[str, tuple[int, _Change]]:
    return {name: (words, change) for names, words, change in rows for name in names}


_CHANGES = _changes(
    (calls.MAPS, 4, ProcessMemory._map),
    (calls.UNMAPS, 2, ProcessMemory._unmap),
    (calls.RETAINS, 1, ProcessMemory._retain),
    (calls.GLOBALS, 2, ProcessMemory._add_global),
    (calls.REGISTERS, 2, ProcessMemory._register),
    (calls.UNREGISTERS, 1, ProcessMemory._unregister),
    (calls.UNSEEN, 0, ProcessMemory._lose_sight),
    (calls.CONTEXTS_MADE, 1, ProcessMemory._push),
    (calls.CONTEXTS_PUSHED, 1, ProcessMemory._push),
    (calls.CONTEXTS_POPPED, 0, ProcessMemory._pop),
    (calls.CONTEXTS_SET, 1, ProcessMemory._set),
    (calls.CONTEXTS_DESTROYED, 1, ProcessMemory._destroy),
    (calls.PRIMARY_RETAINED, 2, ProcessMemory._retain_primary),
    (calls.PRIMARY_RELEASED, 1, ProcessMemory._release_primary),
    (calls.PRIMARY_RESET, 1, ProcessMemory._reset_primary),
    (calls.DEVICE_RESET, 0, ProcessMemory._reset_device),
)
"""The other calls that matter, by name: the arguments that they need at least, and what they change."""
