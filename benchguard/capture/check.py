"""What must be true of a capture before anyone uses it: the rules of docs/formats.md, which the C reader has too.

Every rule raises MalformedError. Tables are gone through an element at a time, each once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .check_operations import PARAMETERS_MAX, OperationRules
from .codec import MalformedError, check_index
from .extents import Joined, Separate
from .layout import BLOB_MAX, ELEMENTS, PAGE, Kind
from .model import Allocation, Content, Device, Global, Image, Kernel, Module, Range, Refusal

if TYPE_CHECKING:
    from .reader import Capture

ADDRESS_END = 1 << 64


def check(capture: Capture) -> Memory:
    """Everything, in the order of docs/formats.md. Raises MalformedError, saying which element."""
    for kind in (Kind.DEVICE, Kind.END):
        if len(capture.table(kind)) != 1:
            raise MalformedError(
                f"{len(capture.table(kind))} elements of kind {kind.name.lower()} instead of one"
            )
    rules = _Rules(capture)
    _each(capture, Kind.DEVICE, _check_arena)
    for kind in (Kind.LIMIT, Kind.STREAM, Kind.META, Kind.END):
        _each(capture, kind, _nothing_more)
    _each(capture, Kind.IMAGE, rules.image)
    _each(capture, Kind.MODULE, rules.module)
    _each(capture, Kind.KERNEL, rules.kernel)
    _each(capture, Kind.GLOBAL, rules.variable)
    _each(capture, Kind.ALLOCATION, rules.allocation)
    memory = Memory(capture)
    for kind in (Kind.BEFORE, Kind.AFTER):
        _check_runs(capture, kind)
    operations = OperationRules(capture, memory.inside)
    _each(capture, Kind.OPERATION, operations.operation)
    operations.check_graphs_exist()
    _each(capture, Kind.EDGE, operations.edge)
    operations.check_acyclic()
    _each(capture, Kind.RELOCATION, operations.relocation)
    _each(capture, Kind.REFUSAL, rules.refusal)
    _each(capture, Kind.RANGE, lambda each: _check_range(each, memory))
    return memory


def _each(capture: Capture, kind: Kind, rule: Callable[[Any], None]) -> None:
    table = capture.table(kind)
    for index in range(len(table)):
        try:
            rule(table[index])
        except MalformedError as error:
            raise MalformedError(f"{kind.name.lower()} {index}: {error}") from None


def _check_arena(device: Device) -> None:
    if device.arena + device.arena_bytes > ADDRESS_END:
        raise MalformedError(f"an arena of {device.arena_bytes} bytes at {device.arena:#x} cannot be")


def _nothing_more(_element: object) -> None:
    """That it could be decoded is enough."""


class _Rules:
    """Of elements that need no other element but by its index."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def image(self, image: Image) -> None:
        if not image.content.bytes:
            raise MalformedError("no content")
        self._capture.blobs.check(image.content)

    def module(self, module: Module) -> None:
        check_index(module.image, len(self._capture.images), "image")

    def kernel(self, kernel: Kernel) -> None:
        check_index(kernel.module, len(self._capture.modules), "module")
        _check_symbol(kernel.name)
        if kernel.parameter_bytes > PARAMETERS_MAX:
            raise MalformedError(
                f"{kernel.parameter_bytes} bytes of parameters; at most {PARAMETERS_MAX} can be"
            )
        for each in kernel.layout:
            if each.offset + each.size > kernel.parameter_bytes:
                raise MalformedError(
                    f"a parameter at {each.offset} passes the {kernel.parameter_bytes} bytes of all"
                )

    def variable(self, variable: Global) -> None:
        check_index(variable.module, len(self._capture.modules), "module")
        _check_symbol(variable.name)
        _check_addresses(variable.address, variable.bytes)
        for content in (variable.before, variable.after):
            self._check_content(content, variable.bytes)

    def allocation(self, allocation: Allocation) -> None:
        _check_addresses(allocation.address, allocation.bytes)

    def refusal(self, refusal: Refusal) -> None:
        check_index(refusal.operation, len(self._capture.operations) + 1, "operation")

    def _check_content(self, content: Content, size: int) -> None:
        if content.bytes not in (0, size):
            raise MalformedError(f"content of {content.bytes} bytes for {size}")
        self._capture.blobs.check(content)


class Memory:
    """What addresses of a capture lead to."""

    def __init__(self, capture: Capture) -> None:
        self._allocations = Joined((each.address, each.address + each.bytes) for each in capture.allocations)
        self._variables = Separate((each.address, each.address + each.bytes) for each in capture.globals)
        self._globals = capture.globals

    def inside(self, address: int, size: int, what: str) -> None:
        """Within the allocations, taken together, or within one variable."""
        if size and not self._allocations.hold(address, size) and not self._variables.hold(address, size):
            raise MalformedError(f"{what}: no allocation or variable holds {size} bytes at {address:#x}")

    def holder(self, address: int, size: int, what: str) -> Global | None:
        """The variable that holds so many bytes there, or None if allocations do."""
        self.inside(address, size, what)
        if not size or self._allocations.hold(address, size):
            return None
        return next(
            each
            for each in self._globals
            if each.address <= address and address + size <= each.address + each.bytes
        )


def _check_runs(capture: Capture, kind: Kind) -> None:
    """The tables that may be long: their structs are looked at as they are."""
    pages = Joined(
        (each.address // PAGE * PAGE, -(-(each.address + each.bytes) // PAGE) * PAGE)
        for each in capture.allocations
    )
    end = 0
    struct = ELEMENTS[kind].struct
    for index, (address, size, first, content) in enumerate(struct.iter_unpack(capture.table(kind).raw)):
        where = f"{kind.name.lower()} {index}: {size} bytes at {address:#x}"
        if address % PAGE or not 0 < size <= BLOB_MAX:
            raise MalformedError(f"{where}: runs begin at pages and hold at most {BLOB_MAX} bytes")
        if address < end:
            raise MalformedError(f"{where}: begins before the run before it ends")
        if not pages.hold(address, size):
            raise MalformedError(f"{where}: outside every allocation")
        if content != size and (content or kind is Kind.BEFORE):
            raise MalformedError(f"{where}: content of {content} bytes")
        capture.blobs.check(Content(first, content))
        end = address + size


def _check_range(named: Range, memory: Memory) -> None:
    memory.inside(named.address, named.bytes, "named memory")


def _check_symbol(name: str) -> None:
    if not name or "\0" in name:
        raise MalformedError("no name, or one with a NUL in it")


def _check_addresses(address: int, size: int) -> None:
    if not address or not size or address + size > ADDRESS_END:
        raise MalformedError(f"{size} bytes at {address:#x} cannot be")
