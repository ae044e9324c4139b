"""A place in a list of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from benchguard.probe.ptx.lexer import PtxError, Token

_PAIRS = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """Reads tokens one after the other. It never moves behind the last token, which has the kind "end"."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def previous(self) -> Token:
        """The token that was read last."""
        return self.tokens[max(self.at - 1, 0)]

    def next(self) -> Token:
        """Read a token. At the end of the text, the end again."""
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def next_of(self, kind: str) -> Token:
        """Read a token of this kind.

        Raises:
            PtxError: The next token has another kind.
        """
        token = self.next()
        if token.kind != kind:
            raise PtxError(f"line {token.line}: {_shown(token)} stands where a {kind} is expected")
        return token

    def accept(self, text: str) -> bool:
        """Read the next token if it is spelled like this."""
        if self.token.text != text:
            return False
        self.next()
        return True

    def expect(self, text: str) -> Token:
        """Read a token that is spelled like this.

        Raises:
            PtxError: It is spelled in another way.
        """
        token = self.next()
        if token.text != text:
            raise PtxError(f"line {token.line}: {_shown(token)} stands where {text!r} is expected")
        return token

    def skip_past(self, text: str) -> Sequence[Token]:
        """Read up to a token, and that token too; return all but that token.

        Raises:
            PtxError: The text ends before.
        """
        first = self.at
        while self.token.text != text:
            if self.next().kind == "end":
                raise PtxError(
                    f"line {self.tokens[first].line}: {text!r} is missing behind {_shown(self.tokens[first])}"
                )
        self.next()
        return self.tokens[first : self.at - 1]

    def skip_group(self, opening: str, closing: str) -> None:
        """Read a group in brackets of one kind, with the groups inside.

        Raises:
            PtxError: The group does not begin here, or does not end.
        """
        first = self.expect(opening)
        depth = 1
        while depth > 0:
            token = self.next()
            if token.kind == "end":
                raise PtxError(f"line {first.line}: {opening!r} is not closed")
            depth += (token.text == opening) - (token.text == closing)

    def skip_initial(self) -> None:
        """Read an initial value, up to the comma or semicolon behind it.

        Raises:
            PtxError: Brackets do not match.
        """
        while self.token.text not in {",", ";"}:
            if self.token.kind == "end":
                raise PtxError(f"line {self.token.line}: the text ends inside an initial value")
            if self.token.text in _PAIRS:
                self.skip_group(self.token.text, _PAIRS[self.token.text])
            else:
                self.next()

    def skip_location(self) -> tuple[int, int]:
        """Read `.loc file line column[, function_name label[+n], inlined_at file line column]`.

        Returns:
            File number and line: of the call, if the function was inlined.

        Raises:
            PtxError: A number is missing.
        """
        self.next()
        numbers = [self.next_of("number").text for _ in range(3)]
        while self.accept(","):
            word = self.next_of("name").text
            if word == "inlined_at":
                numbers = [self.next_of("number").text for _ in range(3)]
            else:
                self.next_of("name")
                if self.accept("+"):
                    self.next_of("number")
        if not (numbers[0].isdecimal() and numbers[1].isdecimal() and max(map(len, numbers)) < 12):
            raise PtxError(f"line {self.previous.line}: .loc needs a file number and a line")
        return int(numbers[0]), int(numbers[1])


def _shown(token: Token) -> str:
    return "the end of the text" if token.kind == "end" else repr(token.text[:60])
