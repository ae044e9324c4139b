"""A case of a GPU MODE task.

The reference's result is taken apart into tensors result0, result1, ... A submission's result may be in any memory:
in a tensor that `data` holds, or in new memory. Tensors of `data` that generate_input leaves uninitialised are
scratch memory; all others are inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from ..ipc.text import one_line
from ..problem import distributions as variants
from ..problem.arrays import NUMPY_DTYPES, Array, Bytes, dtype_of, shape_of, strides_of, to_numpy, to_torch
from ..problem.errors import ProblemError
from ..problem.returned import result_name
from ..problem.seeding import CheckSeeds, generator, seeded
from ..problem.spec import Argument, Buffer, CaseSpec, Form, FunctionCall, Returned, Role, Tolerance
from ..problem.tolerances import tolerance_of
from ..problem.tree import Items, Node, TreeError, Value, leaves
from ..problem.without_data import outlined
from .gpumode_task import Task
from .host import filling_memory, torch_module
from .pytree import Parts, laid_out, name_of_path, put_together, take_apart
from .values import argument_of, same_memory, seed_notes

FILLINGS = (0x5A, 0xA5)
"""Bytes that memory of torch.empty is filled with, in two draws: a tensor that shows both is uninitialised."""

LARGE_BYTES = 64 << 20
"""Inputs from this size are drawn on the device for references, also by calls that name no device. trimul has up
to 3.2 GB in a set, from a distribution that torch samples in one thread on a CPU."""


@dataclass(frozen=True)
class Template:
    """The structure of a case: of the arguments of the submission's functions, and of what the reference returns."""

    data: Node
    described: str
    result: Node
    arguments: tuple[Argument, ...]
    places: tuple[Form, ...]
    """The memory of each result of a submission that returns nothing."""
    unseeded: tuple[str, ...]
    zero: frozenset[str]
    """Those of them that are all zeros, as outputs are that the task fills."""


class GpuModeCase:
    """A suite.TestCase. Its inputs are drawn twice, and the reference runs once, to find their structure."""

    own_verdict = has_own_check = True

    def __init__(
        self, task: Task, name: str, arguments: Mapping[str, Any], distributions: tuple[str, ...]
    ) -> None:
        self.task, self.name, self.given, self.distributions = task, name, dict(arguments), distributions
        self.where = f"{task.path}: case {name}"
        self._is_large = True  # until the first draw shows its size
        self._check_seeds = CheckSeeds()

    @property
    def check_device(self) -> str:
        """torch's name of the device on which the task's check computes. It takes tensors there, too."""
        return self.task.device

    @property
    def input_bytes(self) -> int:
        return _bytes_of(outlined(lambda: self._drawn(None)))

    @cached_property
    def spec(self) -> CaseSpec:
        template = self._template
        inputs = [
            each
            for each in template.arguments
            if isinstance(each, Buffer) and each.is_read and each.name not in template.zero
        ]
        return CaseSpec(
            self.name,
            template.arguments,
            {name: str(value) for name, value in self.given.items()},
            calls=self._calls(template.data),
            returns=Returned(template.result, template.places),
            unseeded=template.unseeded,
            notes=seed_notes(inputs, template.unseeded),
        )

    @property
    def outline(self) -> CaseSpec:
        return self.spec

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        """The dtypes' defaults. They decide nothing, because the task's own check does."""
        return {each.name: tolerance_of(None, each.name, each.dtype) for each in self.spec.checked}

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        template, drawn = self._template, self._drawn(seed)
        if (drawn.tree, drawn.described) != (template.data, template.described):
            raise ProblemError(
                f"{self.where}: generate_input gives {template.described} for one seed and {drawn.described} "
                "for another; structure, shapes, dtypes and numbers may not depend on it"
            )
        found = {each.name: drawn.tensors[each.name] for each in self.spec.read}
        for name, value in found.items():
            if distribution != variants.OWN and name not in template.unseeded:
                found[name] = variants.transformed(to_numpy(value), distribution, seed, name)
        return found

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        result = self._apart(self._reference(self._data(inputs)))
        if list(result.tensors) != [each.name for each in self.spec.checked]:
            raise ProblemError(
                f"{self.where}: the reference returned {len(self.spec.checked)} tensors for one seed and "
                f"{len(result.tensors)} for another"
            )
        return result.tensors

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        del expected  # the task's check computes its own
        return self.verify_returned(inputs, self._template.result, actual)

    def verify_returned(
        self, inputs: Mapping[str, Array], tree: Node, actual: Mapping[str, Array]
    ) -> str | None:
        """Why the task's own check rejects a returned value; None if the check accepts it.

        A lack of memory is a reason, too, unless the check of the reference's result lacks memory. Raises ProblemError.
        """
        device = self.task.device

        def given() -> Any:
            return put_together(tree, {name: to_torch(each, device) for name, each in actual.items()})

        try:
            return self._check_seeds.ask(
                lambda output: self._rejection(self._data(inputs), output),
                given,
                lambda: self._reference(self._data(inputs)),
            )
        except ProblemError as error:
            self._rejection(self._data(inputs), self._reference(self._data(inputs)))
            return str(error)

    def check_reference(self) -> None:
        """Raises ProblemError if the reference does not pass as a submission, because its operators are random."""
        tensors = self._drawn(None).tensors
        with seeded(1):
            result = self._reference(self._data(tensors))
        with seeded(2):
            reason = self._rejection(self._data(tensors), result)
        if reason is not None:
            raise ProblemError(
                f"{self.where}: the reference does not pass its own check on device {self.task.device} ({reason}); "
                "a task whose operators are random cannot be graded"
            )

    def _reference(self, data: Any) -> Any:
        on_cpu = " (on the CPU, because torch finds no GPU here)" if self.task.device == "cpu" else ""
        with self.task.running(f"the reference{on_cpu}"):
            return self.task.form.reference(data)

    def _rejection(self, data: Any, output: Any) -> str | None:
        """The check's reason. An exception of the check is one too, but for a lack of memory."""
        try:
            with self.task.running("check_implementation"):
                reason = self.task.form.check(data, output)
        except ProblemError as error:
            if isinstance(error.__cause__, (MemoryError, torch_module().OutOfMemoryError)):
                raise
            reason = one_line(f"{type(error.__cause__).__name__}: {error.__cause__}")
        return None if reason is None else f"check_implementation: {reason}"

    def _drawn(self, secret: int | None, filling: int = FILLINGS[0]) -> Parts:
        """The arguments of the functions, from the file's seed or a secret one."""
        if self._is_large:
            with suppress(ProblemError), torch_module().device(self.task.device):
                return self._generated(secret, filling)
        return self._generated(secret, filling)

    def _generated(self, secret: int | None, filling: int) -> Parts:
        given = dict(self.given)
        if secret is not None and self.task.form.takes_seed:
            given["seed"] = int(generator(secret, "seed").integers(1 << 31))
        with seeded(secret), self.task.running("generate_input"), filling_memory(filling):
            data = self.task.form.generate(given)
        try:
            return take_apart(data, name_of_path, self.task.device)
        except TreeError as error:
            raise ProblemError(
                f"{self.where}: in data, {error}; give tensors, numbers, text, None, and tuples, lists and "
                "dictionaries of them"
            ) from error

    def _data(self, inputs: Mapping[str, Array]) -> Any:
        """Arguments of the functions: copies of the inputs, and scratch memory."""
        tensors = {}
        for each in self.spec.buffers:
            if each.role != "output":
                blank = np.zeros(each.shape, NUMPY_DTYPES[each.dtype])
                tensors[each.name] = laid_out(
                    inputs[each.name] if each.is_read else blank, each, self.task.device
                )
        return put_together(self._template.data, tensors)

    def _apart(self, result: Any) -> Parts:
        try:
            return take_apart(result, lambda number, _: result_name(number), self.task.device, sort=True)
        except TreeError as error:
            raise ProblemError(f"{self.where}: in the reference's result, {error}; return tensors") from error

    def _calls(self, data: Node) -> tuple[FunctionCall, ...]:
        names = self.task.form.functions
        if not names:
            return (FunctionCall((data,)),)
        assert isinstance(data, Items)
        pairs = zip(names, data.items, strict=True)
        return tuple(FunctionCall(each.items, name) for name, each in pairs if isinstance(each, Items))

    @cached_property
    def _template(self) -> Template:
        one = self._drawn(None)
        if self._is_large and _bytes_of(one) < LARGE_BYTES:
            self._is_large = False
            one = self._drawn(None)
        other = self._drawn(1, FILLINGS[1])
        roles: dict[str, Role] = dict.fromkeys(one.tensors, "input")
        unseeded = []
        for name in one.tensors.keys() & other.tensors.keys():
            pair = _bytes(one.tensors[name]), _bytes(other.tensors[name])
            if all(_is_filled(each, byte) for each, byte in zip(pair, FILLINGS, strict=True)):
                roles[name] = "scratch"
            elif np.array_equal(*pair):
                unseeded.append(name)
        result = self._apart(self._reference(put_together(one.tree, one.tensors)))
        if not result.tensors:
            raise ProblemError(f"{self.where}: the reference returns no tensor; return the result")
        outputs = [_buffer(name, tensor, "output", self.where) for name, tensor in result.tensors.items()]
        return Template(
            one.tree,
            one.described,
            result.tree,
            (*_arguments(one, roles, self.where), *outputs),
            tuple(_places(outputs, result, one, roles)),
            tuple(sorted(unseeded)),
            frozenset(name for name in unseeded if not _bytes(one.tensors[name]).any()),
        )


def _bytes_of(drawn: Parts) -> int:
    return sum(each.numel() * each.element_size() for each in drawn.tensors.values())


def _arguments(data: Parts, roles: Mapping[str, Role], where: str) -> Iterator[Argument]:
    """Buffers in order, and between them a scalar for each number directly in data, for functions in CUDA C++."""
    nodes = data.tree.items if isinstance(data.tree, Items) else (data.tree,)
    seen = set()
    for place, node in enumerate(nodes):
        if isinstance(node, Value) and isinstance(node.value, (int, float)):
            yield argument_of(f"input{place}", node.value, "input", where)
        for leaf in leaves(node):
            if leaf.name not in seen:
                seen.add(leaf.name)
                yield _buffer(leaf.name, data.tensors[leaf.name], roles[leaf.name], where)


def _places(
    outputs: Sequence[Buffer], result: Parts, data: Parts, roles: Mapping[str, Role]
) -> Iterator[Form]:
    """The memory of each result: the tensor of data that the reference returned, else scratch of its size, else its
    own."""
    tensors = list(result.tensors.values())
    held = [
        next((name for name, each in data.tensors.items() if same_memory(each, tensor)), "")
        for tensor in tensors
    ]
    free = [name for name, role in roles.items() if role == "scratch" and name not in held]
    for output, tensor, place in zip(outputs, tensors, held, strict=True):
        fitting = [name for name in free if data.tensors[name].numel() == tensor.numel()]
        name = place or next(iter(fitting), "")
        if not name:
            yield Form(output.name, output.dtype, output.shape)
            continue
        if name in free:
            free.remove(name)
        strides = strides_of(data.tensors[name])
        shape = output.shape if strides is None else shape_of(data.tensors[name])
        yield Form(name, dtype_of(data.tensors[name]), shape, strides)


def _bytes(tensor: Array) -> Bytes:
    return np.ascontiguousarray(to_numpy(tensor)).reshape(-1).view(np.uint8)


def _is_filled(data: Bytes, byte: int) -> bool:
    return bool(data.size and (data[:4096] == byte).all() and (data == byte).all())


def _buffer(name: str, tensor: Array, role: Role, where: str) -> Buffer:
    found = argument_of(name, tensor, role, where)
    assert isinstance(found, Buffer)
    return msgspec.structs.replace(found, strides=None) if role == "output" else found
