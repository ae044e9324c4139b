"""Typed reads of log lines, which are untrusted: a field of another type is an error that names the line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..audit.floats import float_from_bits
from .errors import FindingsError

WORD_MAX = (1 << 64) - 1
TIME_MAX = 1 << 62


class Line:
    """One line of a log, and its number, from 1."""

    __slots__ = ("number", "values")

    def __init__(self, number: int, values: Mapping[str, Any]) -> None:
        self.number, self.values = number, values

    def _error(self, name: str, wanted: str) -> FindingsError:
        return FindingsError(
            f"line {self.number}: `{name}` is missing or not {wanted}; no run writes such a line"
        )

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str):
            raise self._error(name, "a text")
        return value

    def text_or_none(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.text(name)

    def integer(self, name: str) -> int:
        value = self.values.get(name)
        if type(value) is not int or not -TIME_MAX <= value <= WORD_MAX:
            raise self._error(name, "a number of 64 bits")
        return value

    def time(self, name: str) -> int:
        value = self.values.get(name)
        if type(value) is not int or not -TIME_MAX <= value <= TIME_MAX:
            raise self._error(name, "a time in nanoseconds")
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise self._error(name, "true or false")
        return value

    def extents(self, name: str) -> tuple[int, ...]:
        value = self.values.get(name)
        if not isinstance(value, list) or len(value) != 3 or not all(type(each) is int for each in value):
            raise self._error(name, "three numbers")
        return tuple(value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._error(name, "a list of texts")
        return tuple(value)

    def _member(self, name: str, member: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise self._error(name, "an object")
        return value.get(member)

    def argument(self, *names: str) -> int:
        """The argument of the first of these names that the call has."""
        for name in names:
            value = self._member("arguments", name)
            if type(value) is int and 0 <= value <= WORD_MAX:
                return value
        raise self._error(f"arguments.{names[0]}", "a word of 64 bits")

    def float_argument(self, name: str) -> float:
        """A floating-point argument; NaN if it is not finite. Older logs have its bit pattern only."""
        if "floats" not in self.values:
            return float_from_bits(self.argument(name))
        value = self._member("floats", name)
        if value is None:
            return math.nan
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self._error(f"floats.{name}", "a number")
        return float(value)

    def has_argument(self, name: str) -> bool:
        return self._member("arguments", name) is not None
