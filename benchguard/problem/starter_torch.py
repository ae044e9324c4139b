"""Generate a submission in torch for suites whose submissions return values: custom_kernel(data), class ModelNew.

The values have the reference's structure, shapes and dtypes, and are zeros. A shape that differs between cases is an
expression over the shapes of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..errors import UsageError
from .spec import Buffer, CaseSpec, Form
from .tree import Entries, Items, Leaf, Node

DATA, MODULES = "data", ("module", "module_keywords")
_TORCH = {"float8_e4m3": "float8_e4m3fn"}
"""torch's names of dtypes that differ from ours."""


def torch_starter(specs: Sequence[CaseSpec], convention: str, entry: str) -> str:
    """A whole file. Raises UsageError for results whose shape or type cannot be written down."""
    first = specs[0]
    if first.returns is None or any(each.function for each in first.calls):
        raise UsageError(
            "a starter needs a submission of one function that returns its results; write it by hand"
        )
    if convention == DATA:
        paths = dict(_paths(first.calls[0].arguments[0], "data"))
        value = _value(first.returns.tree, specs, paths)
        return f"import torch\n\n\ndef {entry}(data):\n    # Replace the zeros.\n    return {value}\n"
    inputs = [each.name for each in first.buffers if each.role == "input"]
    values = _results(first.returns.tree, specs, {name: name for name in inputs})
    value = values[0] if len(values) == 1 else f"({', '.join(values)})"
    words = ", ".join(["self", *inputs])
    return (
        f"import torch\n\n\nclass {entry}(torch.nn.Module):\n"
        "    def __init__(self, *placed, **named):\n        super().__init__()\n\n"
        f"    def forward({words}):\n        # Replace the zeros.\n        return {value}\n"
    )


def _paths(node: Node, path: str) -> Iterator[tuple[str, str]]:
    """The name of each tensor, and the expression that gives it."""
    if isinstance(node, Leaf):
        yield node.name, path
    elif isinstance(node, Items):
        for number, each in enumerate(node.items):
            yield from _paths(each, f"{path}[{number}]")
    elif isinstance(node, Entries):
        for key, each in zip(node.keys, node.items, strict=True):
            yield from _paths(each, f"{path}[{key!r}]")


def _results(tree: Node, specs: Sequence[CaseSpec], paths: Mapping[str, str]) -> list[str]:
    """The results of a module, which the suite wraps in a tuple."""
    nodes = tree.items if isinstance(tree, Items) else (tree,)
    return [_value(each, specs, paths) for each in nodes]


def _value(node: Node, specs: Sequence[CaseSpec], paths: Mapping[str, str]) -> str:
    if isinstance(node, Leaf):
        return _zeros(node, specs, paths)
    if isinstance(node, Items):
        items = [_value(each, specs, paths) for each in node.items]
        if node.kind == "list":
            return f"[{', '.join(items)}]"
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(node, Entries):
        pairs = zip(node.keys, node.items, strict=True)
        return "{" + ", ".join(f"{key!r}: {_value(each, specs, paths)}" for key, each in pairs) + "}"
    return repr(node.value)


def _zeros(leaf: Leaf, specs: Sequence[CaseSpec], paths: Mapping[str, str]) -> str:
    forms = [_form(leaf, each) for each in specs]
    place = forms[0].buffer
    if place in paths:  # memory that the caller gave
        return f"{paths[place]}.zero_()"
    if leaf.view or leaf.kind != "tensor" or len({each.dtype for each in forms}) > 1:
        raise UsageError(f"the type of {leaf.name} has no starter; write the submission by hand")
    extents = [
        _extent(leaf.name, number, [each.shape[number] for each in forms], specs, paths)
        for number in range(len(forms[0].shape))
    ]
    dtype = _TORCH.get(forms[0].dtype, forms[0].dtype)
    device = next((f"{path}.device" for path in paths.values()), '"cuda"')
    comma = "," if len(extents) == 1 else ""
    return f"torch.zeros(({', '.join(extents)}{comma}), dtype=torch.{dtype}, device={device})"


def _form(leaf: Leaf, spec: CaseSpec) -> Form:
    assert spec.returns is not None
    names = [name for name, _ in _paths(spec.returns.tree, "")]
    if leaf.name not in names:
        raise UsageError("the results of the test cases differ in structure; write the submission by hand")
    return spec.returns.results[names.index(leaf.name)]


def _extent(
    result: str, number: int, wanted: Sequence[int], specs: Sequence[CaseSpec], paths: Mapping[str, str]
) -> str:
    """The length of a dimension in each case, as an expression. The larger cases are not among `specs`, so an input's
    length is better than a number."""
    lengths: dict[str, list[int]] = {}
    for name, path in paths.items() if len(specs) > 1 else ():
        shapes = [_buffer(name, each).shape for each in specs]
        for place in sorted(range(min(map(len, shapes))), key=lambda place: place != number):
            lengths[f"{path}.shape[{place}]"] = [shape[place] for shape in shapes]
    for expression, given in lengths.items():
        if given == list(wanted):
            return expression
    if len(set(wanted)) == 1:
        return str(wanted[0])
    for expression, given in lengths.items():
        if factor := _quotient(given, wanted):
            return f"{expression} // {factor}"
        if factor := _quotient(wanted, given):
            return f"{expression} * {factor}"
    raise UsageError(
        f"dimension {number} of {result} is {', '.join(map(str, wanted))} in the test cases, and no multiple or part "
        "of a dimension of the inputs; write the submission by hand"
    )


def _quotient(numbers: Sequence[int], divisors: Sequence[int]) -> int:
    """The quotient that all numbers have; 0 if they differ."""
    if 0 in divisors or any(number % divisor for number, divisor in zip(numbers, divisors, strict=True)):
        return 0
    quotients = {number // divisor for number, divisor in zip(numbers, divisors, strict=True)}
    return quotients.pop() if len(quotients) == 1 else 0


def _buffer(name: str, spec: CaseSpec) -> Buffer:
    return next(each for each in spec.buffers if each.name == name)
