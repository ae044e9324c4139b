"""Run a reference with the convolutions and recurrent layers that torch has on an NVIDIA GPU: float32 operands
rounded to TF32.

The operands are rounded here on a GPU too: the judge forbids TF32 to NVIDIA's libraries (NVIDIA_TF32_OVERRIDE in
judge/process.py), so that a GPU has no other error than the CPU.

By default, torch lets cuDNN compute these in TF32, but multiplies float32 matrices in float32
(https://docs.pytorch.org/docs/stable/notes/cuda.html, "TensorFloat-32"). TF32 has float32's exponent and 10 explicit
bits of mantissa; sums are in float32. For KernelBench's level1/58 the CPU with these operands exceeds KernelBench's
tolerance in 29.7 % of the elements, and torch on an H200 in 29.6 %. Truncated operands would exceed it in 65 %.

torch's own kernels for depthwise convolutions of contiguous tensors do not use TF32. Nor do LSTMCell and its like,
which multiply matrices without cuDNN.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal

from ..problem.dispatch import dispatch_mode
from .host import torch_module

CONVOLUTIONS = frozenset(
    {"convolution", "_convolution"}
    | {f"conv{dimensions}d" for dimensions in (1, 2, 3)}
    | {f"conv_transpose{dimensions}d" for dimensions in (1, 2, 3)}
)
"""torch's operators. A dispatch mode sees `convolution`, or the others in inference mode and in traced modules."""

RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
"""torch's functions for whole layers, which cuDNN computes on a GPU."""

PRODUCTS = {
    "mm": ("self", "mat2"),
    "addmm": ("mat1", "mat2"),
    "bmm": ("self", "mat2"),
    "linear": ("input", "weight"),
}
"""The operands of the operators that a recurrent layer consists of on the CPU."""

DROPPED_BITS = 13
"""float32 has 23 explicit bits of mantissa, and TF32 has 10."""


def rounded_to_tf32(tensor: Any) -> Any:
    """Round float32 to the nearest TF32 number, ties to even."""
    torch = torch_module()
    bits = tensor.view(torch.int32)
    rounded = (bits >> DROPPED_BITS).bitwise_and_(1).add_((1 << (DROPPED_BITS - 1)) - 1).add_(bits)
    nearest = rounded.bitwise_and_(-(1 << DROPPED_BITS)).view(torch.float32)
    return torch.where(torch.isnan(tensor), tensor, nearest)  # a NaN could become another number


@contextmanager
def tf32_operators() -> Iterator[Any]:
    """A context in which convolutions and recurrent layers have rounded operands where cuDNN may use TF32.

    The attribute `rounded` of its value counts the operators.
    """
    rounding = _rounding()
    with _recurrent(rounding), rounding:
        yield rounding


def _rounding() -> Any:
    """A torch dispatch mode that rounds operands. Those of matrix products are rounded while `recurs` is true."""

    class Rounding(dispatch_mode()):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.rounded = 0
            self.recurs = False
            self.weights = Weights()

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            kwargs = dict(kwargs or {})
            operator = str(getattr(function, "overloadpacket", "")).removeprefix("aten.")
            if operator in CONVOLUTIONS or (self.recurs and operator in PRODUCTS):
                parameters = function._schema.arguments
                given = {each.name: each.default_value for each in parameters}
                given |= {each.name: value for each, value in zip(parameters, args, strict=False)} | kwargs
                operands = PRODUCTS.get(operator, ("input", "weight"))
                if _is_rounded(operator, [given[name] for name in operands], given):
                    self.rounded += 1
                    value, weight = operands
                    given[value] = rounded_to_tf32(given[value])
                    given[weight] = (self.weights if self.recurs else rounded_to_tf32)(given[weight])
                    args = [given[each.name] for each in parameters[: len(args)]]
                    kwargs = {name: given[name] for name in kwargs}
            elif self.recurs:  # in inference mode, whole layers get here
                with self:
                    result = function.decompose(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            return function(*args, **kwargs)

    return Rounding()


class Weights:
    """The rounded weights of a recurrent layer, which has the same ones in each step."""

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[Any, Any]] = {}

    def __call__(self, weight: Any) -> Any:
        key = (weight.data_ptr(), weight.shape, weight.stride())
        if key not in self._kept:
            self._kept[key] = weight, rounded_to_tf32(weight)  # kept, so that nothing else gets this address
        return self._kept[key][1]

    def forget(self) -> None:
        self._kept.clear()


def _recurrent(rounding: Any) -> Any:
    """A torch function mode that sets `recurs` during recurrent layers, and makes them of operators that modes see."""
    base = import_module("torch.overrides").TorchFunctionMode
    torch = torch_module()

    def call(
        mode: object, function: Any, types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        del mode, types
        if getattr(function, "__name__", "") not in RECURRENT or not _is_allowed("rnn"):
            return function(*args, **(kwargs or {}))
        cudnn = torch.backends.cudnn
        rounding.recurs, cudnn.enabled = True, False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of TF32 on Intel's GPUs
                with torch.backends.mkldnn.flags(enabled=False):
                    return function(*args, **(kwargs or {}))
        finally:
            rounding.recurs, cudnn.enabled = False, True
            rounding.weights.forget()

    return type("Recurrent", (base,), {"__torch_function__": call})()


def _is_rounded(operator: str, operands: Sequence[Any], given: Mapping[str, Any]) -> bool:
    if any(each.dtype != torch_module().float32 for each in operands):
        return False
    return operator in PRODUCTS or (_is_allowed("conv") and not _is_depthwise(operator, given))


def _is_allowed(kind: Literal["conv", "rnn"]) -> bool:
    """Whether cuDNN may use TF32 now. A problem can forbid it when it is imported, or in its forward."""
    cudnn = torch_module().backends.cudnn
    if hasattr(cudnn, kind):  # since torch 2.9; allow_tf32 fails if convolutions and RNNs differ
        return bool(cudnn.enabled and getattr(cudnn, kind).fp32_precision == "tf32")
    return bool(cudnn.enabled and cudnn.allow_tf32)


def _is_depthwise(operator: str, given: Mapping[str, Any]) -> bool:
    """Whether torch convolves with its own kernel for depthwise convolutions, in float32, instead of with cuDNN."""
    value, weight, groups = given["input"], given["weight"], given.get("groups", 1)
    transposed = given.get("transposed", operator.startswith("conv_transpose"))
    channels = value.shape[1 - weight.dim()]
    contiguous = value.is_contiguous() and weight.is_contiguous()
    return bool(
        not transposed
        and contiguous
        and groups > 1
        and channels == groups
        and weight.shape[0] % channels == 0
    )
