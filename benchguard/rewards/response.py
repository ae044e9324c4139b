"""Find the submission in a model's response: the last fenced block of code."""

from __future__ import annotations

from dataclasses import dataclass

from ..quarantine.contract import Language

TEXT_MAX = 1 << 20
"""Characters of a response."""

LANGUAGES: dict[str, Language] = {
    "c++": "cuda",
    "cpp": "cuda",
    "cu": "cuda",
    "cuda": "cuda",
    "hip": "hip",
    "ptx": "ptx",
    "py": "python",
    "python": "python",
    "python3": "python",
}
"""Words behind a fence, and the languages that they name."""

FENCES = ("```", "~~~")


@dataclass(frozen=True)
class Code:
    """A block of code. `source` is data: it is only ever run in the quarantine."""

    source: str
    language: Language


def listed(languages: frozenset[Language]) -> str:
    """The languages as words: "cuda, ptx or python"."""
    *others, last = sorted(languages)
    return f"{', '.join(others)} or {last}" if others else last


def code_in(
    text: str,
    language: Language | None = None,
    languages: frozenset[Language] = frozenset({"cuda", "ptx", "python"}),
) -> Code | str:
    """The code of the last closed fenced block in a known language, or the reason why there is no code.

    Args:
        text: a model's response in Markdown.
        language: language of the submission; then blocks of other languages are skipped, and a block without a
            language counts. None: the language behind the fence.
        languages: languages that are graded; blocks of others are skipped.
    """
    if len(text) > TEXT_MAX:
        return f"the response has more than {TEXT_MAX} characters; write less"
    found: Code | None = None
    fence, lines = "", list[str]()
    kind: Language | None = None
    for line in text.replace("\r\n", "\n").split("\n"):  # splitlines() splits at form feeds of the code, too
        mark = line.strip()
        if not fence:
            fence = _fence_of(mark)
            word = mark[len(fence) :].strip().lower().partition(" ")[0]
            kind = LANGUAGES.get(word) if word else language
            lines = []
        elif mark.startswith(fence) and not mark.strip(fence[0]):
            if kind in languages and kind == (language or kind) and any(map(str.strip, lines)):
                found = Code("\n".join(lines) + "\n", kind)
            fence = ""
        else:
            lines.append(line)
    wanted = language or listed(languages)
    return found or f"the response has no closed ``` block of {wanted} code"


def _fence_of(mark: str) -> str:
    """The fence that a line opens: three or more equal marks; empty if it opens none."""
    for fence in FENCES:
        if mark.startswith(fence):
            return mark[: len(mark) - len(mark.lstrip(fence[0]))]
    return ""
