"""Parse the modules that compilers write, and hand-written ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from benchguard.probe.ptx.body import parse_body
from benchguard.probe.ptx.cursor import Cursor
from benchguard.probe.ptx.lexer import PtxError, Token, lex
from benchguard.probe.ptx.module import Function, Module, Parameter, Section, Span, Variable, integer

LINKAGE = frozenset({".extern", ".visible", ".weak", ".common"})
VARIABLE_SPACES = frozenset({".global", ".const", ".shared", ".tex"})
FUNCTION_LIMIT = 100_000


def parse(text: str) -> Module:
    """Read a PTX module.

    Args:
        text: The PTX, as a program gives it to the driver. A NUL at the end is allowed.

    Returns:
        The structure of the text.

    Raises:
        PtxError: The text is not PTX, or exceeds a limit. The message has the line.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.cursor = Cursor(lex(text))
        self.text = text
        self.version = ""
        self.target: Sequence[str] = ()
        self.target_span: Span = (0, 0)
        self.address_size = 32
        self.functions: list[Function] = []
        self.variables: list[Variable] = []
        self.sections: list[Section] = []
        self.aliases: list[tuple[str, str, Span]] = []
        self.files: dict[int, str] = {}
        self.preamble = 0

    def parse(self) -> Module:
        cursor = self.cursor
        while cursor.token.kind != "end":
            self._statement()
            if len(self.functions) + len(self.variables) + len(self.sections) > FUNCTION_LIMIT:
                raise PtxError(f"line {cursor.token.line}: more than {FUNCTION_LIMIT:,} declarations")
        if not self.version:
            raise PtxError("the PTX has no .version")
        return Module(
            self.text, self.version, self.target, self.target_span, self.address_size, self.functions,
            self.variables, self.sections, self.aliases, self.files,
            frozenset(token.text for token in cursor.tokens if token.kind == "name"), self.preamble,
        )  # fmt: skip

    def _statement(self) -> None:
        cursor = self.cursor
        token = cursor.token
        if token.text in LINKAGE or token.text in VARIABLE_SPACES or token.text in {".entry", ".func"}:
            self._declaration()
        elif token.text == ".version":
            cursor.next()
            self.version = cursor.next_of("number").text
        elif token.text == ".target":
            self._target()
        elif token.text == ".address_size":
            cursor.next()
            self.address_size = self._integer()
            self.preamble = cursor.previous.end
        elif token.text == ".file":
            self._file()
        elif token.text == ".section":
            self._section()
        elif token.text == ".loc":
            cursor.skip_location()
        elif token.text == ".alias":
            self._alias()
        elif token.text in {".pragma", ".reg", ".param", ".local"}:
            cursor.skip_past(";")
        elif token.text == ";":
            cursor.next()
        else:
            self._refuse(token, "does not begin a declaration")

    def _refuse(self, token: Token, reason: str) -> NoReturn:
        raise PtxError(f"line {token.line}: {token.text[:60]!r} {reason}")

    def _integer(self) -> int:
        token = self.cursor.next_of("number")
        try:
            return integer(token.text)
        except ValueError:
            self._refuse(token, "is not an integer")

    def _target(self) -> None:
        start = self.cursor.next().start
        words = [self.cursor.next_of("name").text]
        while self.cursor.accept(","):
            words.append(self.cursor.next_of("name").text)
        self.target, self.target_span = words, (start, self.cursor.previous.end)
        self.preamble = self.cursor.previous.end

    def _file(self) -> None:
        self.cursor.next()
        number = self._integer()
        self.files[number] = self.cursor.next_of("string").text[1:-1]
        for _ in range(2):  # time stamp and size
            if self.cursor.accept(","):
                self._integer()

    def _section(self) -> None:
        start = self.cursor.next().start
        name = self.cursor.next().text
        first = self.cursor.at
        self.cursor.skip_group("{", "}")
        inside = self.cursor.tokens[first : self.cursor.at]
        names = frozenset(token.text for token in inside if token.kind == "name")
        self.sections.append(Section(name, (start, self.cursor.previous.end), names))

    def _alias(self) -> None:
        start = self.cursor.next().start
        alias = self.cursor.next_of("name").text
        self.cursor.expect(",")
        aliased = self.cursor.next_of("name").text
        self.cursor.expect(";")
        self.aliases.append((alias, aliased, (start, self.cursor.previous.end)))

    def _declaration(self) -> None:
        cursor, first = self.cursor, self.cursor.at
        while cursor.token.text in LINKAGE:
            cursor.next()
        if cursor.token.text in {".entry", ".func"}:
            self._function(first)
        elif cursor.token.text in VARIABLE_SPACES:
            self._variables(first)
        else:
            self._refuse(cursor.token, "is neither a function nor a variable")

    def _function(self, first: int) -> None:
        cursor = self.cursor
        linkage = [token.text for token in cursor.tokens[first : cursor.at]]
        is_entry = cursor.next().text == ".entry"
        results: Sequence[Parameter] = ()
        while cursor.token.text == ".attribute":
            cursor.next()
            cursor.skip_group("(", ")")
        if cursor.token.text == "(":
            results = self._parameters()
        name = cursor.next_of("name")
        parameters: Sequence[Parameter] = ()
        list_end = None
        if cursor.token.text == "(":
            parameters = self._parameters()
            list_end = cursor.previous.start
        directives = self._directives()
        start = cursor.tokens[first].start
        function = Function(
            name.text, is_entry, (start, start), name.end, parameters, list_end, results, None, directives,
            linkage, line=name.line,
        )  # fmt: skip
        if cursor.token.text == "{":
            function.body, function.instructions, function.labels, function.lists = parse_body(
                cursor, function
            )
        else:
            cursor.expect(";")
        function.span = (start, cursor.previous.end)
        self.functions.append(function)

    def _directives(self) -> list[Token]:
        """Performance directives. `.pragma "text";` has a semicolon of its own."""
        cursor, first = self.cursor, self.cursor.at
        while cursor.token.text != "{":
            if cursor.token.kind == "end":
                self._refuse(cursor.token, "ends the text inside a function's header")
            ends_pragma = cursor.previous.kind == "string" and cursor.tokens[cursor.at + 1].text in _IN_HEADER
            if cursor.token.text == ";" and not ends_pragma:
                break
            cursor.next()
        return cursor.tokens[first : cursor.at]

    def _parameters(self) -> list[Parameter]:
        cursor = self.cursor
        cursor.expect("(")
        found: list[Parameter] = []
        while not cursor.accept(")"):
            start, is_register, name, depth = cursor.token.start, cursor.token.text == ".reg", "", 0
            while depth > 0 or cursor.token.text not in {",", ")"}:
                token = cursor.next()
                if token.kind == "end":
                    self._refuse(token, "ends the text inside a parameter list")
                if token.kind == "name" and depth == 0:
                    name = token.text
                depth += (token.text in {"(", "["}) - (token.text in {")", "]"})
            if not name:
                self._refuse(cursor.token, "stands where a parameter's name is expected")
            found.append(Parameter(name, (start, cursor.previous.end), is_register))
            if cursor.token.text == ",":
                cursor.next()
        return found

    def _variables(self, first: int) -> None:
        """`.global .align 4 .u32 a[2] = {1, 2}, b;`"""
        cursor = self.cursor
        space = cursor.next().text[1:]
        while cursor.token.kind not in {"name", "end"}:
            if cursor.next().text == "(":
                cursor.at -= 1
                cursor.skip_group("(", ")")
        declaration = cursor.tokens[first : cursor.at]
        names: list[tuple[Token, Sequence[Token], Sequence[Token]]] = []
        while True:
            name = cursor.next_of("name")
            begin = cursor.at
            while cursor.token.text == "[":
                cursor.skip_group("[", "]")
            if cursor.accept("<"):
                cursor.skip_past(">")
            dimensions: Sequence[Token] = cursor.tokens[begin : cursor.at]
            begin = cursor.at
            if cursor.accept("="):
                cursor.skip_initial()
            names.append((name, dimensions, cursor.tokens[begin : cursor.at]))
            if not cursor.accept(","):
                break
        cursor.expect(";")
        span = (cursor.tokens[first].start, cursor.previous.end)
        for name, dimensions, initial in names:
            variable = Variable(name.text, space, declaration, dimensions, initial, span, name.line)
            self.variables.append(variable)


_IN_HEADER = frozenset(
    {
        "{", ".pragma", ".maxntid", ".reqntid", ".maxnreg", ".minnctapersm", ".maxnctapersm", ".noreturn",
        ".explicitcluster", ".reqnctapercluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve",
        ".abi_preserve_control", ".unique", ".language",
    }
)  # fmt: skip
