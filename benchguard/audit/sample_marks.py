"""The marks by which the loop of inline timing frames each sample in an audit log (engine/inline/mark.h).

They are lines `phase`. The submission's process writes the log, so it can forge them: no verdict depends on them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from ..toolchain.paths import INLINE_SONAME

PROBE = 0
"""Number of a case's first sample, which has no time in the result."""

_LABEL = re.compile(r"case ([0-9]{1,9}) sample ([0-9]{1,9})( queued)?(, other streams unjoined)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SampleMark:
    """Begin or end of a sample. At its end, the end event and the check are queued behind the sample's work.

    `joins_all`: the end event waits for all streams, not only for those that the legacy stream waits for.
    """

    case: int
    sample: int
    is_end: bool
    joins_all: bool


def sample_mark(label: str, origin: str) -> SampleMark | None:
    """The mark of a line `phase`; None for a phase that other code entered."""
    match = _LABEL.fullmatch(label) if PurePath(origin).name == INLINE_SONAME else None
    if match is None:
        return None
    return SampleMark(int(match[1]), int(match[2]), match[3] is not None, match[4] is None)
