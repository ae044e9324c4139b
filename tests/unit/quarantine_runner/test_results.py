"""Where the results of a call are, whatever memory and structure the submission chose."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchguard.problem.returned import replayed_case
from benchguard.problem.spec import Buffer, CaseSpec, Form, Returned
from benchguard.problem.tree import Entries, Items, Leaf, Value
from benchguard.quarantine.runner.arrays import DeviceArray
from benchguard.quarantine.runner.reporting import SubmissionError
from benchguard.quarantine.runner.results import find_results
from benchguard.region import Memory
from tests.support.tensors import GradTensor, InterfaceOnly

X, ROOM, OWN = 0x1000, 0x2000, 0x3000
ONE = CaseSpec(
    "one",
    (
        Buffer("x", "float32", (4, 2)),
        Buffer("room", "float32", (8,), "scratch"),
        Buffer("result0", "float32", (8,), "output"),
    ),
    returns=Returned(Leaf("result0"), (Form("room", "float32", (8,)),)),
)
TWO = CaseSpec(
    "two",
    (
        Buffer("x", "float32", (4, 2)),
        Buffer("result0", "float32", (8,), "output"),
        Buffer("result1", "bfloat16", (), "output"),
    ),
    returns=Returned(
        Items("tuple", (Leaf("result0"), Leaf("result1"))),
        (Form("result0", "float32", (8,)), Form("result1", "bfloat16", ())),
    ),
)
GIVEN = {
    "x": Memory(X, 32, "float32", (4, 2)),
    "room": Memory(ROOM, 32, "float32", (8,)),
    "result0": Memory(OWN, 32, "float32", (8,)),
    "result1": Memory(OWN + 64, 2, "bfloat16", ()),
}


def array(
    address: int, dtype: Any = "float32", shape: tuple[int, ...] = (8,), strides: Any = None
) -> DeviceArray:
    return DeviceArray(address, Buffer("a", dtype, shape, strides=strides))


@pytest.mark.parametrize(
    ("value", "form", "memory"),
    [
        (None, Form("result0", "float32", (8,)), {"result0": (ROOM, 32)}),
        (array(ROOM), Form("result0", "float32", (8,)), {"result0": (ROOM, 32)}),
        (array(0x9000, "float64"), Form("result0", "float64", (8,)), {"result0": (0x9000, 64)}),
        (array(0x9000, shape=(1, 8)), Form("result0", "float32", (1, 8)), {"result0": (0x9000, 32)}),
        (array(0x9000, shape=(2, 4), strides=(1, 2)), Form("result0", "float32", (2, 4), (1, 2)),
         {"result0": (0x9000, 32)}),
        (array(0x9000, shape=(4, 2), strides=(5, 2)), Form("result0", "float32", (4, 2), (5, 2)),
         {"result0": (0x9000, 72)}),
        (array(X), Form("x", "float32", (8,)), {}),
        (array(X + 8, "float16"), Form("x", "float16", (8,), offset=8), {}),
    ],
    ids=["nothing", "room", "other dtype", "other shape", "transposed", "gaps", "input", "part of an input"],
)  # fmt: skip
def test_result_found_in_any_memory(value: Any, form: Form, memory: dict[str, tuple[int, int]]) -> None:
    results = find_results(ONE, GIVEN, value)
    assert results.returned.results == (form,)
    assert {name: (each.address, each.bytes) for name, each in results.memory.items()} == memory
    replayed_case(ONE, results.returned)


@pytest.mark.parametrize("kind", [GradTensor, InterfaceOnly])
def test_result_that_requires_grad_found(kind: type[InterfaceOnly]) -> None:
    results = find_results(ONE, GIVEN, kind(0x9000))
    assert results.returned.results == (Form("result0", "float32", (8,)),)
    assert results.memory["result0"].address == 0x9000


def test_results_of_a_structure_found() -> None:
    packed = [array(0x9000 + 32), array(0x9000, "bfloat16", ())]
    results = find_results(TWO, GIVEN, {"b": packed, "a": None})
    assert results.returned.tree == Entries(
        ("a", "b"), (Value(None), Items("list", (Leaf("result0"), Leaf("result1"))))
    )
    assert [each.buffer for each in results.returned.results] == ["result0", "result1"]
    replayed_case(TWO, results.returned)


def test_overlapping_results_share_a_range() -> None:
    """Two views of one packed tensor, interleaved: their spans overlap, their elements do not."""
    pair = array(0x9004, shape=(8,), strides=(2,)), array(0x9000, "bfloat16", ())
    results = find_results(TWO, GIVEN, (pair[0], array(0x9008, "bfloat16", ())))
    assert results.returned.results[1] == Form("result0", "bfloat16", (), offset=4)
    assert {name: (each.address, each.bytes) for name, each in results.memory.items()} == {
        "result0": (0x9004, 60)
    }
    replayed_case(TWO, results.returned)


@pytest.mark.parametrize(
    ("case", "value", "words", "unreplayable"),
    [
        (ONE, 2.5, "returned in host memory, as float", True),
        (ONE, (array(OWN), array(OWN)), "returned 2 tensors; the reference returns 1", False),
        (TWO, array(OWN), "returned 1 tensors; the reference returns 2", False),
        (TWO, (array(OWN), 1.0), "returned in host memory, as float", True),
        (ONE, {array(OWN)}, "it is a set; return tensors", False),
        (ONE, array(X + 8), "result0 is only partly in the memory of x", False),
    ],
)
def test_unusable_result_reported(case: CaseSpec, value: Any, words: str, unreplayable: bool) -> None:
    with pytest.raises(SubmissionError) as caught:
        find_results(case, GIVEN, value)
    assert words in caught.value.text
    assert caught.value.unreplayable is unreplayable


EXACT = msgspec.structs.replace(ONE, exact=True)


@pytest.mark.parametrize("strides", [(1,), (3,)], ids=["dense", "gaps"])
def test_exact_result_of_any_strides_found(strides: tuple[int, ...]) -> None:
    results = find_results(EXACT, GIVEN, array(0x9000, strides=strides))
    assert results.returned.results[0].shape == (8,)
    replayed_case(EXACT, results.returned)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (array(0x9000, "float64"), "as float64; the problem wants float32"),
        (array(0x9000, shape=(2, 4)), "with shape (2, 4); the problem wants (8,)"),
    ],
)
def test_exact_result_of_another_dtype_or_shape_reported(value: Any, words: str) -> None:
    find_results(ONE, GIVEN, value)
    with pytest.raises(SubmissionError) as caught:
        find_results(EXACT, GIVEN, value)
    assert words in caught.value.text
