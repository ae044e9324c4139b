"""Sizes and times as people read them."""

from __future__ import annotations


def size_text(size: int) -> str:
    """A size as 1.5 MiB; in bytes below 10 KiB."""
    if size < 10 << 10:
        return f"{size} B"
    power = min((size.bit_length() - 1) // 10, 5)
    return f"{size / (1 << 10 * power):.1f} {['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][power]}"


def duration_text(nanoseconds: float) -> str:
    """A time as 1.70 us, with three digits."""
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if abs(nanoseconds) < 999.5 * scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3f} s" if abs(nanoseconds) < 1e11 else f"{nanoseconds / 1e9:.0f} s"


def rate_text(bytes_per_second: float) -> str:
    """A rate as 2.05 GB/s, with three digits."""
    for unit, scale in (("B/s", 1), ("kB/s", 1e3), ("MB/s", 1e6)):
        if bytes_per_second < 999.5 * scale:
            return f"{bytes_per_second / scale:.3g} {unit}"
    return f"{bytes_per_second / 1e9:.3g} GB/s"
