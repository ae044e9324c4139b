"""A vendor's headers -> Api.

Two passes. With __CUDA_API_VERSION_INTERNAL cuda.h declares every function that a driver exports, under its
real name; HIP's header does so anyway. Without it, macros rename what a program writes: those renames are read
by letting the preprocessor expand each name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from .declarations import Typedefs, declaration_text, is_variadic, parameters_of, result_text
from .entry_points import Typedef, entry_points
from .enums import Enums
from .errors import CodegenError
from .headers import Headers
from .model import Api, Function, Parameter, split_variant
from .preprocess import preprocess
from .vendor import Vendor

_ENTRY_POINT = re.compile(r"PFN_(?P<base>cu[A-Z]\w*?)_v(?P<version>\d+)(?P<thread>_ptds|_ptsz)?")
_SECTION = re.compile(r"[\\@]defgroup\s+\w+\s+(?P<title>.+?)\s*$|(?P<begin>@\{)|(?P<end>@\})")
_PROBE = "nb_source_name"


def parse_headers(headers: Headers) -> Api:
    """Everything the headers in a folder declare. Raises CodegenError where they cannot be understood."""
    vendor = headers.vendor
    main = headers.folder / vendor.header
    lines = vendor.include_lines()
    lines += [f"#include <{name}>" for name in (*vendor.includes[1:], *filter(None, [vendor.extra]))]
    source = "\n".join(lines) + "\n"
    unit = _parse(preprocess(headers.folder, source, [*vendor.defines, *vendor.every_form]), headers)
    sections = _Sections(main)
    typedefs = Typedefs()
    functions: dict[str, Function] = {}
    elsewhere: dict[str, Function] = {}
    enums = Enums()
    rows: list[Typedef] = []
    for node in unit.ext:
        if isinstance(node, c_ast.Typedef | c_ast.Decl):
            enums.read(node)
        if isinstance(node, c_ast.Typedef):
            typedefs.add(node.name, node.type)
            match = _ENTRY_POINT.fullmatch(node.name)
            if match:
                signature = typedefs.resolve(node.type).canonical
                rows.append(Typedef(match["base"], int(match["version"]), match["thread"] or "", signature))
        elif _is_function(node, vendor):
            own = node.coord.file == str(main)
            section = sections.title(node.coord.line) if own else sections.OTHER
            (functions if own else elsewhere).setdefault(node.name, _function(node, typedefs, section))
    if not functions and not elsewhere:
        raise CodegenError(f"{main}: declares no function; name a folder with {vendor.title}'s own headers")
    for name, function in elsewhere.items():  # what the header itself declares comes first, and decides
        functions.setdefault(name, function)
    ordered = _in_order(functions.values())
    return Api(
        vendor,
        headers.version,
        ordered,
        _source_names(headers, ordered),
        entry_points(rows, ordered),
        enums.by_name,
    )


def _parse(text: str, headers: Headers) -> Any:
    try:
        return CParser().parse(text, headers.vendor.header)
    except ParseError as error:
        raise CodegenError(
            f"{headers.origin}: cannot be parsed: {error}; is it {headers.vendor.title}'s own header?"
        ) from error


def _in_order(functions: Iterable[Function]) -> tuple[Function, ...]:
    """Header order, with all forms of a function where the header has the first of them.

    The header declares superseded and default-stream forms far behind the chapter they belong to.
    """
    first: dict[str, tuple[int, str]] = {}
    for position, function in enumerate(functions):
        first.setdefault(function.base, (position, function.section))
    moved = (replace(function, section=first[function.base][1]) for function in functions)
    return tuple(sorted(moved, key=lambda f: (first[f.base][0], *split_variant(f.name)[1:])))


def _is_function(node: Any, vendor: Vendor) -> bool:
    declared = isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl)
    return declared and vendor.function.fullmatch(node.name) is not None


def _function(node: Any, typedefs: Typedefs, section: str) -> Function:
    parameters = []
    for position, parameter in enumerate(parameters_of(node.type)):
        name = parameter.name or f"nb_parameter_{position}"
        text = declaration_text(parameter, name)
        parameters.append(Parameter(name, text, typedefs.resolve(parameter.type)))
    returns = typedefs.resolve(node.type.type)
    result = result_text(node.type)
    return Function(node.name, section, returns, tuple(parameters), is_variadic(node.type), result)


def _source_names(headers: Headers, functions: tuple[Function, ...]) -> dict[str, str]:
    names = list(dict.fromkeys(name for f in functions for name in (f.base, f.name)))
    probes = "".join(f'{_PROBE} "{name}" {name}\n' for name in names)
    vendor = headers.vendor
    text = preprocess(headers.folder, f"#include <{vendor.header}>\n{probes}", vendor.defines)
    real = {function.name for function in functions}
    plain = {}
    for written, links_to in re.findall(rf'^{_PROBE} "(\w+)" (\w+)$', text, re.MULTILINE):
        if links_to in real and written in {f.base for f in functions}:
            plain[written] = links_to
    return plain


class _Sections:
    """The doxygen groups of a header by line: the nearest thing it has to chapters. HIP's are nested, and some
    have no title of their own."""

    OTHER = "Others"

    def __init__(self, path: Path) -> None:
        self._lines: list[int] = []
        self._titles: list[str] = []
        open_groups: list[str] = []
        announced = None
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for match in _SECTION.finditer(line):
                around = open_groups[-1] if open_groups else self.OTHER
                if match["title"]:
                    announced = match["title"]
                    continue
                if match["begin"]:
                    open_groups.append(announced or around)
                    announced = None
                elif open_groups:
                    open_groups.pop()
                self._lines.append(number)
                self._titles.append(open_groups[-1] if open_groups else self.OTHER)

    def title(self, line: int) -> str:
        position = bisect_right(self._lines, line) - 1
        return self._titles[position] if position >= 0 else self.OTHER
