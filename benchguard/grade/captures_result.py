"""The result of a comparison of captures: the document neutrino-bench/compare-captures/1."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..ipc.json_text import json_document
from ..replay.evidence import Evidence
from ..replay.result import Settings
from ..replay.subject import KernelUse
from .compared_case import ComparedCase
from .comparison import Call
from .look import SharedRange
from .result import STATUS, Verdict

Schema = Literal["neutrino-bench/compare-captures/1"]
SCHEMA: Schema = "neutrino-bench/compare-captures/1"


class ComparedCapture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One capture. `evidence` has the checks of all its strict replays together, `sandbox` their protections, each "on"
    or the reason why it is off. Both are empty for a replay that is not strict."""

    path: str
    sha256: str
    region: str
    kernels: tuple[KernelUse, ...]
    settings: Settings
    verified: bool | None
    notes: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    sandbox: dict[str, str] = {}


class ComparedPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two captures, and the named memory that both have, as one replay of each left it."""

    a: ComparedCapture
    b: ComparedCapture
    memory: tuple[SharedRange, ...]


class CaptureComparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a comparison of captures.

    `call` is B against A. It is None if a replay of A or B does not pass; `verdict` and `reason` are then the replay's.
    `outputs_checked` is true if the outputs of all timed samples were compared with those of an untimed run. No problem
    says whether these are right. `cases` has the times of each of the `pairs`. `labels` are the paths of the
    first pair, or the commands.
    """

    schema: Schema
    call: Call | None
    verdict: Verdict
    reason: str
    labels: tuple[str, str]
    strict: bool
    outputs_checked: bool
    cases: tuple[ComparedCase, ...]
    pairs: tuple[ComparedPair, ...]
    wall_s: float

    @property
    def status(self) -> int:
        """The exit status of `neutrino-bench compare` without --fail-on."""
        return STATUS[self.verdict]

    def to_json(self, indent: int = 1) -> str:
        return json_document(self, indent)
