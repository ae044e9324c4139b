"""The order for inline timing. It crosses processes as a part of the quarantine's Order."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..problem.spec import DType, Layout, Tolerance

SAMPLES_MAX = 1023
CASES_MAX = 256
HOLD_MS = 100
"""How long the queue is held for a call before it is said to wait for the device itself."""


class InlineCase(msgspec.Struct, frozen=True):
    """`inputs` and `expected` are memfds: `sets` sets, number n at n times the layout's stride.

    An expected buffer lies as its output does, with the same strides in elements, in the output's own dtype or, for a
    float dtype, in the float32 or float64 that `expected_dtypes` names.
    """

    inputs: int
    expected: int
    inputs_layout: Layout
    expected_layout: Layout
    sets: int
    tolerances: dict[str, Tolerance]
    expected_dtypes: dict[str, DType] = {}


class InlineOrder(msgspec.Struct, frozen=True):
    """`cases` are in the order of the Order's. `seal` is a memfd with the keys, `channel` a socket for what is armed
    and for the sealed results (supervise.py)."""

    cases: tuple[InlineCase, ...]
    samples: Annotated[int, Meta(ge=1, le=SAMPLES_MAX)]
    seal: int
    channel: int
    device: int = 0
    hold_ms: int = HOLD_MS

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All that the process must inherit."""
        pairs = [each for case in self.cases for each in (case.inputs, case.expected)]
        return (*pairs, self.seal, self.channel)


class Armed(msgspec.Struct, frozen=True):
    """First on the channel, before a byte of the submission ran, so it may be believed. Guards as in engine/inline.h,
    `sets` that were taken by case."""

    guards: int
    joins_all: bool
    sets: tuple[int, ...]
