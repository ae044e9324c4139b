"""The prose lint: python -m tests.support.prose [FILE...] prints each sentence or name that docs/glossary.md forbids.

It reads comments, docstrings, messages, pages and names, and finds the commonest constructions that a reader stumbles
over, not all of them. Without files it reads every tracked file. Exit status 1 if it finds any.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".py", ".c", ".h", ".S", ".cu", ".cuh", ".md", ".toml"}
EXEMPT = (
    "docs/glossary.md",  # lists the forbidden words
    "tests/support/prose.py",
    "tests/unit/test_prose.py",
    "tests/unit/codegen/golden/",
)

PHRASES = re.compile(
    r"\b(?:(?:is|are|was|were) (?:(?-i:none)|nobody's|told)|(?<!there )(?:is|are) no (?!longer\b|more\b)\w+|nobody's|"
    r"as much as says|"
    r"so (?:many|often)[.,;]|what is (?:not|none|left)|who (?:asks|checks|aborts|reads|writes|calls|remembers|wants)|"
    r"whose \w+ it is|one that (?:may|has|is)|the ones? (?:before|after) (?:it|them)|each of which|"
    r"there to (?:do|be)|says nothing|as it is told|that which)\b",
    re.IGNORECASE,
)
"""Constructions in which the reader has to guess the noun."""

BEGINNINGS = re.compile(
    r"(?:^|(?<=[.;:] ))(?:What|Whose|Who|Of|One that|Nobody|Nothing|As [a-z]+_[a-z]+,|Where a) [\w`][^?]*$"
)
"""Sentences that begin with a pronoun or a preposition; a question may."""

NAMES = re.compile(
    r"\b(?:def|class) ((?:what|who|whose|nobody|nothing|one_that)_\w+|"
    r"test_(?:an?|what|who|whose|nobody|nothing|one(?!_use|_dim)|of|where|as|it|is)_\w+)"
)
"""Functions and tests that are named by a clause: say subject_condition_result."""

C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
COMMENT_EDGES = re.compile(r"^\s*(?:/\*+|\*/|\*|//+|#+|\"+|'+|[rfb]{1,2}\"+)?\s*|\s*(?:\*/|\"+|'+)\s*$")
STRING_MIN = 12
"""Shorter strings are keys and words, not sentences."""


@dataclass(frozen=True)
class Finding:
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def texts_of(path: Path, content: str) -> Iterator[tuple[int, str]]:
    """The prose of a file: for each line of it the line's number and its text without comment marks."""
    if path.suffix == ".md":
        yield from _page_lines(content)
    elif path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            is_comment = token.type == tokenize.COMMENT and "noqa:" not in token.string
            is_text = is_comment or (token.type == tokenize.STRING and len(token.string) >= STRING_MIN)
            if is_text or token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
                yield from _lines(token.start[0], token.string)
    elif path.suffix == ".toml":
        for number, line in enumerate(content.splitlines(), 1):
            if line.lstrip().startswith("#"):
                yield number, COMMENT_EDGES.sub("", line)
    else:
        for match in C_TEXT.finditer(content):
            if not match[0].startswith('"') or len(match[0]) >= STRING_MIN:
                yield from _lines(content.count("\n", 0, match.start()) + 1, match[0])


def _page_lines(content: str) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(content.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line.lstrip("#->|* ")


def _lines(first: int, text: str) -> Iterator[tuple[int, str]]:
    for offset, line in enumerate(text.splitlines()):
        yield first + offset, COMMENT_EDGES.sub("", line)


def findings_in(path: Path, content: str) -> list[Finding]:
    """Every forbidden construction of a file, in the order of its lines."""
    items = [
        Finding(path, number, text.strip())
        for number, text in texts_of(path, content)
        if PHRASES.search(text) or BEGINNINGS.search(text)
    ]
    if path.suffix == ".py":
        for number, line in enumerate(content.splitlines(), 1):
            items += [Finding(path, number, f"the name {match[1]}") for match in NAMES.finditer(line)]
    return sorted(items, key=lambda finding: finding.line)


def tracked_files() -> list[Path]:
    """The files of the repository that the lint reads, relative to its root."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [Path(line) for line in listed.splitlines()]
    return [path for path in paths if path.suffix in SUFFIXES and not str(path).startswith(EXEMPT)]


def main(arguments: Sequence[str]) -> int:
    paths = [Path(each) for each in arguments] or tracked_files()
    results = []
    for path in paths:
        file = ROOT / path
        if file.is_file() and not file.is_symlink():
            results += findings_in(path, file.read_text(errors="replace"))
    for finding in results:
        print(finding)
    print(f"prose: {len(paths)} files, {len(results)} findings")
    return 1 if results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
