"""Facts of calls that rules ask for: where a call has them, and the values that fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..audit.layout import PolicySubject, PolicyTest
from ..shim.surface import Export
from .file import Span, Value

_WORD_MAX = (1 << 64) - 1
_GRAPH_LAUNCHES = ("cuGraphLaunch", "hipGraphLaunch")
_CONFIGURATION = ("cuLaunchKernelEx", "hipLaunchKernelExC", "hipDrvLaunchKernelEx")
_NODE_WORDS = dict.fromkeys(
    ("cuGraphAddNode", "cuGraphNodeSetParams", "cuGraphExecNodeSetParams", "hipGraphAddNode"), ("nodeParams",)
)
_IMAGE_WORDS = ("image", "code", "fatCubin")
_FILE_WORDS = ("fname", "fileName")
_HASH = re.compile(r"[0-9a-f]{64}")

TEXTS = ("kernel", "library")
BOOLEANS = ("timed_stream", "timing_event")


class FactError(Exception):
    """A fact that a call does not have, or a value that the fact cannot have. The text completes `rule "x": `."""


@dataclass(frozen=True)
class Place:
    """Where the shim finds a fact of one call."""

    subject: PolicySubject
    position: int = 0


@dataclass(frozen=True)
class Test:
    """How values are compared. A text has a terminator; a hash has 32 bytes."""

    kind: PolicyTest
    numbers: tuple[tuple[int, int], ...] = ()
    texts: tuple[bytes, ...] = ()


def place_of(name: str, export: Export) -> Place:
    """Raises FactError if the call does not have the fact."""
    if name == "library":
        return Place(PolicySubject.LIBRARY)
    if export.kind != "recorded":
        raise FactError(
            f"{export.name} is only passed through, so its arguments are unknown; "
            "use no fact but `library` for it"
        )
    found = _special(name, export)
    if found is None:
        found = _word(name, export)
    if found is None:
        words = [word.name for word in export.parameters if not word.role.startswith("out:")]
        raise FactError(f"{export.name} has no fact {name!r}; its arguments are {', '.join(words) or 'none'}")
    return found


def _special(name: str, export: Export) -> Place | None:
    """Find a fact that is not a word of the call, or has another name than the word."""
    has_configuration = export.base in _CONFIGURATION
    places: dict[str, Callable[[], Place | None]] = {
        "kernel": lambda: _kernel(export),
        "image": lambda: (
            _of_name(export, _IMAGE_WORDS, PolicySubject.IMAGE)
            or _of_name(export, _FILE_WORDS, PolicySubject.IMAGE_FILE)
        ),
        "node_type": lambda: _of_name(export, _NODE_WORDS.get(export.base, ()), PolicySubject.POINTED),
        "flags": lambda: _of_name(export, ("instantiateParams",), PolicySubject.POINTED),
        "timing_event": lambda: (
            _of_role(export, ("event",), PolicySubject.TIMING_EVENT)
            or _of_name(export, _NODE_WORDS.get(export.base, ()), PolicySubject.NODE_EVENT)
        ),
        "timed_stream": lambda: _of_role(export, ("stream",), PolicySubject.IS_TIMED_STREAM),
        "attribute": lambda: _of_name(export, ("attr", "attrib", "attribute"), PolicySubject.WORD),
    }
    if has_configuration:
        places["stream"] = lambda: _of_name(export, ("config",), PolicySubject.CONFIG_STREAM)
        places["attribute"] = lambda: _of_name(export, ("config",), PolicySubject.CONFIG_ATTRIBUTE)
    return places[name]() if name in places else None


def _kernel(export: Export) -> Place | None:
    if export.base in _GRAPH_LAUNCHES:
        return _of_role(export, ("graph_exec",), PolicySubject.GRAPH_KERNEL)
    if (
        export.base == "cuLaunchCooperativeKernelMultiDevice"
    ):  # each item of the list begins with the one kernel
        return _of_name(export, ("launchParamsList",), PolicySubject.NODE_KERNEL)
    if "KernelNode" in export.base:
        # HIP's node parameters have another order, which the shim does not read.
        words = ("nodeParams",) if export.base.startswith("cu") else ()
        return _of_name(export, words, PolicySubject.NODE_KERNEL)
    return _of_role(export, ("function", "kernel"), PolicySubject.KERNEL) or _of_name(
        export, ("function_address", "f", "fPtr", "func"), PolicySubject.KERNEL
    )


def launches_kernels(export: Export) -> bool:
    """Whether the call launches kernels whose names the shim can tell."""
    is_launch = export.group == "launch" or export.base in _GRAPH_LAUNCHES
    return export.kind == "recorded" and is_launch and _kernel(export) is not None


def _word(name: str, export: Export) -> Place | None:
    return _of_name(export, (name,), PolicySubject.WORD) or _of_role(
        export, ("bytes" if name == "size" else name,), PolicySubject.WORD
    )


def _of_name(export: Export, names: tuple[str, ...], subject: PolicySubject) -> Place | None:
    for position, word in enumerate(export.parameters):
        if word.name in names and not word.role.startswith("out:"):
            return Place(subject, position)
    return None


def _of_role(export: Export, roles: tuple[str, ...], subject: PolicySubject) -> Place | None:
    for position, word in enumerate(export.parameters):
        if word.role in roles:
            return Place(subject, position)
    return None


def test_of(name: str, value: Value) -> Test:
    """Raises FactError if the fact cannot have the value."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise FactError(f"{name} has no values; give one, or remove the fact")
    if name in TEXTS:
        return Test(PolicyTest.GLOB, texts=tuple(_pattern(name, each) for each in values))
    if name == "image":
        return Test(PolicyTest.HASH, texts=tuple(_hash(each) for each in values))
    if name in BOOLEANS:
        if not isinstance(value, bool):
            raise FactError(f"{name} is true or false, not {value!r}")
        return Test(PolicyTest.RANGE, numbers=((int(value), int(value)),))
    bits = [each.bits for each in values if isinstance(each, Span) and each.bits is not None]
    if bits and len(bits) == len(values):
        return Test(PolicyTest.BITS, numbers=tuple((_number(name, each), 0) for each in bits))
    if bits:
        raise FactError(f"{name} mixes `bits` with other numbers; make two rules")
    return Test(PolicyTest.RANGE, numbers=tuple(_range(name, each) for each in values))


def _pattern(name: str, value: object) -> bytes:
    if not isinstance(value, str) or "\0" in value:
        raise FactError(f"{name} is a shell pattern, not {value!r}; write it in quotation marks")
    return value.encode() + b"\0"


def _hash(value: object) -> bytes:
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise FactError(
            f"image {value!r} is not a SHA-256; give 64 digits in lower-case hexadecimal, as the audit log has them"
        )
    return bytes.fromhex(value)


def _range(name: str, value: object) -> tuple[int, int]:
    if isinstance(value, Span):
        if value.min is None and value.max is None:
            raise FactError(f"{name} has an empty table; give min, max or bits")
        low = _number(name, value.min or 0)
        high = _number(name, value.max if value.max is not None else _WORD_MAX)
        if low > high:
            raise FactError(f"{name}: min {low} is greater than max {high}; exchange them")
        return low, high
    return _number(name, value), _number(name, value)


def _number(name: str, value: object) -> int:
    """A word of the record: negative numbers are sign-extended to 64 bits, as the C conversion does."""
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 63) <= value <= _WORD_MAX:
        raise FactError(f"{name} is a number of at most 64 bits, not {value!r}")
    return value & _WORD_MAX
