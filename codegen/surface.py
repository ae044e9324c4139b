"""A surface: the exports of one driver, each with its declaration and its trace record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .exports import DriverExports
from .model import Api, Function
from .pairs import Pairs
from .semantics import Interception


@dataclass(frozen=True)
class Export:
    """One export of the driver; its slot is its position."""

    name: str
    slot: int
    function: Function | None
    interception: Interception | None

    @property
    def kind(self) -> str:
        """`recorded` (typed wrapper), `pass` (tail jump, or a wrapper that records nothing) or `untyped` (tail
        jump, in no header)."""
        if self.interception is not None and self.interception.group is not None:
            return "recorded"
        return "untyped" if self.function is None else "pass"


@dataclass(frozen=True)
class Translation:
    """CUDA's driver API for a shim of another driver (docs/adr/0012): the hooks written for CUDA compile against
    it, and the functions that they call have slots behind the driver's own."""

    api: Api
    functions: tuple[Function, ...]
    """Those that hook/<vendor>/driver implements; all others are absent."""
    interceptions: Mapping[str, Interception]
    pairs: Pairs


@dataclass(frozen=True)
class Surface:
    api: Api
    driver: DriverExports
    origin: str
    """The origin of the headers, for people."""
    interceptions: Mapping[str, Interception]
    translation: Translation | None = None

    @cached_property
    def exports(self) -> tuple[Export, ...]:
        return tuple(
            Export(name, slot, self.api.by_name.get(name), self.interceptions.get(name))
            for slot, name in enumerate(self.driver.names)
        )

    @cached_property
    def exported_interceptions(self) -> tuple[Interception, ...]:
        """The interceptions of functions that the driver exports, in header order; those without a group, too."""
        present = set(self.driver.names)
        return tuple(each for each in self.interceptions.values() if each.function.name in present)

    @cached_property
    def lacking(self) -> tuple[Function, ...]:
        """Functions of the header that the driver does not export, in header order."""
        present = set(self.driver.names)
        return tuple(function for function in self.api.functions if function.name not in present)

    def can_fail(self, export: Export) -> bool:
        """Whether a call of the export may be refused with a status. A function that no header declares counts as one
        that returns a status if its name is like the vendor's others."""
        vendor = self.api.vendor
        if export.function is None:
            return vendor.status_name.match(export.name) is not None
        return export.function.has_status and export.name not in vendor.never_refused
