"""The structure of a PTX module: views of one text that is never printed anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchguard.probe.ptx.lexer import PtxError, Token

Span = tuple[int, int]
"""Offsets in the text: the first character, and the one behind the last."""

WIDTHS = {
    **{f".{letter}{bits}": bits // 8 for letter in "bsuf" for bits in (8, 16, 32, 64, 128)},
    ".f16x2": 4,
    ".bf16": 2,
    ".bf16x2": 4,
    ".pred": 1,
}
"""Bytes of a type."""
SPACES = ("global", "shared", "local", "const", "param")


@dataclass(frozen=True)
class Operand:
    """An operand as written. `tokens` include the brackets of an address and the braces of a vector."""

    tokens: Sequence[Token]

    @property
    def start(self) -> int:
        """The offset of the first character."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The offset behind the last character."""
        return self.tokens[-1].end

    @property
    def text(self) -> str:
        """The spelling, without the blanks between tokens."""
        return "".join(token.text for token in self.tokens)

    @property
    def is_address(self) -> bool:
        """Whether the operand is written in brackets."""
        return self.tokens[0].text == "["

    @property
    def base(self) -> str:
        """The register, symbol or number of an address."""
        return self.tokens[1].text if self.is_address else self.tokens[0].text

    @property
    def offset(self) -> int:
        """The constant bytes of an address `[base+constant]`; 0 if it has none.

        Raises:
            PtxError: The constant is not an integer.
        """
        rest = [token.text for token in self.tokens[2:-1]] if self.is_address else []
        if not rest:
            return 0
        sign = -1 if rest.count("-") % 2 else 1
        try:
            return sign * integer(rest[-1])
        except ValueError:
            raise PtxError(f"line {self.tokens[0].line}: {self.text} has no constant offset") from None


@dataclass(frozen=True)
class Instruction:
    """An instruction: `@p ld.global.u32 %r1, [%rd1+4];` has the guard p and the opcode ld."""

    tokens: Sequence[Token]
    """From the guard to the semicolon, both included."""
    opcode: str
    modifiers: Sequence[str]
    operands: Sequence[Operand]
    guard: str
    """The register of the predicate; empty if the instruction has none."""
    negated: bool
    source: tuple[int, int] | None
    """File number and line of the nearest `.loc` above, in the same function."""
    scope: Scope

    @property
    def start(self) -> int:
        """The offset of the guard, or of the opcode."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The offset behind the semicolon."""
        return self.tokens[-1].end

    @property
    def line(self) -> int:
        """The line of the PTX text, from 1."""
        return self.tokens[0].line

    @property
    def name(self) -> str:
        """The opcode with its modifiers: ld.global.u32."""
        return self.opcode + "".join(self.modifiers)

    @property
    def space(self) -> str:
        """The state space that is written: one of `SPACES`; empty for generic addresses and for other
        instructions."""
        for modifier in self.modifiers:
            word = modifier[1:].split("::")[0]
            if word in SPACES:
                return word
        return ""

    @property
    def address(self) -> Operand | None:
        """The first operand in brackets."""
        return next((operand for operand in self.operands if operand.is_address), None)

    @property
    def access_bytes(self) -> int:
        """Bytes that a load, store or atomic accesses for a thread: type and vector; 0 if no type is written."""
        size = next((WIDTHS[word] for word in reversed(self.modifiers) if word in WIDTHS), 0)
        vector = next((int(word[2:]) for word in self.modifiers if word in {".v2", ".v4", ".v8"}), 1)
        return size * vector

    @property
    def called(self) -> Operand | None:
        """The operand of a call that names the function, or the register with its address."""
        if self.opcode != "call":
            return None
        return next((operand for operand in self.operands if operand.tokens[0].text != "("), None)


@dataclass(eq=False)
class Scope:
    """The names that a pair of braces declares, with their types; `%r<` stands for the range `%r<5>`."""

    parent: Scope | None
    names: dict[str, str] = field(default_factory=dict)

    def declares(self, name: str) -> bool:
        """Whether the name is declared here or in a scope around, below module scope."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.parent
        return False

    def type_of(self, register: str) -> str:
        """The declared type of a register, for example .b64; empty if it is not declared."""
        scope: Scope | None = self
        stem = register.rstrip("0123456789") + "<"
        while scope is not None:
            found = scope.names.get(register) or scope.names.get(stem)
            if found is not None:
                return found
            scope = scope.parent
        return ""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel or function, as it is declared."""

    name: str
    span: Span
    is_register: bool = False


@dataclass(eq=False)
class Function:
    """An `.entry` or a `.func`. A declaration without a body has `body` None."""

    name: str
    is_entry: bool
    span: Span
    header: int
    """The offset behind the name, where an absent parameter list is to be put."""
    parameters: Sequence[Parameter]
    list_end: int | None
    """The offset of the `)` of the parameters; None if there is no list."""
    results: Sequence[Parameter]
    body: Span | None
    """From the opening brace to behind the closing one."""
    directives: Sequence[Token]
    """The tokens between the parameters and the body: .maxntid 128, 1, 1."""
    linkage: Sequence[str]
    instructions: Sequence[Instruction] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    """A label for the offset at which it is written."""
    lists: Sequence[Token] = ()
    """The tokens of .branchtargets, .calltargets, .callprototype and .pragma in the body."""
    line: int = 0

    @property
    def uses_registers(self) -> bool:
        """Whether parameters and results are registers, as in hand-written PTX."""
        return any(one.is_register for one in (*self.parameters, *self.results))


@dataclass(eq=False)
class Variable:
    """A module-scope variable."""

    name: str
    space: str
    declaration: Sequence[Token]
    """The tokens before the name: linkage, space, alignment, attributes, type."""
    dimensions: Sequence[Token]
    """The tokens behind the name, before the initial value: [4][8]."""
    initial: Sequence[Token]
    statement: Span
    """The statement, which may declare other variables too."""
    line: int

    @property
    def is_external(self) -> bool:
        """Whether the definition is in another module."""
        return any(token.text == ".extern" for token in self.declaration)

    @property
    def is_reference(self) -> bool:
        """Whether it is a texture, sampler or surface reference."""
        return self.space == "tex" or any(
            token.text in {".texref", ".samplerref", ".surfref"} for token in self.declaration
        )


@dataclass(eq=False)
class Section:
    """A `.section` of debug information."""

    name: str
    span: Span
    names: frozenset[str]


@dataclass(eq=False)
class Module:
    """A PTX text and its structure."""

    text: str
    version: str
    target: Sequence[str]
    target_span: Span
    address_size: int
    functions: Sequence[Function]
    variables: Sequence[Variable]
    sections: Sequence[Section]
    aliases: Sequence[tuple[str, str, Span]]
    files: Mapping[int, str]
    """The source files of `.file`, by number."""
    names: frozenset[str]
    """Every name in the text, of whatever scope."""
    preamble: int
    """The offset behind the module's header, where a declaration can be put."""

    def entries(self) -> Iterator[Function]:
        """The kernels that have a body."""
        return (one for one in self.functions if one.is_entry and one.body is not None)

    def entry(self, name: str) -> Function:
        """The kernel of exactly this name.

        Raises:
            PtxError: The module has no such kernel.
        """
        for function in self.entries():
            if function.name == name:
                return function
        raise PtxError(f"the PTX has no kernel {name[:200]!r}")

    def function(self, name: str) -> Function | None:
        """The definition of a function, else its declaration, else None."""
        return self._by_name.get(name)

    def variable(self, name: str) -> Variable | None:
        """The module-scope variable of this name."""
        return self._variables.get(name)

    def __post_init__(self) -> None:
        self._by_name: dict[str, Function] = {}
        for function in self.functions:
            if function.body is not None or function.name not in self._by_name:
                self._by_name[function.name] = function
        self._variables: dict[str, Variable] = {}
        for variable in self.variables:
            if not variable.is_external or variable.name not in self._variables:
                self._variables[variable.name] = variable


def integer(text: str) -> int:
    """The value of an integer as PTX writes it: 10, 0x1F, 0b101, 017, 4U.

    Raises:
        ValueError: It is not an integer, or has more than 100 characters.
    """
    if len(text) > 100 or "_" in text:
        raise ValueError("not an integer of PTX")
    digits = text.rstrip("uU").lower()
    if digits.startswith(("0x", "0b")):
        return int(digits, 0)
    return int(digits, 8 if len(digits) > 1 and digits.startswith("0") else 10)
