"""Statements of a PTX text, with their lines. The text is hostile: a statement that is not understood is refused.

Comments, debug sections and preprocessor lines do not reach the rewritten text, so that no other reader can see an
instruction where this one saw none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TEXT_MAX = 64 << 20
STATEMENTS_MAX = 1 << 21
NAME_MAX = 8192
NUMBER_MAX = 9
"""Digits of a number in line information; further ones are cut."""

_LINE = ".version", ".target", ".address_size", ".file", ".loc"
"""Directives that end with their line."""

_NOISE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_ODD = re.compile(r"[^\t\n\r -~]|[#\\`]")
_WORD = re.compile(r"\.?[\w$%]+")
_LABEL = re.compile(r"([\w$%]+)\s*:(?!:)")
_FUNCTION = re.compile(r"\.(entry|func)\b\s*(?:\([^)]*\)\s*)?([\w$%]+)")
_INSTRUCTION = re.compile(r"(?:@\s*(!?\s*[\w$%]+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_DEBUG = re.compile(r",\s*debug\b")
"""Part of .target: ptxas refuses it in a text without debug sections."""

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)(?:.*\binlined_at\s+(\d+)\s+(\d+))?")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"\n]*)"')
_REGISTERS = re.compile(r"\.reg\s+((?:\.\w+\s+)+)(.*)", re.DOTALL)
_REGISTER = re.compile(r"([\w$%]+)\s*(?:<\s*(\d+)\s*>)?")
_VARIABLE = re.compile(
    r"\.(global|const|shared)\b((?:\s*\.align\s+\d+|\s*\.\w+(?:\s*\([^)]*\))?)*)\s*(.*)", re.DOTALL
)
_DECLARED = re.compile(r"([\w$%]+)\s*((?:\[\s*\d*\s*\]\s*)*)")

SIZES = {
    "b8": 1, "u8": 1, "s8": 1, "e4m3": 1, "e5m2": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "e4m3x2": 2, "e5m2x2": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "b128": 16,
}  # fmt: skip
"""Bytes of a type."""


class SourceError(Exception):
    """The text cannot be rewritten. The message says why."""


@dataclass(frozen=True)
class Instruction:
    """`guard` is the predicate without its @, or empty. `operands` is the text behind the opcode.

    `width` has the bits of the registers in the operands, by name. `file` and `source_line` are of the last .loc.
    """

    line: int
    guard: str
    opcode: str
    operands: str
    file: str
    source_line: int
    widths: dict[str, int] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        return self.opcode.split(".")

    @property
    def text(self) -> str:
        return f"{f'@{self.guard} ' if self.guard else ''}{self.opcode} {self.operands};"


Item = Instruction | str
"""An instruction, or a label, a declaration or a brace as its text."""


@dataclass
class Function:
    name: str
    is_entry: bool
    header: str
    items: list[Item] | None
    """None: a declaration without a body."""

    @property
    def instructions(self) -> Iterator[Instruction]:
        return (each for each in self.items or () if isinstance(each, Instruction))


@dataclass(frozen=True)
class Variable:
    """A variable of a module. `bytes` is 0 for one whose size its declaration does not have."""

    space: str
    name: str
    bytes: int


@dataclass
class Source:
    """`head` are the directives that come first. `items` are functions and other declarations in their order."""

    head: list[str]
    items: list[Function | str]
    variables: list[Variable]

    @property
    def functions(self) -> list[Function]:
        return [each for each in self.items if isinstance(each, Function)]

    @property
    def version(self) -> tuple[int, int]:
        """The version of the PTX language; (0, 0) if the text does not say."""
        found = re.search(r"\.version\s+(\d+)\.(\d+)", "\n".join(self.head))
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @property
    def target(self) -> int:
        """90 for sm_90a; 0 if the text does not say."""
        found = re.search(r"\.target\s+sm_(\d+)", "\n".join(self.head))
        return int(found[1]) if found else 0


def read_source(raw: bytes) -> Source:
    """The statements of a PTX text. Raises SourceError."""
    if len(raw) > TEXT_MAX:
        raise SourceError(f"the PTX has {len(raw)} bytes; at most {TEXT_MAX} are read")
    text = raw.rstrip(b"\0").decode("latin-1")
    text = _NOISE.sub(lambda found: found[0] if found[0][0] == '"' else _blank(found[0]), text)
    odd = _ODD.search(_NOISE.sub(lambda found: _blank(found[0]), text))
    if odd:
        raise SourceError(f"line {text.count(chr(10), 0, odd.start()) + 1}: unexpected character {odd[0]!r}")
    return _Reader(text).read()


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._line, self._counted = text, 0, 1, 0
        self._files: dict[int, str] = {}
        self._left = STATEMENTS_MAX

    def read(self) -> Source:
        source = Source([], [], [])
        while (word := self._next()) is not None:
            if word in _LINE:
                text = self._rest_of_line()
                if word == ".file":
                    self._add_file(text)
                elif word != ".loc":
                    source.head.append(_DEBUG.sub("", text))
            elif word == ".section":
                self._until("{")
                self._until("}")
            else:
                self._declaration(source)
        return source

    def _declaration(self, source: Source) -> None:
        end = self._find("{;=")
        header = self._text[self._at : end].strip()
        function = _FUNCTION.search(header)
        if function is None or self._text[end] == "=":
            if self._text[end] == "{":
                raise self._error("a block outside of a function")
            end = self._find(";")
            statement = self._take(end + 1)
            source.items.append(statement)
            source.variables += self._variables(statement)
            return
        self._take(end + 1)
        items = self._body() if self._text[end] == "{" else None
        if len(function[2]) > NAME_MAX:
            raise self._error("a name that is too long")
        source.items.append(Function(function[2], function[1] == "entry", header, items))

    def _variables(self, statement: str) -> Iterator[Variable]:
        found = _VARIABLE.search(statement)
        if found is None:
            return
        types = [each for each in re.findall(r"\.(\w+)", found[2]) if each in SIZES]
        count = 4 if ".v4" in found[2] else 2 if ".v2" in found[2] else 1
        for part in _outside_brackets(found[3].rstrip("; \n")):
            name = _DECLARED.match(part.strip())
            if name is None:
                raise self._error("a variable that is not understood")
            size = SIZES[types[0]] * count if types else 0
            for extent in re.findall(r"\[\s*(\d*)\s*\]", name[2]):
                size *= int(extent or 0)
            yield Variable(found[1], name[1], size)

    def _body(self) -> list[Item]:
        """The statements behind a function's opening brace, without its closing one."""
        items: list[Item] = []
        scopes: list[dict[str, int]] = [{}]
        file, source_line = "", 0
        while True:
            word = self._next()
            if word is None:
                raise self._error("a function without an end")
            character = self._text[self._at]
            if character in "{}":
                self._take(self._at + 1)
                if character == "{":
                    scopes.append({})
                else:
                    scopes.pop()
                if not scopes:
                    return items
                items.append(character)
            elif word == ".loc":
                found = _LOC.match(self._rest_of_line())
                file, source_line = self._location(found) if found else ("", 0)
            elif word in _LINE:
                self._rest_of_line()
            elif label := _LABEL.match(self._text, self._at):
                items.append(self._take(label.end()))
            else:
                line = self._line
                statement = self._take(self._find(";") + 1)
                if word.startswith("."):
                    _declare(statement, scopes[-1])
                    items.append(statement)
                else:
                    items.append(self._instruction(statement, line, file, source_line, scopes))

    def _instruction(
        self, statement: str, line: int, file: str, source_line: int, scopes: list[dict[str, int]]
    ) -> Instruction:
        found = _INSTRUCTION.fullmatch(statement[:-1].rstrip())
        if found is None:
            raise self._error("an instruction that is not understood")
        widths = {}
        for name in re.findall(r"[\w$%]+", found[3]):
            for scope in reversed(scopes):
                width = scope.get(name) or scope.get(name.rstrip("0123456789") + "<")
                if width:
                    widths[name] = width
                    break
        return Instruction(line, found[1] or "", found[2], found[3], file, source_line, widths)

    def _location(self, found: re.Match[str]) -> tuple[str, int]:
        """File and line of a .loc: of the call, if the function was inlined (atomicAdd of a header, say)."""
        file, line = (found[3], found[4]) if found[3] else (found[1], found[2])
        return self._files.get(int(file[:NUMBER_MAX]), ""), int(line[:NUMBER_MAX])

    def _add_file(self, text: str) -> None:
        found = _FILE.match(text)
        if found:
            self._files[int(found[1][:NUMBER_MAX])] = found[2][:NAME_MAX]

    def _next(self) -> str | None:
        """Move to the next statement; its first word, or its first character. None at the end."""
        while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
            self._at += 1
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        if self._at == len(self._text):
            return None
        self._left -= 1
        if self._left < 0:
            raise SourceError(f"the PTX has more than {STATEMENTS_MAX} statements")
        found = _WORD.match(self._text, self._at)
        return found[0] if found else self._text[self._at]

    def _find(self, characters: str) -> int:
        """The next of these characters that is not in a string."""
        pattern = re.compile(rf'"[^"\n]*"|[{re.escape(characters)}]')
        for found in pattern.finditer(self._text, self._at):
            if found[0] in characters:
                return found.start()
        raise self._error(f"no {' or '.join(characters)} behind it")

    def _until(self, character: str) -> None:
        self._take(self._find(character) + 1)

    def _rest_of_line(self) -> str:
        end = self._text.find("\n", self._at)
        return self._take(end if end >= 0 else len(self._text))

    def _take(self, end: int) -> str:
        text, self._at = self._text[self._at : end], end
        return text.strip()

    def _error(self, text: str) -> SourceError:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return SourceError(f"line {self._line}: {text}")


def _declare(statement: str, scope: dict[str, int]) -> None:
    """Note the registers that a statement declares. A range %r<9> is noted as "%r<"."""
    found = _REGISTERS.fullmatch(statement)
    if found is None:
        return
    types = [each for each in re.findall(r"\.(\w+)", found[1]) if each in SIZES]
    for part in found[2].rstrip("; \n").split(","):
        name = _REGISTER.fullmatch(part.strip())
        if name:
            scope[name[1] + ("<" if name[2] else "")] = 8 * SIZES[types[0]] if types else 1


def _outside_brackets(text: str) -> list[str]:
    """Split at commas that are not in an initialiser."""
    return (
        text.partition("=")[0].split(",") if "{" in text else [e.partition("=")[0] for e in text.split(",")]
    )


def written(source: Source) -> str:
    """The text of a source."""
    lines = list(source.head)
    for item in source.items:
        if isinstance(item, str):
            lines.append(item)
        elif item.items is None:
            lines.append(f"{item.header};")
        else:
            lines += [item.header, "{"]
            lines += [each if isinstance(each, str) else each.text for each in item.items]
            lines.append("}")
    return "\n".join(lines) + "\n"
