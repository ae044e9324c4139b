"""The findings of the device cordon, in a result."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..capture.model import Dim3
from ..replay.evidence import State


class Unchecked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kernel whose accesses are not all checked."""

    kernel: str
    reason: str


class CordonViolation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction that accessed memory which it was not given. The first access is described; `count` has all.

    `function` is the kernel, or a function that it calls. `line` is that of the PTX; `source` is FILE:LINE of the
    source, or empty without line information. `nearest` names the nearest allocation, `distance` bytes away.
    """

    function: str
    line: int
    source: str
    opcode: str
    access: str
    fault: Literal["outside", "misaligned"]
    space: Literal["global", "shared"]
    address: int
    bytes: int
    thread: Dim3
    block: Dim3
    nearest: str
    distance: int | None
    count: int


class Cordon(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`reason` is empty if the check held. `more` counts violations that are not listed, `unlisted` kernels.

    `checked` kernels were checked completely, on `sets` secret input sets.
    """

    status: State
    reason: str
    violations: tuple[CordonViolation, ...] = ()
    more: int = 0
    unchecked: tuple[Unchecked, ...] = ()
    unlisted: int = 0
    checked: int = 0
    sets: int = 0
