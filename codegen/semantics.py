"""The meaning of a semantics file: the functions that the shim intercepts, and the role of each parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path

from .errors import CodegenError
from .model import THREAD_SUFFIXES, Api, CType, Function, Parameter, Shape
from .semantics_file import ROLES, Names, SemanticsFile, common_roles, decode

ARGUMENTS_MAX = 16
"""NB_ARGUMENTS_MAX of hook/core/wire/record.h."""

OUT = "out:"
RETURNED = "returned"
"""The name of the last word of a function that returns a pointer and no status: the pointer."""
_BY_SHAPE = {
    Shape.INTEGER: "int",
    Shape.ENUM: "enum",
    Shape.FLOAT: "float",
    Shape.DOUBLE: "double",
    Shape.POINTER: "pointer",
    Shape.FUNCTION_POINTER: "callback",
}
_WITHOUT_STATUS = (Shape.VOID, Shape.POINTER)


@dataclass(frozen=True)
class Word:
    """One word of a trace record: a parameter and its role."""

    parameter: Parameter
    role: str


@dataclass(frozen=True)
class SharedHook:
    """How a HIP function calls the hooks of a CUDA function."""

    target: Function
    arguments: tuple[str, ...]
    """C expressions, in the order of the target's parameters."""
    answers: bool
    """Whether the hook may return an error that the driver did not."""


@dataclass(frozen=True)
class Interception:
    """How the shim handles the calls of one function. If `wrap` is set, neither `post` nor `wrap_when_recording` is."""

    function: Function
    group: str | None
    """None: its calls leave no record, and `wrap_when_recording` is its only hook."""
    words: tuple[Word, ...]
    post: str | None = None
    wrap: str | None = None
    wrap_when_recording: str | None = None
    tracking: bool = False
    """Whether `wrap_when_recording` also runs while kernels are probed."""
    refused: str | None = None
    """Why a replay cannot repeat the call; None if it can, or if a hook says so itself."""
    operation: str | None = None
    """The C call that records an operation: `wrap_when_recording` is generated. None: it is written by hand."""
    query: bool = False
    """Whether calls that equal the record before them are counted instead of recorded."""
    shared: SharedHook | None = None
    """Set where the hooks are those of a CUDA function."""

    @property
    def hooks(self) -> tuple[str, ...]:
        """Its hand-written parts."""
        return tuple(hook for hook in (self.post, self.wrap, self.wrap_when_recording) if hook)

    @property
    def stream(self) -> Word | None:
        """The stream that the call is given, if any."""
        return next((word for word in self.words if word.role == "stream"), None)


def load_semantics(path: Path, api: Api) -> dict[str, Interception]:
    """The interceptions of every function of `api` that the file asks for, by name.

    Raises CodegenError where the file contradicts itself or the header.
    """
    return _Reader(path, decode(path, SemanticsFile), api).interceptions()


def load_translated(path: Path, api: Api) -> tuple[Function, ...]:
    """The functions of CUDA's `api` that the file says are implemented over its vendor's, in header order.

    Raises CodegenError if the header lacks one.
    """
    file = decode(path, SemanticsFile)
    if file.translated is None:
        raise CodegenError(f"{path.name}: has no [translated]; list CUDA's functions that hook/ implements")
    file.header = None  # the release is HIP's
    names = _Reader(path, file, api).present("translated", file.translated.functions, api.by_name)
    return tuple(function for function in api.functions if function.name in set(names))


class _Reader:
    def __init__(self, path: Path, file: SemanticsFile, api: Api) -> None:
        self._path = path
        self._file = file
        self._is_strict = file.header is None or file.header.release == api.release
        self._roles = {**common_roles(), **file.roles}
        self._api = api

    def interceptions(self) -> dict[str, Interception]:
        self._check_roles()
        groups = self._groups()
        self._check_parameters(groups)
        refused = self._refused(groups)
        post = self._hooks(self._file.post)
        wrap = self._hooks(self._file.wrap)
        wrap_when_recording = self._hooks(self._file.wrap_when_recording)
        operations = self._operations()
        queries = self._queries(groups)
        for hook in self._file.tracking:
            if hook not in self._file.wrap_when_recording:
                raise self._error(
                    f"tracking: {hook} is not in [wrap_when_recording]; correct the name, or add it"
                )
        interceptions = {}
        for function in self._api.functions:
            name = function.name
            hooks = (post.pop(name, None), wrap.pop(name, None), wrap_when_recording.pop(name, None))
            if function.base in groups:
                reason = refused.get(function.base)
                interceptions[name] = self._interception(function, groups[function.base], *hooks, reason)
            elif any(hooks[:2]):
                raise self._error(f"{name} has a hook but is in no group; add it to [groups]")
            elif hooks[2]:
                interceptions[name] = self._interception(function, None, *hooks, None)
            if hooks[2] in operations:
                interceptions[name] = changed(interceptions[name], operation=operations[hooks[2]])
            if function.base in queries:
                if hooks[1]:
                    raise self._error(
                        f"{name} is in [queries] and in [wrap], whose hook writes the record; keep one"
                    )
                interceptions[name] = changed(interceptions[name], query=True)
        return interceptions

    def _queries(self, groups: Mapping[str, str]) -> set[str]:
        """Documentation names."""
        listed = self._file.queries.functions if self._file.queries is not None else []
        names = set(self.present("queries", listed, self._api.bases))
        for name in sorted(names - groups.keys()):
            raise self._error(f"queries: {name} is in no group; correct the name, or add it to [groups]")
        return names

    def _operations(self) -> dict[str, str]:
        """The C call that captures an operation, by hook."""
        operations: dict[str, str] = {}
        for call, hooks in self._file.operations.items():
            for hook in hooks:
                if hook not in self._file.wrap_when_recording:
                    raise self._error(
                        f"operations: {hook} is not in [wrap_when_recording]; correct the name, or add it"
                    )
                if operations.setdefault(hook, call) != call:
                    raise self._error(f"operations: {hook} records two operations; keep one")
        return operations

    def _interception(
        self,
        function: Function,
        group: str | None,
        post: str | None,
        wrap: str | None,
        wrap_when_recording: str | None,
        refused: str | None,
    ) -> Interception:
        if function.variadic or not (function.has_status or function.returns.shape in _WITHOUT_STATUS):
            raise self._error(
                f"{function.name} is variadic or returns neither a status nor a pointer; it cannot be recorded"
            )
        if wrap_when_recording and not function.has_status:
            raise self._error(
                f"{function.name} returns no status; [wrap_when_recording] is for functions that do"
            )
        if post and wrap:
            raise self._error(f"{function.name} is in [post] and in [wrap]; keep one")
        if wrap_when_recording and wrap:
            raise self._error(f"{function.name} is in [wrap_when_recording] and in [wrap]; keep one")
        if refused and wrap:
            raise self._error(f"{function.name} is in [refused] and in [wrap]; let {wrap} refuse it")
        words = tuple(
            Word(parameter, self._role(function, parameter))
            for parameter in function.parameters
            if parameter.type.shape is not Shape.AGGREGATE and group is not None
        )
        if function.returns.shape is Shape.POINTER and group is not None:
            returned = Parameter(RETURNED, "", function.returns)
            words += (Word(returned, self._role(function, returned)),)
        if len(words) > ARGUMENTS_MAX:
            raise self._error(f"{function.name} has {len(words)} parameters; a record holds {ARGUMENTS_MAX}")
        tracking = wrap_when_recording in self._file.tracking
        return Interception(function, group, words, post, wrap, wrap_when_recording, tracking, refused)

    def _groups(self) -> dict[str, str]:
        groups: dict[str, str] = {}
        for group, names in self._file.groups.items():
            for name in self.present(f"groups.{group}", names, self._api.bases):
                if name in groups:
                    raise self._error(f"{name} is in the groups {groups[name]} and {group}; keep one")
                groups[name] = group
        return groups

    def _refused(self, groups: Mapping[str, str]) -> dict[str, str]:
        """Reason by documentation name."""
        patterns = self._listed()
        refused: dict[str, str] = {}
        for reason, names in self._file.refused.items():
            if not reason.isascii() or not reason.isprintable() or '"' in reason or "\\" in reason:
                raise self._error(
                    f"refused: {reason!r} must be plain text: it becomes a string of a C program"
                )
            for name in names:
                if name not in patterns:
                    raise self._error(
                        f"refused: {name} is in no group; correct the name, or add it to [groups]"
                    )
                if refused.setdefault(name, reason) != reason:
                    raise self._error(f"refused: {name} has two reasons; keep one")
        return {name: reason for name, reason in refused.items() if name in groups}

    def _hooks(self, section: Mapping[str, Names]) -> dict[str, str]:
        """Hook by symbol, per-thread forms included."""
        hooks: dict[str, str] = {}
        for hook, names in section.items():
            symbols = self.present(hook, names, self._api.by_name)
            for symbol in symbols:
                for form in (symbol, *(f"{symbol}{thread}" for thread in THREAD_SUFFIXES)):
                    if form not in self._api.by_name:
                        continue
                    if hooks.setdefault(form, hook) != hook:
                        raise self._error(f"{form} has the hooks {hooks[form]} and {hook}; keep one")
        for hook in section:
            self._check_signature(
                hook, [self._api.by_name[name] for name, is_for in hooks.items() if is_for == hook]
            )
        return hooks

    def _check_signature(self, hook: str, functions: list[Function]) -> None:
        for function in functions[1:]:
            if function.signature != functions[0].signature:
                raise self._error(
                    f"{hook} is for {functions[0].name} and for {function.name}, which have different "
                    "signatures; give each its own hook"
                )

    def present(self, where: str, names: Names, known: Iterable[str]) -> list[str]:
        """The names that this header has. One it lacks must say since when there is such a function."""
        present_names = []
        for entry in names:
            name, since = (entry, 0) if isinstance(entry, str) else (entry.name, entry.since)
            if name in known:
                present_names.append(name)
            elif self._api.version >= since and self._is_strict:
                raise self._error(
                    f"{where}: the header ({self._api.vendor.title} {self._api.version}) has no {name}; "
                    "correct the name, or say since which version there is one"
                )
        return present_names

    def _role(self, function: Function, parameter: Parameter) -> str:
        override = self._file.parameters.get(f"{function.base}.{parameter.name}")
        if override is not None:
            if override.startswith(OUT) and not _can_be_read(parameter.type):
                raise self._error(
                    f"{function.name}: {parameter.name} cannot be {override}: it points to no single value "
                    "of at most 8 bytes"
                )
            return override
        role = self._type_role(parameter.type)
        if role.startswith(OUT) or role == "string_pointer":
            return role
        return self._file.names.get(parameter.name, role)

    def _type_role(self, kind: CType) -> str:
        for spelling in kind.spellings:
            if spelling in self._file.types:
                return self._file.types[spelling]
        if kind.shape is Shape.POINTER and kind.pointee is not None:
            return self._pointer_role(kind, kind.pointee)
        if kind.shape is Shape.INTEGER and kind.canonical.startswith("unsigned"):
            return "unsigned"
        return _BY_SHAPE[kind.shape]

    def _pointer_role(self, kind: CType, pointee: CType) -> str:
        if pointee.canonical == "char" and kind.pointee_const:
            return "string_pointer"
        if kind.pointee_const or not _can_be_read(kind) or pointee.canonical.endswith("char"):
            return "pointer"
        role = self._type_role(pointee)
        return "pointer" if role in ("pointer", "string_pointer", "callback") else OUT + role

    def _check_roles(self) -> None:
        for section in (self._file.types, self._file.names, self._file.parameters):
            for where, role in section.items():
                if role.removeprefix(OUT) not in self._roles:
                    raise self._error(f"{where}: {role} is not a role; {ROLES.name} lists the roles")

    def _check_parameters(self, groups: Mapping[str, str]) -> None:
        """An override that applies nowhere is a mistake, unless the header is too old for the function."""
        function_names = self._listed()
        for where in self._file.parameters:
            base, _, parameter = where.partition(".")
            if base not in function_names:
                raise self._error(f"{where}: {base} is in no group; correct the name, or add it to [groups]")
            forms = [function for function in self._api.functions if function.base == base]
            names = {p.name for function in forms for p in function.parameters} | {
                RETURNED for function in forms if function.returns.shape is Shape.POINTER
            }
            if base in groups and parameter not in names and self._is_strict:
                raise self._error(
                    f"{where}: {base} has no parameter {parameter}; it has {', '.join(sorted(names))}"
                )

    def _listed(self) -> set[str]:
        """Every name in a group, whether or not this header has it."""
        groups = self._file.groups.values()
        return {entry if isinstance(entry, str) else entry.name for group in groups for entry in group}

    def _error(self, message: str) -> CodegenError:
        return CodegenError(f"{self._path.name}: {message}")


def _can_be_read(kind: CType) -> bool:
    """Whether what a pointer points to fits a word."""
    pointee = kind.pointee
    return pointee is not None and pointee.shape not in (Shape.VOID, Shape.AGGREGATE, Shape.FUNCTION_POINTER)


def shared_first(interceptions: Iterable[Interception]) -> dict[str, Interception]:
    """For every hook the first function, in header order, that has it: its types are the hook's."""
    first: dict[str, Interception] = {}
    for interception in interceptions:
        for hook in interception.hooks if interception.shared is None else ():
            first.setdefault(hook, interception)
    return first
