"""Reports of what a call returned: honest ones become buffers of the replay, hostile ones are refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchguard.problem.returned import ReturnedError, replayed_case, replayed_cases
from benchguard.problem.spec import Buffer, CaseSpec, Form, Returned
from benchguard.problem.tree import Entries, Items, Leaf, Node, Value

PAIR = Items("tuple", (Leaf("result0"), Leaf("result1")))
SPEC = CaseSpec(
    "c",
    (
        Buffer("x", "float32", (8,)),
        Buffer("room", "float32", (8,), "scratch"),
        Buffer("result0", "float64", (8,), "output"),
        Buffer("result1", "float32", (), "output"),
    ),
    returns=Returned(PAIR, (Form("room", "float32", (8,)), Form("result1", "float32", ()))),
)


def returned(
    first: Form = Form("result0", "float32", (8,)),  # noqa: B008 - frozen
    second: Form = Form("result1", "float32", (1,)),  # noqa: B008 - frozen
    tree: Node = PAIR,
    **memory: int,
) -> Returned:
    return Returned(tree, (first, second), memory or {"result0": 32, "result1": 4})


def buffers(spec: CaseSpec) -> list[tuple[str, str, int]]:
    return [(each.name, each.role, each.bytes) for each in spec.buffers]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (returned(), [("x", "input", 32), ("result0", "output", 32), ("result1", "output", 4)]),
        (
            returned(first=Form("result0", "float16", (2, 4), strides=(1, 2)), result0=16, result1=4),
            [("x", "input", 32), ("result0", "output", 16), ("result1", "output", 4)],
        ),
        (
            returned(first=Form("x", "float32", (8, 1)), result1=4),
            [("x", "inout", 32), ("result1", "output", 4)],
        ),
        (
            returned(second=Form("result0", "float32", (), offset=32), result0=36),
            [("x", "input", 32), ("result0", "output", 36)],
        ),
    ],
    ids=["own memory", "other dtype and strides", "in an input", "shared memory"],
)
def test_returned_memory_becomes_buffers(given: Returned, wanted: list[Any]) -> None:
    """Scratch memory is not among the buffers of the replay."""
    assert buffers(replayed_case(SPEC, given)) == wanted


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (returned(first=Form("result0", "float32", (0,))), "returned with shape [0]; the reference's has [8]"),
        (returned(first=Form("result0", "float32", (4,))), "returned with shape [4]"),
        (returned(first=Form("result0", "float32", (8,), (0,))), "two elements of result0 share memory"),
        (returned(first=Form("result0", "float32", (2, 4), (1,))), "has 1 strides for 2 extents"),
        (returned(first=Form("result0", "float64", (8,))), "ends beyond its memory"),
        (returned(first=Form("x", "float32", (8,), offset=4)), "ends beyond its memory 'x'"),
        (returned(first=Form("x", "float16", (8,), offset=1)), "at byte 1, which is invalid"),
        (returned(first=Form("room", "float32", (8,))), "is in memory 'room'"),
        (returned(first=Form("nowhere", "float32", (8,))), "is in memory 'nowhere'"),
        (returned(x=32), "returned memory 'x', which the case does not have"),
        (returned(result0=1 << 40, result1=4), "strides that span"),
        (returned(tree=Leaf("result0")), "the reference returns 2"),
        (returned(tree=Items("tuple", (Leaf("result1"), Leaf("result0")))), "not named in order"),
        (returned(tree=Items("tuple", (Leaf("x"), Leaf("result1")))), "not named in order"),
        (returned(tree=Items("tuple", (Leaf("result0", "save"), Leaf("result1")))), "dtype save"),
        (returned(tree=Items("tuple", (Leaf("result0", kind="host"), Leaf("result1")))), "not named in order"),
        (returned(tree=Items("list", (*PAIR.items, Entries(("a",), ())))), "different numbers of keys"),
        (returned(tree=Entries(("a", "a"), PAIR.items)), "a key twice"),
        (returned(tree=Entries((1, True), PAIR.items)), "a key twice"),
        (returned(tree=Items("list", (*PAIR.items, *[Value(0)] * 5000))), "more than 4096 values"),
    ],
)  # fmt: skip
def test_hostile_form_refused(given: Returned, words: str) -> None:
    """The first is an attack on checks that broadcast: torch.not_equal of nothing and one element has no difference."""
    with pytest.raises(ReturnedError) as caught:
        replayed_case(SPEC, given)
    assert words in str(caught.value)


def test_missing_report_refused() -> None:
    plain = msgspec.structs.replace(SPEC, returns=None)
    assert replayed_cases([plain, SPEC], {1: returned()})[0] is plain
    with pytest.raises(ReturnedError, match="case c: the submission's process did not report its results"):
        replayed_cases([plain, SPEC], {0: returned()})
    with pytest.raises(ReturnedError, match="case c: result0 was returned"):
        replayed_cases([SPEC], {0: returned(first=Form("result0", "float32", (4,)))})


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (Form("result0", "float32", (8,)), "as float32; the problem wants float64"),
        (Form("result0", "float64", (2, 4)), "with shape"),
    ],
)
def test_exact_case_refuses_a_report_of_another_dtype_or_shape(first: Form, why: str) -> None:
    """Else elements of another dtype would not be compared. Control: the same report of another case."""
    given = returned(first=first, second=Form("result1", "float32", ()), result0=64, result1=4)
    replayed_case(SPEC, given)
    with pytest.raises(ReturnedError, match=why):
        replayed_case(msgspec.structs.replace(SPEC, exact=True), given)


def test_exact_case_accepts_other_strides() -> None:
    exact = msgspec.structs.replace(SPEC, exact=True)
    first = Form("result0", "float64", (8,), strides=(2,))
    given = returned(first=first, second=Form("result1", "float32", ()), result0=120, result1=4)
    assert buffers(replayed_case(exact, given))[1] == ("result0", "output", 120)
