"""triton.testing.do_bench: its call, and what it returns."""

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
    """Time calls of `fn`, in milliseconds, on torch's current stream, or the legacy default stream without torch.

    `warmup` and `rep` are milliseconds to spend on calls that are not timed and on those that are. `grad_to_none` are
    tensors whose gradients are dropped before each. `quantiles` are returned instead of `return_mode`'s number, one
    alone as a number. Caches are cold before each call, the device does not wait for the host, and nothing is
    subtracted.

    The trust is `inline`: `fn` runs in this process and can change what it likes here. Grade what others wrote.

    Raises UsageError for what cannot be asked, CudaError for what the driver says.
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
    found = [quantile(sorted(times), each) for each in quantiles]
    return found[0] if len(found) == 1 else found


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest, in proportion."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _current_stream() -> int:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return 0
    return int(torch.cuda.current_stream().cuda_stream)
