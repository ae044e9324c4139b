"""Pairs of a problem and a submission, listed in a manifest (tests/device/README.md has its form)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMS = ("gpumode", "kernelbench", "tensara", "leetgpu", "pygpubench", "own")
REFERENCE = "reference"
STARTER = "starter"
"""Submissions of these names are the problem's own reference, and what `neutrino-bench starter` writes for it."""
VERDICTS = (
    "pass", "wrong", "violation", "unreplayable", "unconverged", "unproven", "timeout", "failed", "refused",
)  # fmt: skip
"""The verdicts of a grade that a pair may expect. `refused`: a usage error, or a problem that cannot be opened."""

_ADAPTERS = {"tensara": "problem", "own": "problem"}


class ManifestError(Exception):
    """A manifest is invalid. The text names the line or the entry."""


@dataclass(frozen=True)
class Pair:
    """`options` are those of `neutrino-bench grade`, by name; `why` is a part of the reason that a pair expects."""

    id: str
    form: str
    problem: str
    submission: str
    options: dict[str, Any] = field(default_factory=dict)
    expected: str = "pass"
    why: str = ""

    @property
    def adapter(self) -> str:
        return _ADAPTERS.get(self.form, self.form)

    def arguments(self) -> list[str]:
        """The options as a command line has them."""
        found = []
        for name, value in {"adapter": self.adapter, **self.options}.items():
            flag = f"--{name.replace('_', '-')}"
            if value is True:
                found.append(flag)
            elif value is not False:
                for each in value if isinstance(value, list) else [value]:
                    found += [flag, str(each)]
        return found


def read_manifest(path: Path) -> list[Pair]:
    """Read a .toml file with [[pair]] tables, or JSON lines. Raises ManifestError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path} cannot be read: {error}") from error
    entries = _toml(path, text) if path.suffix == ".toml" else _lines(path, text)
    pairs = [_pair(where, entry) for where, entry in entries]
    seen: set[str] = set()
    for each in pairs:
        if each.id in seen:
            raise ManifestError(f"{path}: two pairs have the id {each.id}")
        seen.add(each.id)
    return pairs


def _toml(path: Path, text: str) -> list[tuple[str, Any]]:
    try:
        import tomllib
    except ImportError:
        raise ManifestError(f"{path}: TOML needs Python 3.11 or newer; give JSON lines") from None
    try:
        tables = tomllib.loads(text).get("pair", [])
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path}: {error}") from error
    return [(f"{path}: pair {number}", each) for number, each in enumerate(tables, 1)]


def _lines(path: Path, text: str) -> list[tuple[str, Any]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                found.append((f"{path}:{number}", json.loads(line)))
            except ValueError as error:
                raise ManifestError(f"{path}:{number}: {error}") from error
    return found


def _pair(where: str, entry: Any) -> Pair:
    if not isinstance(entry, dict):
        raise ManifestError(f"{where}: a pair is an object; this is a {type(entry).__name__}")
    unknown = entry.keys() - Pair.__dataclass_fields__.keys()
    if unknown:
        raise ManifestError(f"{where}: unknown key {min(unknown)}")
    for name in ("id", "form", "problem", "submission"):
        if not isinstance(entry.get(name), str) or not entry[name]:
            raise ManifestError(f"{where}: give {name}, a text")
    pair = Pair(**entry)
    if pair.form not in FORMS:
        raise ManifestError(f"{where}: form is {pair.form!r}; give one of {', '.join(FORMS)}")
    if pair.expected not in VERDICTS:
        raise ManifestError(f"{where}: expected is {pair.expected!r}; give one of {', '.join(VERDICTS)}")
    if not isinstance(pair.options, dict):
        raise ManifestError(f"{where}: options must be an object of options of `neutrino-bench grade`")
    if pair.expected != "pass" and not pair.why:
        raise ManifestError(f"{where}: {pair.expected} is expected; give why, a part of the reason")
    return pair
