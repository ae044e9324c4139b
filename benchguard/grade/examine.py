"""Find out from both captures of a case whether one may be replayed. Runs in the reader's sandbox.

The reader's process parses hostile bytes. A submission that took it over could only forge the evidence that the result
shows and hide its own refusal; the replay checks a capture again, and the judge checks every output.
"""

from __future__ import annotations

import msgspec

from ..capture import Capture, CaptureError
from ..capture.device_launch import graph_launcher
from ..ipc.json_text import UNREADABLE
from ..ipc.text import one_line
from ..problem.spec import CaseSpec
from .evidence import CaptureFacts, facts_of
from .specification import OR_INLINE, Finding, check_capture
from .traces import Trace, are_repeated, first_difference

ON_THE_DEVICE = f"decide in a kernel instead of host code{OR_INLINE}"
TEXT_MAX = 1000
REFUSALS = ("failed", "unreplayable", "violation")
CAPTURES = 2
"""Captures of a case."""


class Examined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`finding` is the reason not to replay, if any; `suspicion` is a difference that may explain wrong outputs.

    `facts` are of both captures, and empty if they cannot be read.
    """

    finding: Finding | None = None
    suspicion: str = ""
    facts: tuple[CaptureFacts, ...] = ()
    are_repeated: bool = False
    """Whether the second call is the first one again, with the same addresses and numbers."""


def examine(first: Capture, second: Capture, spec: CaseSpec) -> Examined:
    """Examine both captures of a case."""
    try:
        one, two = Trace.of(first), Trace.of(second)
        finding, suspicion = _findings(one, two, spec)
        repeated = finding is None and not suspicion and are_repeated(one, two)
        facts = (facts_of(one), facts_of(two))
    except CaptureError as error:
        return Examined(_shown(Finding("failed", f"the capture cannot be used: {error}")))
    return Examined(finding and _shown(finding), one_line(suspicion, TEXT_MAX), facts, repeated)


def examined_of(document: str) -> Examined:
    """The examiner's result. A hostile capture may have forged it, but no forgery is a pass."""
    try:
        examined = msgspec.json.decode(document, type=Examined)
    except UNREADABLE as error:
        return Examined(_shown(Finding("failed", f"the captures cannot be used: {error}")))
    finding = examined.finding
    if len(examined.facts) not in (0, CAPTURES) or (finding is not None and finding.verdict not in REFUSALS):
        return Examined(Finding("failed", "the captures cannot be used: their reader sent an invalid result"))
    return examined if finding is None else msgspec.structs.replace(examined, finding=_shown(finding))


def _shown(finding: Finding) -> Finding:
    return Finding(finding.verdict, one_line(finding.text, TEXT_MAX))


def _findings(first: Trace, second: Trace, spec: CaseSpec) -> tuple[Finding | None, str]:
    """A reason not to replay, if any, and a difference that may explain wrong outputs."""
    for trace in (first, second):
        finding = check_capture(trace.capture, spec)
        if finding is not None:
            return finding, ""
        launcher = graph_launcher(trace.capture)
        if launcher:
            return Finding("unreplayable", launcher), ""
    difference = first_difference(first, second)
    if difference is None:
        return None, ""
    if difference.of_work:
        text = f"two calls with different inputs do different GPU work: {difference.text}"
        return Finding("unreplayable", f"{text}; {ON_THE_DEVICE}"), text
    return None, f"the host gives different bytes to two calls with different inputs: {difference.text}"
