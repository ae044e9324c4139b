"""Durations and sizes for people."""

from __future__ import annotations

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))
_SIZES = ((1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
EXACT_BYTES = 10_000


def duration_text(nanoseconds: int) -> str:
    """Three digits and a unit: "12.3 us"."""
    for unit, name in _TIMES:
        if nanoseconds >= unit:
            return f"{_three_digits(nanoseconds / unit)} {name}"
    return f"{nanoseconds} ns"


def bytes_text(size: int) -> str:
    """Exact if it is short, else three digits and a binary unit: "4096 B", "1.50 GiB"."""
    for unit, name in _SIZES:
        if size >= max(unit, EXACT_BYTES):
            return f"{_three_digits(size / unit)} {name}"
    return f"{size} B"


def rate_text(bytes_per_second: float) -> str:
    if bytes_per_second >= 1e9:
        return f"{_three_digits(bytes_per_second / 1e9)} GB/s"
    return f"{_three_digits(bytes_per_second / 1e6)} MB/s"


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.1f}" if number >= 9.995 else f"{number:.2f}"
