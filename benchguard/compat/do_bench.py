"""A replacement for triton.testing.do_bench."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ..errors import UsageError
from .timing import Timer

ReturnMode = Literal["min", "max", "mean", "median", "all"]
_SUMMARIES: dict[str, Callable[[list[float]], Any]] = {
    "min": min, "max": max, "mean": statistics.fmean, "median": statistics.median, "all": list,
}  # fmt: skip
ESTIMATES = 5


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Iterable[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: ReturnMode = "mean",
) -> Any:
    """Time calls of a function, like triton.testing.do_bench.

    Calls run on torch's current stream, or on the legacy default stream without torch. Caches are cold before each
    timed call, and the call is queued before the device starts, so launch latency is not included. The trust is
    `inline`: `fn` runs in this process and can alter every time. Grade code that is not your own.

    Args:
        fn: function to time.
        warmup: milliseconds of untimed calls.
        rep: milliseconds of timed calls.
        grad_to_none: tensors whose `grad` is set to None before each timed call.
        quantiles: shares from 0 to 1; their quantiles are returned instead of `return_mode`'s number.
        return_mode: "min", "max", "mean", "median", or "all" for a list of every time.

    Returns:
        Times in milliseconds: a number, or a list for "all" and for several quantiles.

    Raises:
        UsageError: `return_mode` or a quantile is invalid.
        CudaError: the CUDA driver is missing, or a driver call failed.
    """
    if return_mode not in _SUMMARIES:
        raise UsageError(f"return_mode cannot be {return_mode!r}; give {', '.join(_SUMMARIES)}")
    if quantiles is not None and not all(0 <= each <= 1 for each in quantiles):
        raise UsageError(f"quantiles cannot be {list(quantiles)}; give numbers from 0 to 1")
    tensors = list(grad_to_none or ())
    fn()
    timer = Timer(_current_stream())
    try:
        estimate = max(timer.spread(fn, ESTIMATES), 1e-6)
        for _ in range(max(1, int(warmup / estimate))):
            fn()
        times = []
        for _ in range(max(1, int(rep / estimate))):
            for each in tensors:
                each.grad = None
            times.append(timer.time(fn))
    finally:
        timer.close()
    return summary(times, quantiles, return_mode)


def summary(times: list[float], quantiles: Sequence[float] | None, return_mode: ReturnMode) -> Any:
    if quantiles is None:
        return _SUMMARIES[return_mode](times)
    values = [quantile(sorted(times), each) for each in quantiles]
    return values[0] if len(values) == 1 else values


def quantile(ordered: Sequence[float], share: float) -> float:
    """A quantile by linear interpolation."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _current_stream() -> int:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return 0
    return int(torch.cuda.current_stream().cuda_stream)
