"""Policy files: their structure, and messages that name the line."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from ..errors import UsageError

FORMAT = "neutrino-bench/policy/1"
FILE_BYTES_MAX = 8 << 20
RULES_MAX = 1024
"""NB_POLICY_RULES_MAX of hook/core/wire/policy.h."""

_NAMED = Path(__file__).parent / "named"
NAMES = tuple(sorted(path.stem for path in _NAMED.glob("*.toml")))
"""Policies that come with the package."""

Phase = Literal["before", "setup", "warm-up", "timing", "after"]


class Span(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Numbers from `min` to `max`, or numbers that have one of `bits`."""

    min: int | None = None
    max: int | None = None
    bits: int | None = None


Number = int | Span
Value = bool | str | Number | list[str | Number]


class Rule(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    name: str
    action: Literal["allow", "log", "deny"]
    call: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    """Further patterns, which may match no export of the driver."""
    phase: tuple[Phase, ...] = ()
    """None: every phase."""
    where: dict[str, Value] = {}
    unless: dict[str, Value] = {}
    once: Literal["process", "context"] | None = None
    code: str | int | None = None
    about: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: str
    name: str
    about: str = ""
    windows: bool = False
    rule: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Policy:
    """A policy file. `origin` is its path, for messages; `text` its content."""

    name: str
    windows: bool
    rules: tuple[Rule, ...]
    origin: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def error(self, message: str, rule: int | None = None, *keys: str) -> UsageError:
        """An error about a rule, by its position, and the first of `keys` that begins a line of it."""
        return _error(self.origin, self.text, message, rule, keys)


def load_policy(spec: str) -> Policy:
    """Read the policy of this name, or the file at this path. Raises UsageError."""
    path = _NAMED / f"{spec}.toml" if spec in NAMES else Path(spec)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would wait for its writer
            raise UsageError(f"the policy {spec} is not a regular file; name another file")
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise UsageError(f"the policy {spec} has more than {FILE_BYTES_MAX >> 20} MiB; shorten its lists")
        text = data.decode()
    except FileNotFoundError as error:
        raise UsageError(
            f"no policy file {spec}, and no policy has this name; give a path, or one of {', '.join(NAMES)}"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot read the policy {spec}: {reason}; name another file") from error
    return parse_policy(text, str(path))


def parse_policy(text: str, origin: str) -> Policy:
    """Raises UsageError, whose message begins with the file and the line."""
    try:
        document = msgspec.toml.decode(text)
        file = msgspec.convert(document, _File)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `")
        rule = re.search(r"\$\.rule\[(\d+)\]", place)
        key = re.search(r"field `(\w+)`", message) or re.search(r"\]\.(\w+)", place)
        number = int(rule[1]) if rule else None
        raise _error(origin, text, _plain(message), number, (key[1],) if key else ()) from error
    except msgspec.DecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise UsageError(f"{origin}:{line[1] if line else 1}: {error}; correct the TOML") from error
    policy = Policy(file.name, file.windows, file.rule, origin, text)
    if file.format != FORMAT:
        raise policy.error(f"format {file.format!r} is not {FORMAT!r}; correct the line", None, "format")
    if len(file.rule) > RULES_MAX:
        raise policy.error(f"{len(file.rule)} rules; give at most {RULES_MAX}")
    names: dict[str, int] = {}
    for number, rule_ in enumerate(file.rule):
        if rule_.name in names:
            raise policy.error(f"two rules have the name {rule_.name!r}; rename one", number, "name")
        names[rule_.name] = number
        if not rule_.call and not rule_.optional:
            raise policy.error(f"rule {rule_.name!r} has no calls; give `call`", number)
        if rule_.code is not None and rule_.action != "deny":
            raise policy.error(
                f"rule {rule_.name!r} does not deny, so its code is never returned; remove it", number, "code"
            )
    return policy


def _plain(message: str) -> str:
    """msgspec's message in the words of a TOML file."""
    message = (
        re.sub(r"Invalid enum value '(.*)'", r"'\1' is not a value of this key", message)
        .replace("Object contains unknown field", "unknown key")
        .replace("Object missing required field", "missing key")
    )
    return f"{message}; docs/policy.md lists the keys"


def _error(origin: str, text: str, message: str, rule: int | None, keys: tuple[str, ...]) -> UsageError:
    return UsageError(f"{origin}:{_line_of(text, rule, keys)}: {message}")


def _line_of(text: str, rule: int | None, keys: tuple[str, ...]) -> int:
    """The line of the first of the keys that begins a line of the rule, or of the file's head; else their first."""
    lines = text.splitlines()
    headers = [number for number, line in enumerate(lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]
    headers = [number for number in headers if _is_complete("\n".join(lines[:number]))]
    if rule is None:
        begin, end = 0, headers[0] if headers else len(lines)
    elif rule < len(headers):
        begin, end = headers[rule], headers[rule + 1] if rule + 1 < len(headers) else len(lines)
    else:
        return 1
    for key in keys:
        pattern = re.compile(rf"\s*(?:\[\s*rule\s*\.\s*)?[\"']?{re.escape(key)}\b")
        for number in range(begin, end):
            if pattern.match(lines[number]):
                return number + 1
    return begin + 1


def _is_complete(text: str) -> bool:
    """Whether a file could end here: not inside a string of several lines."""
    try:
        msgspec.toml.decode(text)
    except msgspec.DecodeError:
        return False
    return True
