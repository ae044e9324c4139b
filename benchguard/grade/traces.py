"""Compare two captures of one case, made with different inputs: do they contain the same GPU work?

If they differ, the host code read the inputs or counted its calls, and a replay on other inputs would not be what the
submission does. Addresses may differ, because temporary memory moves. Waits of the host may differ, because freeing
memory waits for the device, and not each call frees some (numba frees ten arrays and more at once). Bytes of
parameters that no kernel reads may differ too: ATen's by-value structs have room for 16 dimensions and leave unused
ones uninitialised. So a difference in the bytes that the host gives (parameters, uploads, a memset's value) is only a
suspicion, until outputs on other inputs are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ..capture import Capture
from ..capture.extents import Joined
from ..capture.model import Attribute, Launch, Memcpy, MemcpyDtoH, MemcpyHtoD, Memset, Operation, Synchronize

WORD = 8
SHOWN = 16
"""Bytes of a copy to the host that a text shows."""


@dataclass(frozen=True)
class Difference:
    """A difference. `of_work`: different operations, not only different bytes. `text` is part of a sentence."""

    text: str
    of_work: bool


@dataclass(frozen=True)
class Trace:
    """A capture, with its operations and its kernels decoded once: a call may launch 100,000 kernels.

    `operations` have no waits of the host.
    """

    capture: Capture
    operations: Sequence[Operation]
    kernels: Sequence[tuple[str, str]]
    """The image's SHA-256 and the name of each kernel."""

    @classmethod
    def of(cls, capture: Capture) -> Trace:
        hashes = [image.sha256 for image in capture.images]
        modules = [hashes[module.image] for module in capture.modules]
        kernels = [(modules[kernel.module], kernel.name) for kernel in capture.kernels]
        operations = tuple(each for each in capture.operations if not isinstance(each, Synchronize))
        return cls(capture, operations, kernels)


def first_difference(one: Trace, two: Trace) -> Difference | None:
    """The first difference in work, else the first difference in bytes; None for equal captures."""
    suspicion = None
    for difference in _Pair(one, two).differences():
        if difference.of_work:
            return difference
        suspicion = suspicion or difference
    return suspicion


def are_repeated(one: Trace, two: Trace) -> bool:
    """Whether two captures without a difference also use the same addresses: the second call is the first one again."""
    return all(_places(a) == _places(b) for a, b in zip(one.operations, two.operations, strict=True))


def _places(operation: Operation) -> tuple[object, ...]:
    """The addresses and parameters, which first_difference() does not compare: temporary memory moves."""
    if isinstance(operation, Launch):
        return (operation.parameters,)
    return tuple(getattr(operation, name, None) for name in _ADDRESSES)


class _Pair:
    def __init__(self, one: Trace, two: Trace) -> None:
        self._one, self._two = one, two
        self._allocations = tuple(_addresses(each.capture) for each in (one, two))

    def differences(self) -> Iterator[Difference]:
        for number, (a, b) in enumerate(zip_longest(self._one.operations, self._two.operations)):
            if a is None or b is None:
                more, count = ("first", len(self._one.operations)), len(self._two.operations)
                if a is None:
                    more, count = ("second", len(self._two.operations)), len(self._one.operations)
                yield Difference(f"the {more[0]} capture has {more[1]} operations, the other {count}", True)
                return
            if text := self._work(a, b):
                yield Difference(f"operation {number} ({self._label(a)}): {text}", True)
                return
            if text := self._bytes(a, b):
                yield Difference(f"operation {number} ({self._label(a)}): {text}", False)

    def _label(self, operation: Operation) -> str:
        name = operation.kind.name.lower().replace("_", " ")
        return f"{name} {self._one.kernels[operation.kernel][1]}" if isinstance(operation, Launch) else name

    def _work(self, a: Operation, b: Operation) -> str:
        """The difference between two operations, bytes aside; empty if they are equal."""
        if a.kind is not b.kind:
            return f"the other capture has a {b.kind.name.lower().replace('_', ' ')} there"
        if a.graph != b.graph or a.flags != b.flags:
            return "the graph or the flags differ"
        if isinstance(a, Launch) and isinstance(b, Launch):
            return self._launch(a, b)
        for field in _PLAIN.get(type(a), ()):
            if getattr(a, field) != getattr(b, field):
                return f"{field} is {getattr(a, field)} and {getattr(b, field)}"
        if isinstance(a, MemcpyDtoH) and isinstance(b, MemcpyDtoH):
            return self._read(a, b)
        return ""

    def _read(self, a: MemcpyDtoH, b: MemcpyDtoH) -> str:
        """The host may decide by the bytes that it reads, so different bytes are different work."""
        one, two = self._one.capture.content(a.content), self._two.capture.content(b.content)
        at = next((at for at, (x, y) in enumerate(zip(one, two, strict=True)) if x != y), None)
        if at is None:
            return ""
        shown = [each[at : at + SHOWN].hex() for each in (one, two)]
        return (
            f"{a.call} copies {len(one)} bytes to the host that depend on the inputs: from offset {at} on {shown[0]} "
            f"and {shown[1]}"
        )

    def _launch(self, a: Launch, b: Launch) -> str:
        other = self._two.kernels[b.kernel]
        if self._one.kernels[a.kernel] != other:
            return f"the other capture launches {other[1]}"
        for field in ("grid", "block", "shared_bytes"):
            if getattr(a, field) != getattr(b, field):
                return f"{field.replace('_', ' ')} is {getattr(a, field)} and {getattr(b, field)}"
        if _attributes(a.attributes) != _attributes(b.attributes):
            return "launch attributes differ"
        if len(a.parameters) != len(b.parameters):
            return f"{len(a.parameters)} and {len(b.parameters)} bytes of parameters"
        return ""

    def _bytes(self, a: Operation, b: Operation) -> str:
        """The difference in the bytes that the host gives two equal operations; empty if they are equal."""
        if isinstance(a, Launch) and isinstance(b, Launch):
            return self._parameters(a.parameters, b.parameters)
        if isinstance(a, MemcpyHtoD) and isinstance(b, MemcpyHtoD) and not self._uploads_are_equal(a, b):
            return f"the host uploads {a.content.bytes} bytes that depend on the inputs"
        if isinstance(a, Memset) and isinstance(b, Memset) and a.value != b.value:
            return f"value is {a.value} and {b.value}"
        return ""

    def _parameters(self, a: bytes, b: bytes) -> str:
        for at in range(0, len(a), WORD):
            words = a[at : at + WORD], b[at : at + WORD]
            if words[0] != words[1] and not self._are_addresses(*words):
                return f"parameter bytes {at} to {at + len(words[0]) - 1} are {words[0].hex()} and {words[1].hex()}"
        return ""

    def _are_addresses(self, a: bytes, b: bytes) -> bool:
        """Whether each word is an address in the memory of its own capture."""
        return len(a) == WORD and all(
            allocations.hold(int.from_bytes(word, "little"), 0)
            for allocations, word in zip(self._allocations, (a, b), strict=True)
        )

    def _uploads_are_equal(self, a: MemcpyHtoD, b: MemcpyHtoD) -> bool:
        if a.content.bytes != b.content.bytes:
            return False
        chunks = self._one.capture.chunks(a.content), self._two.capture.chunks(b.content)
        return all(x == y for x, y in zip(*chunks, strict=True))


def _addresses(capture: Capture) -> Joined:
    allocations = [(each.address, each.address + each.bytes) for each in capture.allocations]
    return Joined([*allocations, *((each.address, each.address + each.bytes) for each in capture.globals)])


def _attributes(attributes: tuple[Attribute, ...]) -> list[tuple[int, bytes]]:
    """Sorted attributes. Values may contain an address or a handle, so only their first 4 bytes are compared."""
    return sorted((each.id, each.value[:4]) for each in attributes)


_ADDRESSES = ("address", "pitch", "source", "destination")

_PLAIN: dict[type[Any], tuple[str, ...]] = {
    Memset: ("width", "height", "element_bytes"),
    Memcpy: ("width", "height", "depth"),
    MemcpyHtoD: ("width", "height", "depth"),
    MemcpyDtoH: ("width", "height", "depth"),
}
