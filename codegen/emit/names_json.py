"""benchguard/audit/names.json: names of errors, and the role of each recorded argument, for readers of audit logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..model import Api, CType
from ..semantics import Interception

FORMAT = "neutrino-bench/names/1"
ERRORS = {"cuda": "CUresult", "hip": "hipError_t"}


def emit_names(apis: Iterable[tuple[Api, Mapping[str, Interception]]]) -> str:
    """The whole file: one call, one enum or one table of errors on a line."""
    parts = [f'"format": {json.dumps(FORMAT)}']
    for api, interceptions in apis:
        parts.append(f'"{api.vendor.name}": {_api(api, interceptions)}')
    return "{" + ",\n".join(parts) + "}\n"


def _api(api: Api, interceptions: Mapping[str, Interception]) -> str:
    enums: set[str] = set()
    calls: dict[str, dict[str, str]] = {}
    for interception in interceptions.values():
        if interception.group is None:
            continue
        # Where the forms of a function differ, the newest one, which is the last, decides.
        roles = calls.setdefault(interception.function.base, {})
        for word in interception.words:
            enum = _enum_of(word.parameter.type, api.enums) if word.role.endswith("enum") else None
            roles[word.parameter.name] = word.role.replace("enum", f"enum:{enum}") if enum else word.role
            enums |= {enum} if enum else set()
    tables = {name: _by_number(api.enums[name]) for name in sorted(enums)}
    return (
        f'{{"version": {api.version},\n'
        f' "errors": {json.dumps(_by_number(api.enums[ERRORS[api.vendor.name]]))},\n'
        f' "enums": {_lines(tables)},\n'
        f' "calls": {_lines(dict(sorted(calls.items())))}}}'
    )


def _lines(items: Mapping[str, Any]) -> str:
    return "{\n  " + ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in items.items()) + "\n }"


def _by_number(members: Mapping[str, int]) -> dict[int, str]:
    """The first name of each number, which is the one that the drivers return; later ones are old spellings."""
    names: dict[int, str] = {}
    for name, number in members.items():
        names.setdefault(number, name)
    return names


def _enum_of(kind: CType, enums: Mapping[str, Mapping[str, int]]) -> str | None:
    spellings = (*kind.spellings, *(kind.pointee.spellings if kind.pointee else ()))
    return next((name for name in spellings if name in enums), None)
