"""From a policy to the table that the shim reads (hook/core/wire/policy.h)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from fnmatch import translate
from typing import get_args

from ..audit import layout
from ..audit.cordon import Cordon
from ..audit.layout import Action, Once, PolicyFlag, PolicySubject
from ..shim.surface import Surface
from .codes import code_of
from .facts import BOOLEANS, FactError, Place, Test, launches_kernels, place_of, test_of
from .file import Phase, Policy, Rule

_PREFIXES = {"cuda": ("cu",), "hip": ("hip", "__hip", "_Z")}
_PHASES: dict[str, int] = {name: number for number, name in enumerate(get_args(Phase))}
_EVERY_PHASE = (1 << len(_PHASES)) - 1
_EVENT_RECORDS = ("cuEventRecord", "cuEventRecordWithFlags", "hipEventRecord", "hipEventRecordWithFlags")
_WORK_GROUPS = ("launch", "copy", "set")
_WORK_CALLS = ("cuGraphLaunch", "hipGraphLaunch")
LAUNCHES = "launches"
"""In place of a call: every call that launches kernels."""


@dataclass
class _Table:
    rules: list[bytes] = field(default_factory=list)
    facts: list[bytes] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)
    entries: list[tuple[int, int, bytes]] = field(default_factory=list)
    text: bytearray = field(default_factory=bytearray)
    flags: int = 0
    uncovered: list[str] = field(default_factory=list)
    _spans: dict[Test, tuple[int, int]] = field(default_factory=dict)

    def fact(self, place: Place, test: Test, negated: bool) -> None:
        if test not in self._spans:
            first = len(self.values)
            pairs = test.numbers or tuple(self._store(each) for each in test.texts)
            self.values += [layout.POLICY_VALUE.pack(*pair) for pair in pairs]
            self._spans[test] = first, len(pairs)
        self.facts.append(
            layout.POLICY_FACT.pack(place.subject, place.position, test.kind, negated, *self._spans[test])
        )
        if place.subject in (PolicySubject.TIMING_EVENT, PolicySubject.IS_TIMED_STREAM):
            self.flags |= PolicyFlag.KEEPS_EVENTS

    def _store(self, text: bytes) -> tuple[int, int]:
        at = len(self.text)
        self.text += text
        return at, len(text) - 1

    def entry(self, slot: int, order: int, rule: int, first_fact: int) -> None:
        packed = layout.POLICY_ENTRY.pack(slot, rule, first_fact, len(self.facts) - first_fact)
        self.entries.append((slot, order, packed))

    def pack(self) -> bytes:
        entries = [packed for _, _, packed in sorted(self.entries, key=lambda each: each[:2])]
        head = layout.POLICY.pack(
            layout.POLICY_MAGIC,
            self.flags,
            len(self.rules),
            len(self.facts),
            len(self.values),
            len(entries),
            len(self.text),
        )
        return b"".join([head, *self.rules, *self.facts, *self.values, *entries, bytes(self.text)])


def compile_policy(policy: Policy, surface: Surface) -> Cordon:
    """The policy for the exports of one driver.

    A rule with facts leaves out forms of a call that are newer than the headers: their arguments are unknown. So does a
    rule that denies, for HIP's, which may return no status; every CUDA driver function returns one.

    Raises UsageError: a rule names a call that the driver lacks, a fact that the call lacks, or a value or code that is
    invalid. The message has the line.
    """
    table, by_name = _Table(), _slots_by_name(surface)
    for number, rule in enumerate(policy.rules):
        _add_rule(table, policy, number, rule, surface, by_name)
    if policy.windows:
        _add_windows(table, surface)
    packed = table.pack()
    if len(packed) > layout.POLICY_BYTES_MAX:
        raise policy.error(
            f"the policy has {len(packed) >> 10} KiB as a table, more than {layout.POLICY_BYTES_MAX >> 10}; "
            "shorten its lists or its patterns"
        )
    return Cordon(
        policy.name, policy.sha256, tuple(rule.name for rule in policy.rules), packed, tuple(table.uncovered)
    )


def _add_rule(
    table: _Table, policy: Policy, number: int, rule: Rule, surface: Surface, by_name: Mapping[str, Set[int]]
) -> None:
    def fail(message: str, *keys: str) -> Exception:
        return policy.error(f"rule {rule.name!r}: {message}", number, *keys)

    try:
        code = code_of(rule.code, surface.api)
        tests = [
            (name, test_of(name, value), negated, key)
            for key, facts, negated in (("where", rule.where, False), ("unless", rule.unless, True))
            for name, value in facts.items()
        ]
    except FactError as error:
        keys = ("code",) if str(error).startswith("code") else ("where", "unless")
        raise fail(str(error), *keys) from error
    # Cheap facts come first. The question for the timed stream notes the stream, so it comes last.
    tests.sort(
        key=lambda each: (each[0] == "timed_stream", each[0] in ("library", "kernel", "image", *BOOLEANS))
    )
    phases = sum(1 << _PHASES[name] for name in set(rule.phase)) or _EVERY_PHASE
    once = {None: Once.NEVER, "process": Once.PROCESS, "context": Once.CONTEXT}[rule.once]
    table.rules.append(layout.POLICY_RULE.pack(Action[rule.action.upper()], phases, once, code))
    for slot in _slots(rule, surface, by_name, lambda message: fail(message, "call")):
        export = surface.exports[slot]
        if rule.action == "deny" and export.status is False:
            if LAUNCHES in rule.call:
                table.uncovered.append(f"{export.name}: {rule.name}")
                continue
            raise fail(f"{export.name} returns no status, so it cannot be denied; log it", "call")
        if export.kind == "untyped" and (
            any(name != "library" for name, *_ in tests) or (rule.action == "deny" and surface.api == "hip")
        ):
            table.uncovered.append(f"{export.name}: {rule.name}")
            continue
        first = len(table.facts)
        for name, test, negated, key in tests:
            try:
                table.fact(place_of(name, export), test, negated)
            except FactError as error:
                raise fail(str(error), name, key) from error
        table.entry(slot, number + 1, number, first)


def _slots(rule: Rule, surface: Surface, by_name: Mapping[str, Set[int]], fail: object) -> list[int]:
    slots: set[int] = set()
    prefixes = (*(prefix for each in _PREFIXES.values() for prefix in each), "*", "?", "[")
    for pattern in (*rule.call, *rule.optional):
        if pattern != LAUNCHES and not pattern.startswith(prefixes):
            raise fail(  # type: ignore[operator]
                f"driver calls begin with cu or hip, unlike {pattern}; correct the name, or write {LAUNCHES!r}"
            )
        matches = _matches(pattern, surface, by_name)
        is_ours = pattern.startswith((*_PREFIXES[surface.api], "*", "?", "["))
        if is_ours and not matches and pattern in rule.call:
            raise fail(  # type: ignore[operator]
                f"the driver has no call {pattern}; correct the name, or move it to `optional`"
            )
        slots |= matches
    return sorted(slots)


def _matches(pattern: str, surface: Surface, by_name: Mapping[str, Set[int]]) -> Set[int]:
    """The slots of the calls that match a pattern. Most patterns are names, and a driver has a thousand exports."""
    if pattern == LAUNCHES:
        return {slot for slot, export in enumerate(surface.exports) if launches_kernels(export)}
    if not set(pattern) & set("*?["):
        return by_name.get(pattern, frozenset())
    match = re.compile(translate(pattern)).match
    return {slot for slot, export in enumerate(surface.exports) if match(export.name) or match(export.base)}


def _slots_by_name(surface: Surface) -> Mapping[str, Set[int]]:
    """The slots of each call by its name, and of all forms of a call by their common name."""
    slots: dict[str, set[int]] = {}
    for slot, export in enumerate(surface.exports):
        for name in (export.name, export.base):
            slots.setdefault(name, set()).add(slot)
    return slots


def _add_windows(table: _Table, surface: Surface) -> None:
    """Entries that tell the shim of event records, and of work between them."""
    table.flags |= PolicyFlag.WINDOWS | PolicyFlag.KEEPS_EVENTS
    anything = Test(layout.PolicyTest.RANGE, numbers=((0, 1),))
    for slot, export in enumerate(surface.exports):
        if export.kind != "recorded":
            continue
        first = len(table.facts)
        if export.base in _EVENT_RECORDS:
            table.fact(place_of("timing_event", export), anything, False)
            table.fact(place_of("timed_stream", export), anything, False)
            table.entry(slot, 0, layout.POLICY_EVENT, first)
        elif export.group in _WORK_GROUPS or export.base in _WORK_CALLS:
            table.entry(slot, 0, layout.POLICY_WORK, first)
