"""hooks.c: a typed wrapper for every recorded export, and for those that only have a [wrap_when_recording] hook."""

from __future__ import annotations

from ..model import Function, Shape
from ..semantics import OUT, RETURNED, Interception, Word
from ..surface import Surface
from ..vendor import Vendor
from .text import banner, by_section, heading, of_type, wrapped

_HEAD = """\
{own}#include "core/policy/guard.h"
#include "core/process/call.h"
#include "real.h"
#include "cuda/capture/refuse.h"
{tracked}#include "core/region/region.h"
#include "special.h"
#include "surface.h"
"""

_TRACKED = '#include "cuda/memory/tracked.h"\n'

_FLOATS = """
/* A floating-point parameter is recorded as its bit pattern. */
static inline uint64_t nb_word_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}
"""

_DOUBLES = """
static inline uint64_t nb_word_double(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}
"""

_RECORDED = """
{signature}
{{
{guard}    const struct nb_call nb_call = nb_call_begin(NB_SLOT_{name});
{real}
{arguments}
    {end}(&nb_call, {status}, nb_arguments, {count});
{post}{refused}{returns}}}
"""

_GUARD = """\
    if (nb_is_guarded(NB_SLOT_{name})) {{
{words}
        const int nb_denied = nb_policy_check(NB_SLOT_{name}, __builtin_return_address(0), nb_words, {count});
        if (nb_denied != 0)
            return{result};
    }}
"""

_REFUSED = """\
    if (nb_region_is_open())
{refuse}
"""

_REPLACED = """
{signature}
{{
{guard}    const struct nb_call nb_call = nb_call_begin(NB_SLOT_{name});
{wrap}
}}
"""

_UNRECORDED = """
{signature}
{{
{guard}    if (!{condition}())
{real}
    const struct nb_call nb_call = {{NULL, __builtin_return_address(0), 0, NB_SLOT_{name}}};
{wrap_when_recording}
}}
"""


_SHARED = """\
#include "hip/hooks/answer.h"
#include "hip/hooks/same.h"
"""


def emit(surface: Surface) -> str:
    shapes = {word.parameter.type.shape for r in surface.exported_interceptions for word in r.words}
    is_tracking = any(each.tracking for each in surface.exported_interceptions)
    text = banner("hooks_c", surface.api) + _HEAD.format(
        own=_SHARED if surface.translation else "", tracked=_TRACKED if is_tracking else ""
    )
    text += _FLOATS if Shape.FLOAT in shapes else ""
    text += _DOUBLES if Shape.DOUBLE in shapes else ""
    wrappers = [
        (interception.function, _wrapper(interception, surface.api.vendor))
        for interception in surface.exported_interceptions
    ]
    for title, texts in by_section(wrappers):
        text += "\n" + heading(title) + "".join(texts)
    return text


def _wrapper(interception: Interception, vendor: Vendor) -> str:
    function = interception.function
    signature = _signature(function, vendor)
    is_void = function.returns.shape is Shape.VOID
    names = [parameter.name for parameter in function.parameters]
    if interception.group is None:
        return _UNRECORDED.format(
            signature=signature,
            guard=_guard(interception),
            name=function.name,
            condition=_condition(interception),
            real=wrapped(f"        return NB_REAL({function.name})(", names, ");"),
            wrap_when_recording=_hook("    return ", interception.wrap_when_recording, interception, ";"),
        )
    if interception.wrap:
        wrap = _hook(f"    {'' if is_void else 'return '}", interception.wrap, interception, ";")
        return _REPLACED.format(
            signature=signature, guard=_guard(interception), name=function.name, wrap=wrap
        )
    post = ""
    if interception.post:
        shared = interception.shared
        result = f"({shared.target.result})nb_result" if shared else "nb_result"
        items = ["&nb_call", *([] if is_void else [result]), *(shared.arguments if shared else names)]
        post = wrapped(f"    {interception.post}(", items, ");") + "\n"
    return _RECORDED.format(
        signature=signature,
        guard=_guard(interception),
        name=function.name,
        real=_real(interception, names),
        arguments=wrapped(
            "    const uint64_t nb_arguments[] = {",
            [_word(w, function) for w in interception.words] or ["0"],
            "};",
        ),
        end="nb_query_end" if interception.query else "nb_call_end",
        count=len(interception.words),
        status=_status(function),
        post=post,
        refused=_refused(interception),
        returns="" if is_void else "    return nb_result;\n",
    )


def _guard(interception: Interception) -> str:
    """The question to the policy: the test of one byte where no rule mentions the call."""
    function = interception.function
    words = [_given_word(word) for word in interception.words if word.parameter.name != RETURNED]
    list_of_words = wrapped("        const uint64_t nb_words[] = {", words or ["0"], "};")
    result = {Shape.VOID: "", Shape.POINTER: " NULL"}.get(
        function.returns.shape, f" ({function.result.strip()})nb_denied"
    )
    return _GUARD.format(name=function.name, words=list_of_words, count=len(words), result=result)


def _given_word(word: Word) -> str:
    """The word before the call: an out pointer has no value yet, and is itself the word."""
    name = word.parameter.name
    match word.parameter.type.shape:
        case Shape.POINTER:
            return f"nb_word_pointer({name})"
        case Shape.FUNCTION_POINTER:
            return f"(uint64_t)(uintptr_t){name}"
        case Shape.FLOAT:
            return f"nb_word_float({name})"
        case Shape.DOUBLE:
            return f"nb_word_double({name})"
        case _:
            return f"(uint64_t){name}"


def _real(interception: Interception, names: list[str]) -> str:
    """The driver's call, or its hook in a process that records."""
    function = interception.function
    match function.returns.shape:
        case Shape.VOID:
            return wrapped(f"    NB_REAL({function.name})(", names, ");")
        case Shape.POINTER:
            result = f"    {function.result}const nb_result ="
        case _:
            result = f"    const {function.result} nb_result ="
    if interception.wrap_when_recording is None:
        return wrapped(f"{result} NB_REAL({function.name})(", names, ");")
    wrap_when_recording = _hook(
        f"        {_condition(interception)}() ? ", interception.wrap_when_recording, interception, ""
    )
    return f"{result}\n{wrap_when_recording}\n" + wrapped(
        f"{' ' * 27}: NB_REAL({function.name})(", names, ");"
    )


def _condition(interception: Interception) -> str:
    return "nb_memory_is_tracked" if interception.tracking else "nb_capture_enabled"


def _hook(opening: str, hook: str | None, interception: Interception, closing: str) -> str:
    """The call of a hook that calls the driver."""
    function, shared = interception.function, interception.shared
    if shared is None:
        items = ["&nb_call", f"NB_REAL({function.name})", *(p.name for p in function.parameters)]
        return wrapped(f"{opening}{hook}(", items, f"){closing}")
    items = ["&nb_call", f"NB_SAME({shared.target.name}, NB_REAL({function.name}))", *shared.arguments]
    if shared.answers:
        return wrapped(f"{opening}nb_hip_answer({hook}(", items, f")){closing}")
    return wrapped(f"{opening}({function.result}){hook}(", items, f"){closing}")


def _refused(interception: Interception) -> str:
    """The check for an open region: one load and one branch where none is open."""
    if interception.refused is None:
        return ""
    items = ["&nb_call", _status(interception.function), f'"{interception.refused}"']
    opening = "        nb_refuse("
    if interception.stream is not None:
        items.insert(2, interception.stream.parameter.name)
        opening = "        nb_refuse_on_stream("
    return _REFUSED.format(refuse=wrapped(opening, items, ");"))


def _status(function: Function) -> str:
    """The record's result. A call without a status counts as a success."""
    return "nb_result" if function.has_status else "0"


def _signature(function: Function, vendor: Vendor) -> str:
    opening = of_type(function.result, f"{vendor.convention}{function.name}(")
    return wrapped(opening, [parameter.declaration for parameter in function.parameters] or ["void"], ")")


def _word(word: Word, function: Function) -> str:
    name = "nb_result" if word.parameter.name == RETURNED else word.parameter.name
    if word.role.startswith(OUT):
        return f"nb_out_word({_status(function)}, {name}, sizeof *{name})"
    if word.parameter.name == RETURNED:
        return f"nb_word_pointer({name})"
    return _given_word(word)
