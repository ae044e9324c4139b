"""Compare a kernel's rates with those of its device, and recognise impossible times. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

MARGIN = 1.2
"""A time is impossible only if it is below this share of the floor, because the floor comes from measured rates."""


@dataclass(frozen=True)
class Ceilings:
    """Rates of devices whose name contains `name`, in bytes and operations per second; read on `date`.

    `copy` and `tensor` were measured: bytes read and written by a large copy, and bf16 matrix products by cuBLAS, the
    best of several readings. `fastest` is the data sheet's highest rate for dense operands, because a kernel may
    compute in another dtype than the problem counts. `cache` is the size of the L2, which hides bytes: those written
    but not yet in memory at the end, and those read that were cached before.
    """

    name: str
    date: str
    copy: float
    tensor: float
    fastest: float
    cache: int


MEASURED = (
    # Measured on 2026-11-21: copy 4.3 TB/s, bf16 769 to 798 TFLOP/s. Data sheet: FP8 1979 TFLOP/s dense, L2 60 MB
    Ceilings("H200", "2026-11-21", 4.3e12, 798e12, 1979e12, 60 << 20),
)


@dataclass(frozen=True)
class Rates:
    """Rates of a call; None if unknown: without a time, without a count, or for an unmeasured device.

    Shares are from 0 to 1. `floor_us` is the least time for the bytes and operations. `impossible` says why the time
    cannot be right; it is empty otherwise.
    """

    gflops: float | None = None
    gbytes_per_s: float | None = None
    share_of_compute: float | None = None
    share_of_memory: float | None = None
    floor_us: float | None = None
    impossible: str = ""
    is_counted: bool = False
    """Whether the problem counts its operations or bytes."""


def ceilings_of(device: str) -> Ceilings | None:
    return next((each for each in MEASURED if each.name in device), None)


def rates_of(median_us: float | None, flops: int | None, moved_bytes: int | None, device: str) -> Rates:
    """The rates of a call that takes `median_us`, does `flops` operations and moves at least `moved_bytes` bytes."""
    ceilings = ceilings_of(device)
    floor = floor_us(flops, moved_bytes, ceilings)
    is_counted = flops is not None or moved_bytes is not None
    if median_us is None or median_us <= 0:
        return Rates(floor_us=floor, is_counted=is_counted)
    a_second = 1e6 / median_us
    impossible = ""
    if floor is not None and median_us * MARGIN < floor:
        impossible = (
            f"{median_us:.4g} us is less than the {floor:.4g} us that {_work(flops, moved_bytes)} need on {device}: "
            "the time is wrong, or the problem counts more work than is needed"
        )
    rate = None if flops is None else flops * a_second
    traffic = None if moved_bytes is None else moved_bytes * a_second
    return Rates(
        gflops=None if rate is None else rate / 1e9,
        gbytes_per_s=None if traffic is None else traffic / 1e9,
        share_of_compute=None if rate is None or ceilings is None else rate / ceilings.tensor,
        share_of_memory=None if traffic is None or ceilings is None else traffic / ceilings.copy,
        floor_us=floor,
        impossible=impossible,
        is_counted=is_counted,
    )


def floor_us(flops: int | None, moved_bytes: int | None, ceilings: Ceilings | None) -> float | None:
    """The longer of the operations' time and the time of the bytes that no cache can hide."""
    if ceilings is None or (flops is None and moved_bytes is None):
        return None
    compute = (flops or 0) / ceilings.fastest
    memory = max(0, (moved_bytes or 0) - ceilings.cache) / ceilings.copy
    return max(compute, memory) * 1e6


def _work(flops: int | None, moved_bytes: int | None) -> str:
    parts = []
    if flops is not None:
        parts.append(f"{flops:.4g} operations")
    if moved_bytes is not None:
        parts.append(f"{moved_bytes:.4g} bytes")
    return " and ".join(parts)
