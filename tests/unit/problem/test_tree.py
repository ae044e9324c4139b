"""Trees of values: split, sent as JSON, and built again."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchguard.problem.tree import DEPTH_MAX, Leaf, Node, Splitter, TreeError, build, leaves, oversize


class Tensor:
    def __init__(self, name: str) -> None:
        self.name = name


def leaf(path: str, value: Any) -> Leaf | None:
    del path
    return Leaf(value.name) if isinstance(value, Tensor) else None


@pytest.mark.parametrize(
    "value",
    [
        Tensor("a"),
        (Tensor("a"), [Tensor("b"), None, True, 1, 2.0, "text"], {"x.y": Tensor("c"), 3: (), None: []}),
        {"z": Tensor("a"), "a": {"deep": [[(Tensor("b"),)]]}},
    ],
)
def test_value_survives_json(value: Any) -> None:
    tree = Splitter(leaf).split(value)
    sent = msgspec.json.decode(msgspec.json.encode(tree), type=Node)  # type: ignore[arg-type]
    tensors = {each.name: Tensor(each.name) for each in leaves(sent)}

    def names(part: Any) -> Any:
        if isinstance(part, Tensor):
            return f"tensor {part.name}"
        if isinstance(part, dict):
            return [(key, names(each)) for key, each in part.items()]
        return [type(part), *map(names, part)] if isinstance(part, (tuple, list)) else (type(part), part)

    assert names(build(sent, lambda each: tensors[each.name])) == names(value)
    assert oversize(sent) == ""


def test_sorted_dictionaries_have_tensors_in_equal_order() -> None:
    one, other = {"b": Tensor("b"), "a": Tensor("a")}, {"a": Tensor("a"), "b": Tensor("b")}
    trees = [Splitter(leaf, sort=True).split(each) for each in (one, other)]
    assert trees[0] == trees[1]
    assert [each.name for each in leaves(trees[0])] == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([{1}], r"\[0\] is a set"),
        ({"a": (0, object())}, r"\['a'\]\[1\] is a object"),
        ({(1, 2): 0}, "a key of the value is a tuple"),
        (float("nan"), "it is nan, which JSON cannot hold"),
        (1 << 64, "does not fit in 64 bits"),
    ],
)
def test_other_values_refused(value: Any, words: str) -> None:
    with pytest.raises(TreeError, match=words):
        Splitter(leaf).split(value)


def test_endless_value_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TreeError, match=f"nested more than {DEPTH_MAX} deep"):
        Splitter(leaf).split(endless)
