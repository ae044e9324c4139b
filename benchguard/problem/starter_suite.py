"""Generate a submission for an opened suite, from the specifications of its cases."""

from __future__ import annotations

from ..errors import UsageError
from .c_types import C_TYPES
from .signature import Parameter
from .spec import Argument, Buffer
from .starter import Language, starter
from .starter_sizes import output_sizes
from .starter_torch import DATA, MODULES, torch_starter
from .suite import Suite

CASES_MAX = 4
"""The smallest cases show which sizes vary, if a specification needs a run of the reference."""


def suite_starter(suite: Suite, language: Language | None) -> str:
    """A whole file; `language` None: the suite's usual one. Raises UsageError for a language that it does not take."""
    if suite.convention == DATA or suite.convention in MODULES:
        if language not in (None, "python"):
            raise UsageError(
                f"submissions to this suite return torch's tensors; give --lang python, not {language}"
            )
        cases = sorted(suite.cases, key=lambda each: each.input_bytes)
        return torch_starter([each.spec for each in cases[:CASES_MAX]], suite.convention, suite.entry)
    outlines = [each.outline or each.spec for each in suite.cases]
    parameters = [_parameter(each) for each in outlines[0].arguments]
    return starter(parameters, language or "cuda", output_sizes(outlines), suite.entry)


def _parameter(argument: Argument) -> Parameter:
    if isinstance(argument, Buffer):
        return Parameter(
            argument.name, C_TYPES[argument.dtype], True, not argument.is_checked, argument.on_host
        )
    return Parameter(argument.name, C_TYPES[argument.ctype], False)
