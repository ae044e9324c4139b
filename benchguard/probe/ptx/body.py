"""Parse the body of a function: scopes, labels, declarations, instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchguard.probe.ptx.cursor import Cursor
from benchguard.probe.ptx.lexer import PtxError, Token
from benchguard.probe.ptx.module import Function, Instruction, Operand, Scope, Span

DEPTH_LIMIT = 256
OPERAND_LIMIT = 1024
"""Operands of an instruction."""
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_DECLARATIONS = frozenset({".reg", ".local", ".shared", ".param"})
_LISTS = frozenset({".branchtargets", ".calltargets", ".callprototype", ".pragma"})


class Body(NamedTuple):
    """The fields of `Function` that its body gives."""

    span: Span
    instructions: Sequence[Instruction]
    labels: dict[int, str]
    lists: Sequence[Token]


def parse_body(cursor: Cursor, function: Function) -> Body:
    """Read a body from its opening brace to the closing one.

    Args:
        cursor: At the opening brace.
        function: Its parameters are names of the outermost scope.

    Returns:
        The fields that the body gives.

    Raises:
        PtxError: A statement is not PTX.
    """
    start = cursor.expect("{").start
    scope = Scope(None, {one.name: "" for one in (*function.parameters, *function.results)})
    depth, source = 1, None
    instructions: list[Instruction] = []
    labels: dict[int, str] = {}
    lists: list[Token] = []
    while depth > 0:
        token = cursor.token
        if token.text == "{":
            cursor.next()
            scope, depth = Scope(scope), depth + 1
            if depth > DEPTH_LIMIT:
                raise PtxError(f"line {token.line}: braces nest deeper than {DEPTH_LIMIT}")
        elif token.text == "}":
            cursor.next()
            scope, depth = scope.parent or scope, depth - 1
        elif token.text == ";":
            cursor.next()
        elif token.text == ".loc":
            source = cursor.skip_location()
        elif token.text in _DECLARATIONS:
            scope.names.update(_declared_names(cursor))
        elif token.text in _LISTS:
            lists.extend(cursor.skip_past(";"))
        elif token.kind == "name" and cursor.tokens[cursor.at + 1].text == ":":
            labels[token.start] = token.text
            scope.names[token.text] = ""
            cursor.next()
            cursor.next()
        elif token.kind == "name" or token.text == "@":
            instructions.append(_instruction(cursor, source, scope))
        elif token.kind == "end":
            raise PtxError(f"line {token.line}: the text ends inside {function.name[:200]}")
        else:
            raise PtxError(f"line {token.line}: {token.text[:60]!r} begins no statement")
    return Body((start, cursor.previous.end), instructions, labels, lists)


def _declared_names(cursor: Cursor) -> dict[str, str]:
    """The names of `.reg .b32 %r<3>, a;` with their type: `%r<` for the range, and a. Variables have no type."""
    names: dict[str, str] = {}
    last = kind = ""
    wanted, depth = True, 0
    first = cursor.token
    is_register = first.text == ".reg"
    for token in cursor.skip_past(";"):
        if token.text in _OPENING:
            depth += 1
        elif token.text in _CLOSING:
            depth -= 1
        elif depth == 0 and token.text == ",":
            wanted = True
        elif depth == 0 and token.text == "=":
            wanted = False
        elif depth == 0 and wanted and token.kind == "name":
            names[token.text] = kind
            last = token.text
            wanted = False
        elif depth == 0 and token.text == "<" and last:
            names[last + "<"] = names.pop(last, kind)
        elif depth == 0 and wanted and token.kind == "directive" and is_register:
            kind = token.text
    if not names:
        raise PtxError(f"line {first.line}: a declaration without a name")
    return names


def _instruction(cursor: Cursor, source: tuple[int, int] | None, scope: Scope) -> Instruction:
    first = cursor.at
    guard, negated = "", False
    if cursor.accept("@"):
        negated = cursor.accept("!")
        guard = cursor.next_of("name").text
        if cursor.token.kind == "directive":
            raise PtxError(f"line {cursor.token.line}: a guard is a predicate register")
    opcode = cursor.next_of("name").text
    modifiers: list[str] = []
    while cursor.token.kind == "directive" and cursor.token.start == cursor.previous.end:
        modifiers.append(cursor.next().text)
    operands: list[Operand] = []
    begin, depth = cursor.at, 0
    while True:
        token = cursor.token
        if token.kind == "end" or (token.text in {"{", "}"} and depth == 0 and begin != cursor.at):
            raise PtxError(
                f"line {cursor.tokens[first].line}: the instruction {opcode[:60]!r} has no semicolon"
            )
        if depth == 0 and token.text in {",", ";"}:
            _add_operand(operands, cursor.tokens[begin : cursor.at], token)
            cursor.next()
            begin = cursor.at
            if token.text == ";":
                break
            continue
        if token.text in _OPENING:
            depth += 1
        elif token.text in _CLOSING:
            depth -= 1
            if depth < 0:
                raise PtxError(f"line {token.line}: {token.text!r} closes nothing")
        elif token.text == ";":
            raise PtxError(f"line {token.line}: brackets of {opcode[:60]!r} are not closed")
        cursor.next()
    return Instruction(
        cursor.tokens[first : cursor.at], opcode, modifiers, operands, guard, negated, source, scope
    )


def _add_operand(operands: list[Operand], tokens: Sequence[Token], end: Token) -> None:
    if tokens:
        operands.append(Operand(tokens))
    elif end.text == ",":
        raise PtxError(f"line {end.line}: an operand is missing before ','")
    if len(operands) > OPERAND_LIMIT:
        raise PtxError(f"line {end.line}: more than {OPERAND_LIMIT} operands")
