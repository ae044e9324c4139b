"""special.h: prototypes of the hand-written hooks."""

from __future__ import annotations

from ..model import Shape
from ..semantics import Interception, shared_first
from ..surface import Surface
from .text import banner, of_type, wrapped

_TEMPLATE = """\
#ifndef NEUTRINO_SPECIAL_H
#define NEUTRINO_SPECIAL_H

#include "core/process/call.h"
#include "real.h"
#include "core/driver/slots.h"

/* Called when the driver has answered and the call's record is written. */
{post}
/* Called instead of the driver; what they return is what the caller gets. */
{wrap}
/* Called in the driver's place while nb_capture_enabled(): they call it, or answer for it. The call's record is
 * written afterwards. */
{wrap_when_recording}
#endif
"""


def emit(surface: Surface) -> str:
    translated = surface.translation.interceptions.values() if surface.translation else ()
    hooks = shared_first([*surface.interceptions.values(), *translated])
    post = "".join(_prototype(hook, first) for hook, first in hooks.items() if hook == first.post)
    wrap = "".join(_prototype(hook, first) for hook, first in hooks.items() if hook == first.wrap)
    captured = "".join(
        _prototype(hook, first) for hook, first in hooks.items() if hook == first.wrap_when_recording
    )
    return banner("special_h", surface.api) + _TEMPLATE.format(
        post=post, wrap=wrap, wrap_when_recording=captured
    )


def _prototype(hook: str, first: Interception) -> str:
    function = first.function
    answers = hook != first.post
    items = ["const struct nb_call *nb_call"]
    if answers:
        items.append(f"nb_{function.name}_t nb_real")
    elif function.returns.shape is not Shape.VOID:
        items.append(of_type(function.result, "nb_result"))
    items += [parameter.declaration for parameter in function.parameters]
    opening = of_type(function.result if answers else "void", f"{hook}(")
    return wrapped(opening, items, ") NB_HIDDEN;") + "\n"
