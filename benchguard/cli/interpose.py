"""The interposer of a command, with messages for the user."""

from __future__ import annotations

from ..gpu.launch_overhead import launch_overhead
from ..shim.interposer import Interposer, gap_text, interposer_for
from ..shim.vendors import HIP
from .output import notify


def announced_interposer(spec: str, quiet: bool) -> Interposer:
    """Like interposer_for, and print what the user should know of the driver and its shim to standard error."""
    interposer, found, shim = interposer_for(spec)
    if spec == "auto" and found.is_sim and HIP.has_device() and not quiet:
        notify(f"using the {found.origin}")
    gap = gap_text(shim)
    if gap is not None and not quiet:
        notify(gap)
    if shim.built and not quiet:
        notify(f"built the shim for {found.path} from {interposer.surface.header.origin}")
    return interposer


def gpu_overhead_of(interposer: Interposer) -> int | None:
    """Measure what events around a launch add to its GPU time, in nanoseconds; None, with a message, if that fails.

    The CPU driver takes the times of its events at the kernel's begin and end.
    """
    if interposer.is_sim:
        return 0
    overhead = launch_overhead(interposer.driver)
    if overhead is None:
        notify("an empty launch could not be timed; GPU times include what the events around a launch add")
    return overhead
