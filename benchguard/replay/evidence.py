"""Evidence of a time: the checks that a replay or a grade made, and their results."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["held", "failed", "could not tell"]


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One check of a case. `text` says why it failed or could not tell; it is empty for a check that held."""

    check: str
    state: State
    text: str = ""


def without_proof(evidence: tuple[Evidence, ...]) -> str:
    """The checks that could not tell, with their reasons; empty if all checks could."""
    return "; ".join(f"{each.check}: {each.text}" for each in evidence if each.state == "could not tell")
