"""pycparser's tree -> CType: resolve typedefs, forget qualifiers."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast, c_generator

from .errors import CodegenError
from .model import CType, Shape

_INTEGERS = {"char", "short", "int", "long", "signed", "unsigned", "_Bool"}
_generator = c_generator.CGenerator()


class Typedefs:
    """The typedefs of one translation unit, by name."""

    def __init__(self) -> None:
        self._types: dict[str, Any] = {}

    def add(self, name: str, node: Any) -> None:
        self._types[name] = node

    def resolve(self, node: Any) -> CType:
        """The type that a declarator node (TypeDecl, PtrDecl, ArrayDecl, FuncDecl) stands for."""
        if isinstance(node, c_ast.ArrayDecl):  # as a parameter, an array is a pointer
            node = c_ast.PtrDecl([], node.type)
        if isinstance(node, c_ast.FuncDecl):
            return CType((_spelling(node),), self._function(node), Shape.FUNCTION_POINTER)
        if isinstance(node, c_ast.PtrDecl):
            return self._pointer(node)
        return self._named(node.type)

    def _pointer(self, node: Any) -> CType:
        if isinstance(node.type, c_ast.FuncDecl):
            return CType((_spelling(node),), self._function(node.type), Shape.FUNCTION_POINTER)
        pointee = self.resolve(node.type)
        const = "const" in (getattr(node.type, "quals", None) or [])
        spellings = tuple(_pointer_to(spelling) for spelling in pointee.spellings)
        return CType(spellings, f"{pointee.canonical} *", Shape.POINTER, pointee, const)

    def _named(self, node: Any) -> CType:
        if isinstance(node, c_ast.Enum):
            return CType((f"enum {node.name}",), f"enum {node.name}", Shape.ENUM)
        if isinstance(node, c_ast.Struct | c_ast.Union):
            word = "struct" if isinstance(node, c_ast.Struct) else "union"
            return CType((f"{word} {node.name}",), f"{word} {node.name}", Shape.AGGREGATE)
        name = " ".join(node.names)
        if name in self._types:
            target = self._types[name]
            resolved = self.resolve(target)
            canonical = resolved.canonical
            if canonical.endswith(" None"):  # an anonymous struct or enum is known by its typedef
                canonical = name
            return CType(
                (name, *resolved.spellings),
                canonical,
                resolved.shape,
                resolved.pointee,
                resolved.pointee_const,
            )
        return _basic(node.names)

    def _function(self, node: Any) -> str:
        types = [self.resolve(parameter.type).canonical for parameter in parameters_of(node)]
        return f"{self.resolve(node.type).canonical}({', '.join(types)})"


def parameters_of(function: Any) -> list[Any]:
    """The parameter nodes of a FuncDecl: none for `(void)`; the `...` of a variadic one is left out."""
    nodes = function.args.params if function.args else []
    return [node for node in nodes if not isinstance(node, c_ast.EllipsisParam) and not _is_void(node)]


def is_variadic(function: Any) -> bool:
    return any(
        isinstance(node, c_ast.EllipsisParam) for node in (function.args.params if function.args else [])
    )


def _is_void(parameter: Any) -> bool:
    return isinstance(parameter.type, c_ast.TypeDecl) and getattr(parameter.type.type, "names", None) == [
        "void"
    ]


def declaration_text(node: Any, name: str) -> str:
    """A parameter as C text, under a name (the header may have given none)."""
    _set_name(node, name)
    return str(_generator.visit(node))


def _set_name(node: Any, name: str | None) -> None:
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    node.declname = name


def result_text(function: Any) -> str:
    """The return type of a FuncDecl as C text, with its qualifiers."""
    _set_name(function.type, None)  # pycparser keeps the function's own name there
    return _spelling(function.type)


def _spelling(node: Any) -> str:
    return str(_generator.visit(c_ast.Typename(None, [], None, node)))


def _pointer_to(spelling: str) -> str:
    return f"{spelling}*" if spelling.endswith("*") else f"{spelling} *"


def _basic(names: list[str]) -> CType:
    """`unsigned` and `unsigned int` are one type: spell integers in one order."""
    words = set(names)
    if names == ["void"]:
        return CType(("void",), "void", Shape.VOID)
    if "float" in words:
        return CType(("float",), "float", Shape.FLOAT)
    if "double" in words:
        return CType((" ".join(names),), " ".join(names), Shape.DOUBLE)
    if not words <= _INTEGERS:
        raise CodegenError(f"type {' '.join(names)} is declared nowhere; give the headers that declare it")
    sign = (
        "unsigned " if "unsigned" in words else "signed " if names.count("char") and "signed" in words else ""
    )
    size = next((word for word in ("char", "short", "_Bool") if word in words), None)
    text = sign + (size or " ".join(["long"] * names.count("long") or ["int"]))
    return CType((text,), text, Shape.INTEGER)
