"""Parameters of a host function, as its mangled name (Itanium C++ ABI) or, for a C name, its source tells.

A call with other parameters passes pointers as numbers, which shows as wrong outputs or as a call without kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...problem.spec import Argument, Buffer
from .source import code_of

_WORD = re.compile(r"(\d+)([A-Za-z_]\w*)", re.ASCII)
_REPEATED = re.compile(r"S([0-9A-Z]*)_")
_BUILT_IN = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "f": "float", "h": "unsigned char", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "s": "short", "t": "unsigned short", "v": "void",
    "x": "long long", "y": "unsigned long long",
}  # fmt: skip
_NAMED = {
    "unsigned": "unsigned int", "int32_t": "int", "uint32_t": "unsigned int", "size_t": "unsigned long",
    "int64_t": "long", "uint64_t": "unsigned long", "int16_t": "short", "uint16_t": "unsigned short",
    "int8_t": "signed char", "uint8_t": "unsigned char", "long int": "long", "unsigned long int": "unsigned long",
}  # fmt: skip
_REAL = {"float": "float", "float32": "float", "double": "double", "float64": "double"}
_WIDE = ("long", "unsigned long", "long long", "unsigned long long")
"""Numbers that can hold a pointer."""


def parameters_of(symbol: str, name: str) -> list[str] | None:
    """The C types of the function `name`. None if its name is not mangled, or has types that this does not read."""
    prefix = f"_Z{len(name)}{name}"
    rest, seen, types = symbol.removeprefix(prefix), list[str](), list[str]()
    if rest == symbol:
        return None
    while rest:
        read = _read(rest, seen)
        if read is None:
            return None
        type_, rest = read
        types.append(type_)
    if not all(each in _BUILT_IN.values() or _is_pointer(each) for each in types):
        return None  # classes by value are passed by rules of their own
    return [] if types == ["void"] else types


def written_parameters(source: str, name: str) -> list[str] | None:
    """The C types of the function `name`, as its only definition in a source gives them.

    None if the source has no such definition or several, or a parameter of a type that is not built in.
    """
    found = re.findall(rf"\bvoid\s+{re.escape(name)}\s*\(([^(){{}};]*)\)\s*\{{", code_of(source))
    if len(found) != 1:
        return None
    types = [_written(each) for each in found[0].split(",")] if found[0].strip() not in {"", "void"} else []
    return None if None in types else [each for each in types if each is not None]


def _written(parameter: str) -> str | None:
    if "*" in parameter or "[" in parameter:
        return f"{re.split(r'[*[]', parameter)[0].strip()}*"
    words = [each for each in parameter.partition("=")[0].split() if each != "const"]
    type_ = " ".join(words[:-1])
    type_ = _NAMED.get(type_, type_)
    return type_ if type_ in _BUILT_IN.values() else None


def misfit(parameters: Sequence[str], arguments: Sequence[Argument]) -> bool:
    """Whether a call with these arguments passes a pointer as a number, a number as a pointer, or too few of them.

    Floats have registers of their own, so their places among the others do not matter. A function may take fewer.
    """
    reals = [each for each in parameters if each in _REAL]
    given_reals = [each for each in map(_kind, arguments) if each in _REAL.values()]
    others = [each for each in parameters if each not in _REAL]
    given = [each for each in map(_kind, arguments) if each not in _REAL.values()]
    if len(reals) > len(given_reals) or len(others) > len(given):
        return True
    return any(map(str.__ne__, reals, given_reals)) or any(
        _is_pointer(type_) != (kind == "pointer") and not (kind == "pointer" and type_ in _WIDE)
        for type_, kind in zip(others, given, strict=False)
    )


def spelled(arguments: Iterable[Argument]) -> str:
    return ", ".join(f"{_kind(each)} {each.name}" for each in arguments)


def _kind(argument: Argument) -> str:
    if isinstance(argument, Buffer):
        return "pointer"
    return _REAL.get(argument.ctype, argument.ctype)


def _is_pointer(type_: str) -> bool:
    return type_.endswith(("*", "&"))


def _read(text: str, seen: list[str]) -> tuple[str, str] | None:
    """The first type of `text`, and the text behind it. `seen` are types that later ones may refer to."""
    if text[0] in _BUILT_IN:
        return _BUILT_IN[text[0]], text[1:]
    if repeated := _REPEATED.match(text):
        place = int(repeated[1], 36) + 1 if repeated[1] else 0
        return (seen[place], text[repeated.end() :]) if place < len(seen) else None
    if word := _WORD.match(text):
        length = int(word[1])
        type_, rest = text[word.start(2) :][:length], text[word.start(2) + length :]
    elif text[0] in "PRKVr" and len(text) > 1:
        of = _read(text[1:], seen)
        if of is None:
            return None
        inner, rest = of
        type_ = {"P": f"{inner}*", "R": f"{inner}&", "K": f"const {inner}"}.get(text[0], inner)
    else:
        return None
    seen.append(type_)
    return type_, rest
