"""From how the replay process ended, and what it said until then, to a verdict. The first reason wins.

`error` says that neutrino-bench or this machine is at fault, so no byte of a capture may lead to it. A capture that the
engine rejects, or whose work crashes the replay process, is `failed`; one that needs too much memory is `unreplayable`.
"""

from __future__ import annotations

import signal

from ..ipc.child import Ended
from .collect import Collector
from .protocol import BAD_CAPTURE, CANNOT, FAILED, OTHER_READ, TIMEOUT
from .result import Different, Verdict

CRASHES = frozenset(
    -each
    for each in (
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGTRAP,
    )
)
"""Exit statuses of a process that its own code ended. Other signals, SIGKILL for example, come from outside: from a
person, or from the kernel when the machine has no memory left."""


def verdict_of(
    collector: Collector,
    ended: Ended,
    differences: tuple[Different, ...],
    seconds: float,
    require_converged: bool = False,
) -> tuple[Verdict, str]:
    """The verdict and its reason; the reason of a pass is empty."""
    return _cut_short(collector, ended, seconds) or _outcome(collector, differences, require_converged)


def _cut_short(collector: Collector, ended: Ended, seconds: float) -> tuple[Verdict, str] | None:
    """None for a replay that went to its end."""
    if ended.refusal or ended.used_bytes or ended.excess or ended.timed_out:
        return _stopped(collector, ended, seconds)
    if ended.trouble:
        kind: Verdict = "error" if collector.opened is None else "failed"
        return kind, f"the replay process broke its protocol: {ended.trouble}; {ended.describe()}"
    if collector.failed is not None:
        return _failure(collector.failed.status), _failure_text(collector)
    if collector.opened is not None and collector.refused:
        return "unreplayable", f"{collector.opened.refusals[0]}; --ignore-refusals replays what was recorded"
    if collector.done is None:
        return _fault_of(collector, ended), (
            f"the replay process ended without a result, in phase {collector.phase!r}: {ended.describe()}"
        )
    return None


def _fault_of(collector: Collector, ended: Ended) -> Verdict:
    """The verdict of a replay process that ended by itself or by a signal: `failed` if the capture's work did that."""
    if ended.status in CRASHES:
        return "failed"
    return "failed" if ended.status >= 0 and collector.opened is not None else "error"


def _stopped(collector: Collector, ended: Ended, seconds: float) -> tuple[Verdict, str]:
    """The verdict of a replay that exceeded a limit, or that its sandbox did not let run."""
    if ended.refusal:
        return "error", f"the replay did not start: {ended.refusal}"
    if ended.used_bytes:
        return "failed", (
            f"the replay used {ended.used_bytes >> 20} MiB of host memory, more than --memory allows; "
            "allocate less, or raise --memory"
        )
    if ended.excess:
        return "failed", ended.excess
    return "timeout", f"no result within {seconds:g} s, in phase {collector.phase!r}; raise the time-out"


def _outcome(
    collector: Collector, differences: tuple[Different, ...], require_converged: bool
) -> tuple[Verdict, str]:
    if collector.verified is not None and collector.verified.count:
        return "wrong", _difference_text(differences, collector.verified.count)
    done = collector.done
    if done is not None and done.outputs is not None and done.outputs.first:
        checked = done.outputs
        count = (
            f"{checked.wrong} of {checked.samples} timed outputs are wrong; first " if checked.wrong else ""
        )
        return "wrong", f"{count}{checked.first}"
    least = min((each.sample.device_us for each in collector.samples), default=0.0)
    if least < 0 and not collector.request.options.strict:  # a strict replay has checks of its own for times
        return "failed", f"events show {least:.4g} us: a kernel wrote to memory of the driver"
    if require_converged and collector.done is not None and not collector.done.converged:
        return "unconverged", collector.done.reason
    return "pass", ""


def _failure(status: int) -> Verdict:
    """The verdict of an enum nb_replay_status."""
    verdicts: dict[int, Verdict] = {
        BAD_CAPTURE: "failed",
        CANNOT: "unreplayable",
        OTHER_READ: "unreplayable",
        TIMEOUT: "timeout",
        FAILED: "failed",
    }
    return verdicts.get(status, "error")


def _failure_text(collector: Collector) -> str:
    failed, request = collector.failed, collector.request
    assert failed is not None
    if failed.status != OTHER_READ:
        return failed.text
    where = ""
    if failed.input_set is not None:
        is_one_use = failed.input_set >= request.input_sets - request.one_use_sets
        where = f" on {'one-use' if is_one_use else 'repeated'} input set {failed.input_set}"
    return (
        f"{failed.text}{where}; the host's decisions may depend on these bytes, and a replay repeats the recorded "
        "decisions"
    )


def _difference_text(differences: tuple[Different, ...], count: int) -> str:
    places = f"{count} place{'s' if count != 1 else ''}"
    if not differences:
        return f"memory differs from the recorded one in {places}"
    first = differences[0]
    text = (
        f"memory differs from the recorded one in {places}, first {first.memory} at {first.address:#x} "
        f"from offset {first.first_offset:#x} on"
    )
    if all(each.again for each in differences):
        return f"{text}; two replays differ there too: the region is not deterministic (atomics, races)"
    return text
