"""Options of the timed samples, which `replay`, `grade` and `compare` share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .options import Command, Flag, options_of

_TIMING: dict[str, str | Flag] = {
    "cold": "How to make the data caches cold before each sample: write and read scratch memory (flush), only write it "
    "(memset; biased), or not at all (none). Or read all captured memory after a flush, so that each sample finds it "
    "in the cache as far as it fits (warm). Only for captures that you trust (`replay` and `compare` of captures, "
    "without --strict): map other memory behind the same addresses (remap), or replay copies of the state in turn "
    "(rotate).  [default: flush; none on the CPU driver, except for `replay` without --strict]",
    "icache": "Instruction cache: replay copies of the code in turn (cold), or one copy (warm).",
    "flush_cache": "Empty the instruction caches before each sample: by a kernel on AMD devices, else as --icache "
    "cold.",
    "rotating_count": Flag(
        "Replay N copies of the state in turn, of 2 GiB together at most (--cold rotate).  [default: as many as "
        "fill the L2 cache five times]",
        "N",
    ),
    "warm_up_samples": Flag(
        "Discard N samples before the timed ones.  [default: until their times are steady, 0.5 s at most]",
        "N",
    ),
}


def timing_options(kind: type[Any]) -> Callable[[Command], Command]:
    """The shared options that are fields of this options dataclass."""
    names = {field.name for field in dataclasses.fields(kind)}
    return options_of(kind, {name: flag for name, flag in _TIMING.items() if name in names})
