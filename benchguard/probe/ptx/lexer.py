"""Split PTX text into tokens that remember their place."""

from __future__ import annotations

import re
from typing import NamedTuple

from benchguard.errors import UsageError

TEXT_LIMIT = 32 << 20
"""Characters of a text. Compilers write at most a few million for a module."""
TOKEN_LIMIT = 8_000_000

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\f\v\0]+|//[^\n]*|@@[^\n]*)
    |(?P<newline>\n)
    |(?P<comment>/\*)
    |(?P<number>0[fF][0-9a-fA-F]{8}(?![\w$%])|0[dD][0-9a-fA-F]{16}(?![\w$%])
        |[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+(?![\w$%])|[0-9][0-9a-zA-Z_]*)
    |(?P<name>[A-Za-z_$%][\w$%]*)
    |(?P<directive>\.[\w$%]+(?:::[\w$%]+)*)
    |(?P<string>"[^"\n]*")
    |(?P<mark>[{}()\[\],;:<>=@!+\-|&~*/?^])
    """,
    re.VERBOSE | re.ASCII,
)


class PtxError(UsageError):
    """The text is not PTX that this package understands; the message has the line."""


class Token(NamedTuple):
    """A token of a text: its kind (number, name, directive, string, mark, end), spelling and place."""

    kind: str
    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        """The offset behind the token."""
        return self.start + len(self.text)


def lex(text: str) -> list[Token]:
    """Split a text into tokens; the last one has the kind "end".

    Args:
        text: PTX, at most `TEXT_LIMIT` characters.

    Returns:
        The tokens, without blanks and comments.

    Raises:
        PtxError: A limit is exceeded, a comment has no end, or a character is not valid in PTX.
    """
    if len(text) > TEXT_LIMIT:
        raise PtxError(f"the PTX text has {len(text):,} characters, more than the limit of {TEXT_LIMIT:,}")
    tokens: list[Token] = []
    line, at, end = 1, 0, len(text)
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise PtxError(f"line {line}: {text[at]!r} is not valid in PTX")
        kind = match.lastgroup or ""
        if kind == "newline":
            line += 1
        elif kind == "comment":
            close = text.find("*/", at + 2)
            if close < 0:
                raise PtxError(f"line {line}: a comment that begins here has no end")
            line += text.count("\n", at, close)
            at = close + 2
            continue
        elif kind != "blank":
            tokens.append(Token(kind, match[0], at, line))
            if len(tokens) > TOKEN_LIMIT:
                raise PtxError(f"the PTX text has more than {TOKEN_LIMIT:,} tokens")
        at = match.end()
    tokens.append(Token("end", "", end, line))
    return tokens
