"""Why the captures of a quarantine cannot be used."""

from __future__ import annotations

from ..audit.supervise import Run
from ..ipc.text import describe_exit, last_line
from .attend import Attendant
from .contract import FIRST_PHASES
from .events import Events
from .sandbox.keeper import STATUS_LEFT

_SIGNALLED = 128


def trouble_of(run: Run, attendant: Attendant, events: Events) -> str:
    """The first reason, besides a time-out and failures that the submission reports; empty without one.

    A limit comes before processes that did not end in time: one with many gigabytes takes seconds to end.
    """
    if attendant.excess or attendant.timed_out:
        return attendant.excess
    if run.outlived or run.status == STATUS_LEFT:
        which = f" ({', '.join(map(str, run.outlived))})" if run.outlived else ""
        return f"some processes of the submission survived SIGKILL{which}; end them, then grade again"
    if attendant.trouble:
        return f"the submission's process sent invalid events: {attendant.trouble}"
    if events.confined is None:
        return f"the quarantine did not start: {_ended(run, attendant)}"
    return _unfinished(run, attendant, events)


def confinement_of(events: Events, run: Run) -> dict[str, str]:
    """For each protection: "on", or the reason why it is off."""
    features = dict(events.confined.features) if events.confined is not None else {}
    if run.outlived or run.status == STATUS_LEFT:
        features["processes"] = "some processes did not end"
    return features


def _unfinished(run: Run, attendant: Attendant, events: Events) -> str:
    if events.broke is not None:
        return events.broke.text if events.broke.phase in FIRST_PHASES else ""
    if events.finished is None:
        return f"the submission's process ended before it was called for all cases: {_ended(run, attendant)}"
    return ""


def _ended(run: Run, attendant: Attendant) -> str:
    status = _SIGNALLED - run.status if run.status > _SIGNALLED else run.status
    return describe_exit(status, last_line(attendant.text))
