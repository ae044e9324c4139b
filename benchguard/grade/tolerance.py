"""The tolerances that a case was judged by, for its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ..judge.contract import Cause, Checked
from ..problem.spec import Tolerance
from .result import UsedTolerance

_CAUSES: Mapping[Cause, str] = {
    "zeros": "zeros would pass under the problem's",
    "stored": "one stored answer for all inputs would pass under the problem's",
    "part": "an answer from a part of the inputs would pass under the problem's",
    "order": "an answer that ignores which elements belong together would pass under the problem's",
    "extremes": "no kernel rounds a largest or least element, from which these numbers follow",
    "selected": "no kernel rounds these numbers, which are numbers of the inputs",
}


def used_tolerances(
    problem: Mapping[str, Tolerance], factors: Mapping[str, float]
) -> dict[str, UsedTolerance]:
    return {
        name: UsedTolerance(each.atol, each.rtol, factor, _source(factor))
        for name, each in problem.items()
        for factor in (factors.get(name, 1.0),)
    }


def tolerance_notes(checked: Checked) -> Iterator[str]:
    for name, factor in sorted(checked.factors.items()):
        if factor < 1:
            why = _CAUSES[checked.causes.get(name, "zeros")]
        else:
            why = (
                "this leaves room for the error of the problem's own reference in the submission's precision"
            )
        yield f"{name}: tolerance {factor:.3g} times the problem's: {why}"
    if checked.decided_by_rounding and not checked.wrong:
        yield (
            f"{checked.decided_by_rounding} elements are beyond the tolerance, but right for inputs a few roundings "
            "away: rounding decides them, as at a threshold or in a sum near zero"
        )
    if checked.rounding_factor > 1 and not checked.wrong:
        yield (
            f"some outputs are right only within {checked.rounding_factor:.3g} times the tolerance: the rounding "
            "errors of float32 are as large on these inputs"
        )
    if checked.undecided and not checked.wrong:
        yield (
            f"wrong outputs for sets of other distributions do not count ({', '.join(checked.undecided)}): the "
            "reference's own answer is wrong there, too, if the inputs move by a few roundings"
        )
    if checked.refused_others:
        yield (
            "the reference does not run on inputs of another distribution, and input sets have the problem's own "
            f"instead ({checked.refused_others})"
        )
    if checked.only_others:
        yield (
            "all outputs for the problem's own inputs are right. Inputs of other distributions may break a relation of "
            "them, such as an order or a norm; the problem's `distributions` then leaves out the ones that do"
        )
    if checked.refused and not checked.wrong:
        yield (
            "could not check whether an answer from a part of the inputs would pass: the reference does not run on "
            f"inputs with replaced numbers ({checked.refused})"
        )
    for name, share in checked.unseen.items():
        yield (
            f"{name}: about {share:.0%} of the numbers are not right, and the problem's check accepts any numbers "
            "there, as in padding"
        )
    yield from _notes_of_unread(checked)


def _notes_of_unread(checked: Checked) -> Iterator[str]:
    """Notes on kernels that could pass without reading all inputs."""
    for name in checked.stored:
        yield (
            f"{name}: the answer to one input set passes for others, so a kernel that reads no input could pass; "
            "narrow the tolerance, or grade other cases (--case)"
        )
    for name, source in checked.copied.items():
        yield (
            f"{name}: the right answer to the problem's own inputs is within the tolerance of the input {source}, so a "
            "kernel that copies it could pass; narrow the tolerance, or grade other cases (--case)"
        )
    if checked.ignorable:
        names = ", ".join(checked.ignorable)
        yield (
            f"{names}: other numbers there hardly change the right answer, so a kernel that does not read them could "
            "pass; narrow the tolerance, or grade other cases (--case)"
        )
    for name in sorted({*checked.of_parts} - {*checked.stored}):
        yield (
            f"{name}: an answer without one in 32 elements of the inputs passes, so a kernel that skips some of them "
            "could pass; narrow the tolerance, or grade other cases (--case)"
        )


def _source(factor: float) -> Literal["problem", "reference", "zeros"]:
    if factor == 1:
        return "problem"
    return "reference" if factor > 1 else "zeros"
