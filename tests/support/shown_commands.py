"""Commands that a page shows with their output, and the comparison with the output of a run.

A tutorial has blocks of these kinds, and a test rejects any other:

- a `console` block: a line that begins with `$ ` is a command for bash, the lines below are its output, in order. `…`
  stands for lines, or in a line for text, that is left out;
- a block below `<!-- file: NAME -->`: the reader saves it, before the next command;
- a block below `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

OMITTED = "…"
EXACT = re.compile(r"exit status \d+$")
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[a-z ]+): (?P<value>[^\n]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Command:
    text: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Saved:
    """A file that the reader saves."""

    name: str
    text: str


@dataclass(frozen=True)
class NotRun:
    reason: str
    text: str


Step = Command | Saved | NotRun


def steps_of(page: str) -> Iterator[Step]:
    """The steps of a tutorial. Raises ValueError at a block of another kind."""
    if page.count("```") != 2 * sum(1 for _ in BLOCK.finditer(page)):
        raise ValueError("a block does not begin or end on a line of its own")
    for block in BLOCK.finditer(page):
        mark, value, language, text = block["mark"], block["value"], block["language"], block["text"]
        if mark == "file":
            yield Saved(value, text)
        elif mark == "not run":
            yield NotRun(value, text)
        elif mark is None and language == "console":
            yield from _commands(text)
        else:
            raise ValueError(
                f"block of {text.splitlines()[:1]}: neither console, nor a file, nor marked as not run"
            )


def _commands(text: str) -> Iterator[Command]:
    before, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    if before or not parts:
        raise ValueError(f"console block without a command at its start: {text.splitlines()[:1]}")
    for part in parts:
        joined = part.replace("\\\n", "")
        command, *shown = joined.splitlines()
        yield Command(command, tuple(shown))


def normal_form(line: str) -> str:
    """The line without the values that differ from run to run: numbers, units of time, hashes, padding, libraries."""
    if EXACT.match(line):
        return line
    line = re.sub(r"\(\d+ \w+(?:, \d+ \w+)*\)", "(SETS)", line)  # the drawn distributions
    line = re.sub(r"(?<!\.)\b[0-9a-f]{12,64}\b|\b0x[0-9a-f]+", "H", line)
    line = re.sub(r"\bpython[\d.]+", "python", line)
    line = re.sub(r"(?<=\d) [num]?s\b", " TIME", line)
    line = re.sub(r"\S+\.so\S*", "LIBRARY", line)
    line = re.sub(r"-?\b\d[\d.]*(?:e[+-]?\d+)?\b", "N", line)
    return re.sub(r"[\s|+-]+", " ", line).strip()


def lines_missing_from(shown: list[str], printed: list[str]) -> Iterator[str]:
    """The shown lines that the output does not have after the one before."""
    rest = iter([normal_form(line) for line in printed])
    for line in shown:
        pattern = re.compile(".*".join(re.escape(normal_form(part)) for part in line.split(OMITTED)))
        if line != OMITTED and not any(map(pattern.fullmatch, rest)):
            yield line
