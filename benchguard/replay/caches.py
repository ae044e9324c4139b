"""Cold caches: from the options of a replay to those of the engine, and the description in the result.

`flush_cache` and `rotating_count` are Composable Kernel's (include/ck_tile/host/rotating_buffers.hpp), as far as a
replay can do the same: instruction caches are emptied before each sample, and the memory that it works on is one of
several copies in turn, the first of which is the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from ..errors import UsageError
from ..shim.vendors import Api
from .options import Caching, ReplayOptions
from .protocol import Cold, Prepared

ROTATING_MAX = 1 << 20
FLUSH_THREADS = 64
"""Threads in a block of the engine's kernel."""


@dataclass(frozen=True)
class Caches:
    """As the engine's options have it. `rotating_count` 0: by the size of the cache."""

    cold: Cold
    rotating_count: int
    cold_code: bool
    flush_code: bool
    warm: bool = False
    """Read the captured memory after the caches were made cold."""

    @property
    def name(self) -> Caching:
        """As the options and the result name it."""
        return "warm" if self.warm else self.cold


def caches_of(api: Api, options: ReplayOptions) -> Caches:
    """How the engine makes caches cold. Raises UsageError for options that contradict one another.

    CUDA has no instruction that empties an instruction cache, so `flush_cache` runs copies of the code there.
    """
    cold, icache, rotating_count = options.cold, options.icache, options.rotating_count
    if cold is not None and cold not in get_args(Caching):
        raise UsageError(f"cold is {cold!r}; give {', '.join(sorted(get_args(Caching)))}")
    if icache not in {"warm", "cold"}:
        raise UsageError(f"icache is {icache!r}; give warm or cold")
    if rotating_count is not None and not 1 <= rotating_count <= ROTATING_MAX:
        raise UsageError(
            f"the rotating count is {rotating_count}; give 1 for no copies, or up to {ROTATING_MAX}"
        )
    rotates = rotating_count is not None and rotating_count > 1
    if rotates and cold not in {None, "rotate"}:
        raise UsageError(
            f"a rotating count has no effect with cold {cold!r}; give rotate, or leave the count out"
        )
    mode: Cold = "flush" if cold == "warm" else cold or ("rotate" if rotates else "flush")
    if options.strict and mode in {"remap", "rotate"}:
        raise UsageError(
            f"cold {mode!r} keeps copies of the state that kernels can reach; give flush or none with strict"
        )
    return Caches(
        cold=mode,
        rotating_count=rotating_count or 0 if mode == "rotate" else 0,
        cold_code=icache == "cold" or (options.flush_cache and api == "cuda"),
        flush_code=options.flush_cache and api == "hip",
        warm=cold == "warm",
    )


def icache_text(prepared: Prepared) -> str:
    """How instruction caches were made cold."""
    parts = []
    if prepared.flush_blocks and prepared.flushed:
        parts.append(
            f"flushed (s_icache_inv, {prepared.flush_blocks} blocks of {FLUSH_THREADS} threads before each sample)"
        )
    elif prepared.flush_blocks:
        parts.append("not flushed (no s_icache_inv on this device)")
    if prepared.code_copies > 1:
        parts.append(f"cold ({prepared.code_copies} copies of the code in turn)")
    return "; ".join(parts) or "warm"


def data_text(cold: str, prepared: Prepared) -> str:
    """How the caches of the region's memory were made cold."""
    if cold == "warm":
        return "no (captured memory is read into the cache before each sample)"
    return f"{cold} ({prepared.copies} in turn)" if cold == "rotate" else cold
