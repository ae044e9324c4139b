"""The checks: each file has findings of one kind, with their explanations."""

from __future__ import annotations

from ..rules import Rule
from . import log
from .check import Check
from .empty import EmptyWindows
from .events import EventUse
from .host import HostWork
from .loop import Loop
from .streams import StreamOrder
from .time import Times

CHECKS: tuple[type[Check], ...] = (EmptyWindows, StreamOrder, EventUse, Times, HostWork, Loop)
"""All checks of a process."""

RULES: dict[str, Rule] = {
    rule.id: rule for rules in (*(check.rules for check in CHECKS), log.RULES) for rule in rules
}
"""All findings, by id."""
