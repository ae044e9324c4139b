"""Options that choose the recorded region, and their encoding for the shim (hook/core/region/selection.h)."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import UsageError
from .kernel_name import display_name, plain_name


@dataclass(frozen=True)
class ByProgram:
    """The program marks the region with benchguard.region()."""

    @property
    def variable(self) -> str:
        return "program"


@dataclass(frozen=True)
class ByLaunches:
    """Launches `first` to `end` - 1 of a process, counted from 0."""

    first: int
    end: int

    @property
    def variable(self) -> str:
        return f"launches={self.first}:{self.end}"


@dataclass(frozen=True)
class ByKernel:
    """The `nth` launch, from 1, of a kernel whose name matches."""

    pattern: str
    nth: int

    @property
    def variable(self) -> str:
        return f"kernel={self.nth}:{self.pattern}"

    def matches(self, name: str, demangled: str | None = None) -> bool:
        """Whether the pattern is, or matches, the mangled name, the function's own name in it, or the demangled name.

        The demangled name counts in full, and as tables show it.
        """
        if not name:
            return False
        readable = [demangled, display_name(demangled)] if demangled else []
        spellings = [name, plain_name(name), *readable]
        return self.pattern in readable or any(fnmatch.fnmatchcase(n, self.pattern) for n in spellings if n)


@dataclass(frozen=True)
class ByWindow:
    """The `nth` pair, from 1, of timing events on a stream with work between them."""

    nth: int

    @property
    def variable(self) -> str:
        return f"window={self.nth}"


Selection: TypeAlias = ByProgram | ByLaunches | ByKernel | ByWindow


def parse_selection(launches: str | None, kernel: str | None, window: int | None) -> Selection:
    """From the options of `record`. Raises UsageError."""
    options = [option for option in (launches, kernel, window) if option is not None]
    if len(options) > 1:
        raise UsageError("--launches, --kernel and --window each choose the region; give only one")
    if launches is not None:
        numbers = re.fullmatch(r"(\d{1,18}):(\d{1,18})", launches, re.ASCII)
        if numbers is None or int(numbers[1]) >= int(numbers[2]):
            raise UsageError(
                f"--launches {launches}: write A:B with A < B, launches counted from 0, B left out"
            )
        return ByLaunches(int(numbers[1]), int(numbers[2]))
    if kernel is not None:
        return _parse_kernel(kernel)
    if window is not None:
        if window < 1:
            raise UsageError(f"--window {window}: pairs of timing events are counted from 1")
        return ByWindow(window)
    return ByProgram()


def _parse_kernel(text: str) -> ByKernel:
    with_number = re.fullmatch(r"(.+):(\d{1,18})", text, re.ASCII | re.DOTALL)
    pattern, nth = (with_number[1], int(with_number[2])) if with_number else (text, 1)
    if not pattern or "\0" in pattern or nth < 1:
        raise UsageError(f"--kernel {text}: write PATTERN or PATTERN:N, launches of it counted from 1")
    return ByKernel(pattern, nth)
