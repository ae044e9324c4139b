"""The tables of a capture, by name."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Any

from .layout import Kind
from .model import (
    Allocation,
    Device,
    Edge,
    End,
    Global,
    Image,
    Kernel,
    Limit,
    Meta,
    Module,
    Operation,
    Range,
    Refusal,
    Relocation,
    Run,
    Stream,
)
from .table import SpanData, Table
from .validate import Sections


class Tables:
    """Decodes elements when they are asked for. Raises MalformedError for an element that cannot be decoded."""

    def __init__(self, sections: Sections) -> None:
        self.name = sections.name
        self._tables = sections.tables
        self._data = SpanData(sections.tables.get(Kind.DATA, b""))

    def table(self, kind: Kind) -> Table[Any]:
        return Table(kind, self._tables.get(kind, b""), self._data)

    @cached_property
    def device(self) -> Device:
        device: Device = self.table(Kind.DEVICE)[0]
        return device

    @cached_property
    def end(self) -> End:
        end: End = self.table(Kind.END)[0]
        return end

    @cached_property
    def context_limits(self) -> Table[Limit]:
        return self.table(Kind.LIMIT)

    @cached_property
    def images(self) -> Table[Image]:
        return self.table(Kind.IMAGE)

    @cached_property
    def modules(self) -> Table[Module]:
        return self.table(Kind.MODULE)

    @cached_property
    def kernels(self) -> Table[Kernel]:
        return self.table(Kind.KERNEL)

    @cached_property
    def globals(self) -> Table[Global]:
        return self.table(Kind.GLOBAL)

    @cached_property
    def allocations(self) -> Table[Allocation]:
        return self.table(Kind.ALLOCATION)

    @cached_property
    def before(self) -> Table[Run]:
        return self.table(Kind.BEFORE)

    @cached_property
    def after(self) -> Table[Run]:
        return self.table(Kind.AFTER)

    @cached_property
    def streams(self) -> Table[Stream]:
        return self.table(Kind.STREAM)

    @cached_property
    def operations(self) -> Table[Operation]:
        return self.table(Kind.OPERATION)

    @cached_property
    def edges(self) -> Table[Edge]:
        return self.table(Kind.EDGE)

    @cached_property
    def relocations(self) -> Table[Relocation]:
        return self.table(Kind.RELOCATION)

    @cached_property
    def refusals(self) -> Table[Refusal]:
        return self.table(Kind.REFUSAL)

    @cached_property
    def ranges(self) -> Table[Range]:
        return self.table(Kind.RANGE)

    @cached_property
    def meta(self) -> dict[str, str]:
        entries: Table[Meta] = self.table(Kind.META)
        return {entry.key: entry.value for entry in entries}

    @cached_property
    def graphs(self) -> dict[int, list[int]]:
        """The nodes of every graph, as indexes of operations."""
        graphs: defaultdict[int, list[int]] = defaultdict(list)
        for index, operation in enumerate(self.operations):
            if operation.graph:
                graphs[operation.graph].append(index)
        return dict(graphs)
