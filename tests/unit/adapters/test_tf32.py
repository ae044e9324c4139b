"""KernelBench's references convolve in TF32 on GPUs, and run recurrent layers in it.

The tolerance has room for that, and for little more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchguard.adapters import load_suite
from benchguard.adapters.tf32 import PRODUCTS, rounded_to_tf32, tf32_operators
from benchguard.judge.compare import compare
from benchguard.judge.formats import FLOATS, FloatFormat, rounded
from benchguard.judge.reference import expected_of
from benchguard.judge.slack import allow_for, baseline_of, widened
from benchguard.problem.arrays import to_torch

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import (  # noqa: E402 - after the check for torch
    TorchDispatchMode,
    _get_current_dispatch_mode,
)

GIVEN = Path(__file__).parent / "given"
CONVOLUTION, LINEAR = GIVEN / "kernelbench_convolution.py", GIVEN / "kernelbench_linear.py"
RECURRENT = GIVEN / "kernelbench_recurrent.py"
TF32 = FloatFormat(11, -126, FLOATS["float32"].largest)
FORBIDDEN = "torch.backends.cudnn.flags(enabled=True, allow_tf32=False)"

Rounding = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def torch_defaults() -> Iterator[None]:
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=True):
        yield


def opened(path: Path) -> Any:
    return load_suite(str(path), "kernelbench", {"device": "cpu"}).cases[0]


def changed(folder: Path, old: str, new: str) -> Path:
    text = CONVOLUTION.read_text()
    assert old in text
    file = folder / "problem.py"
    file.write_text(text.replace(old, new))
    return file


def wrong(case: Any, answer: Callable[[Any, Any], Any]) -> int:
    """Wrong elements of answer(model, input), which a grade compares by the tolerances of the input set."""
    inputs = case.inputs(7, "own")
    expected, factors = allow_for(case, baseline_of(case, inputs), expected_of(case, inputs))
    with torch.no_grad():
        result = answer(case.problem.model, to_torch(inputs["input0"], "cpu"))
    tolerance = widened(case.tolerances, factors)["result0"]
    return compare(result.numpy().reshape(-1), expected["result0"], "float32", tolerance).wrong


def factors_of(case: Any) -> dict[str, float]:
    inputs = case.inputs(7, "own")
    return allow_for(case, baseline_of(case, inputs), expected_of(case, inputs))[1]


def to_tf32(tensor: Any) -> Any:
    return torch.from_numpy(rounded(tensor.double().numpy(), TF32)).float()


def convolved(operands: Rounding) -> Callable[[Any, Any], Any]:
    def answer(model: Any, value: Any) -> Any:
        layer = model.layer
        return torch.conv_transpose2d(operands(value), operands(layer.weight.detach()), layer.bias)

    return answer


def summed_in_float16(model: Any, value: Any) -> Any:
    """Adds the products in float16, one input channel and one weight of the window after the other."""
    weight, (height, width) = model.layer.weight.half(), value.shape[2:]
    total = torch.zeros(len(value), 16, height + 4, width + 4, dtype=torch.float16)
    for channel in range(32):
        for y in range(5):
            for x in range(5):
                products = value.half()[:, channel, None] * weight[channel, :, y, x, None, None]
                total[:, :, y : y + height, x : x + width] += products
    return total.float() + model.layer.bias[:, None, None]


def test_tf32_convolution_is_right() -> None:
    case = opened(CONVOLUTION)
    assert wrong(case, convolved(to_tf32)) == 0
    assert wrong(case, convolved(lambda tensor: tensor)) == 0, "an honest float32 answer"
    assert wrong(case, convolved(lambda tensor: tensor.half().float())) == 0, (
        "as many significant bits as TF32"
    )


def test_tf32_convolution_is_wrong_where_tf32_is_off() -> None:
    case = opened(CONVOLUTION)
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        assert wrong(case, convolved(to_tf32)) > 100
        assert factors_of(case) == {}


def test_lower_precision_than_tf32_is_wrong() -> None:
    case = opened(CONVOLUTION)
    assert wrong(case, summed_in_float16) > 100
    assert wrong(case, convolved(lambda tensor: tensor.bfloat16().float())) > 100


def test_matrix_product_keeps_its_tolerance() -> None:
    case = opened(LINEAR)
    inputs = case.inputs(7, "own")
    assert factors_of(case) == {}
    plain = case.results(inputs, wide=False)["result0"]
    assert torch.equal(case.baseline(inputs)["result0"], plain)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from torch import nn\n", "from torch import nn\ntorch.backends.cudnn.allow_tf32 = False\n"),
        ("from torch import nn\n", "from torch import nn\ntorch.backends.cudnn.enabled = False\n"),
        ("        return self.layer(x)", f"        with {FORBIDDEN}:\n            return self.layer(x)"),
        (
            "return self.layer(x)",
            "return torch.conv_transpose2d(x.double(), self.layer.weight.double()).float()",
        ),
        ("nn.ConvTranspose2d(in_channels, out_channels, kernel_size)", "nn.Conv2d(32, 64, 5, groups=32)"),
    ],
    ids=["off_at_import", "without_cudnn", "off_in_forward", "float64", "depthwise"],
)
def test_convolution_in_another_precision_keeps_its_tolerance(tmp_path: Path, old: str, new: str) -> None:
    """A depthwise convolution runs in torch's own kernel, which has no TF32."""
    case = opened(changed(tmp_path, old, new))
    assert factors_of(case) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return self.layer(x)", "return self.layer(input=x)"),
        ("    def forward", "    @torch.inference_mode()\n    def forward"),
        ("    def forward", "    @torch.enable_grad()\n    def forward"),
        ("self.layer = nn.ConvTranspose2d(", "self.layer = nn.Conv2d("),
        (
            "return self.layer(x)",
            "return torch.conv2d(x.to(memory_format=torch.channels_last), self.layer.weight[:, :1], groups=32)",
        ),
        ("return self.layer(x)", "return torch.stack([self.layer(each) for each in x])"),
        ("nn.ConvTranspose2d(in_channels, out_channels, kernel_size)", "nn.ConvTranspose2d(32, 32, 5, groups=32)"),
        ("return self.layer(x)", "return self.layer(x) + torch.zeros(1) @ torch.zeros(1)"),
    ],
    ids=[
        "keyword",
        "inference_mode",
        "with_gradients",
        "not_transposed",
        "depthwise_channels_last",
        "not_batched",
        "grouped_and_transposed",
        "not_in_float64",
    ],
)  # fmt: skip
def test_convolution_of_any_form_has_room_for_tf32(tmp_path: Path, old: str, new: str) -> None:
    case = opened(changed(tmp_path, old, new))
    assert factors_of(case)["result0"] > 1.5


def test_float32_that_expected_gives_already_has_no_baseline(tmp_path: Path) -> None:
    """Without a convolution in TF32 and in float64, a second run of the reference gives the same."""
    case = opened(changed(tmp_path, "self.layer(x)", "x @ torch.ones(24, 24)"))
    inputs = case.inputs(7, "own")
    case.expected(inputs)
    assert case.baseline(inputs) == {}


@pytest.mark.parametrize(("problem", "watched"), [(LINEAR, [True, False]), (CONVOLUTION, [True, True])])
def test_reference_without_tf32_is_watched_in_one_run_only(
    monkeypatch: pytest.MonkeyPatch, problem: Path, watched: list[bool]
) -> None:
    case = opened(problem)
    results, seen = type(case).results, []

    def watch(case: Any, inputs: Any, wide: bool) -> Any:
        seen.append(_get_current_dispatch_mode() is not None)
        return results(case, inputs, wide)

    monkeypatch.setattr(type(case), "results", watch)
    inputs = case.inputs(7, "own")
    assert case.baseline(inputs).keys() == case.baseline(inputs).keys()
    assert seen == watched


def test_reference_that_asserts_float32_runs_once_for_each_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = opened(changed(tmp_path, "self.layer(x)", "x @ torch.ones(24, 24)"))
    inputs = case.inputs(7, "own")
    case.expected(inputs)
    case.baseline(inputs)
    monkeypatch.setattr(type(case), "results", lambda *_: pytest.fail("ran again"))
    assert case.baseline(inputs) == {}


def test_operands_rounded_to_nearest_even() -> None:
    bits = torch.tensor(
        [0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F803000, 0x3FFFF000, 0x00001800, 0x7F800000, 0x7FC00001],
        dtype=torch.int32,
    )
    nearest = [0x3F800000, 0x3F800000, 0x3F802000, 0x3F804000, 0x40000000, 0x00002000, 0x7F800000, 0x7FC00001]
    values = bits.view(torch.float32)
    assert rounded_to_tf32(values).view(torch.int32).tolist() == nearest
    assert torch.equal(rounded_to_tf32(-values[:7]), -rounded_to_tf32(values[:7]))
    drawn = torch.randn(1000, generator=torch.Generator().manual_seed(1))
    assert torch.equal(rounded_to_tf32(drawn), to_tf32(drawn))


def test_bias_stays_in_float32() -> None:
    bias = torch.tensor([1 + 2**-20], dtype=torch.float32)
    with tf32_operators() as mode, torch.no_grad():
        result = torch.conv2d(torch.zeros(1, 1, 3, 3), torch.zeros(1, 1, 3, 3), bias)
    assert mode.rounded == 1
    assert np.array_equal(result.numpy().reshape(-1), bias.numpy())


def recurrent(folder: Path, kind: str, decorator: str = "") -> Any:
    file = folder / "problem.py"
    text = RECURRENT.read_text().replace('"LSTM"', f'"{kind}"')
    file.write_text(text.replace("    def forward", f"{decorator}    def forward"))
    return opened(file)


def stepped(kind: str, operands: Rounding) -> Callable[[Any, Any], Any]:
    """Runs the layers step by step, with operands of all products rounded."""

    def step(given: Any, kept: Any, cell: Any) -> tuple[Any, Any]:
        if kind == "RNN":
            return (given + kept).tanh(), cell
        if kind == "LSTM":
            enter, forget, update, leave = (given + kept).chunk(4, 1)
            cell = forget.sigmoid() * cell + enter.sigmoid() * update.tanh()
            return leave.sigmoid() * cell.tanh(), cell
        (reset, keep, new), (reset_kept, keep_kept, new_kept) = given.chunk(3, 1), kept.chunk(3, 1)
        share = (keep + keep_kept).sigmoid()
        return (1 - share) * (new + (reset + reset_kept).sigmoid() * new_kept).tanh() + share * cell, cell

    def answer(model: Any, value: Any) -> Any:
        for number in range(2):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            enter, keep, bias, kept_bias = (getattr(model.layer, f"{each}_l{number}") for each in names)
            state = cell = torch.zeros(len(value), keep.shape[1])
            states = []
            for at in range(value.shape[1]):
                given = operands(value[:, at]) @ operands(enter).T + bias
                kept = operands(state) @ operands(keep).T + kept_bias
                state, cell = step(given, kept, state if kind == "GRU" else cell)
                states.append(state)
            value = torch.stack(states, 1)
        return value

    return answer


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layer_in_inference_mode_has_room_for_tf32(tmp_path: Path, kind: str) -> None:
    """Inference mode shows whole layers to a dispatch mode, not their products."""
    case = recurrent(tmp_path, kind, "    @torch.inference_mode()\n")
    assert factors_of(case)["result0"] > 1.5


def test_operands_on_another_device_are_rounded() -> None:
    """The device "meta" stands for a GPU, where NVIDIA_TF32_OVERRIDE of the judge forbids TF32."""

    class Seen(TorchDispatchMode):  # type: ignore[misc]
        cudnn: frozenset[bool] = frozenset()

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if str(function.overloadpacket).removeprefix("aten.") in PRODUCTS:
                self.cudnn |= {torch.backends.cudnn.enabled}
            return function(*args, **(kwargs or {}))

    with torch.device("meta"):
        layer, convolution = torch.nn.GRU(8, 8), torch.nn.Conv2d(1, 1, 3)
        values, picture = torch.zeros(3, 2, 8), torch.zeros(1, 1, 8, 8)
    with Seen() as seen, tf32_operators() as mode, torch.no_grad():
        convolution(picture)
        assert mode.rounded == 1
        layer(values)
    assert mode.rounded > 1
    assert seen.cudnn == {False}, "cuDNN would compute the whole layer, which no mode can round"
    assert torch.backends.cudnn.enabled


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layer_has_room_for_tf32_and_not_for_bfloat16(tmp_path: Path, kind: str) -> None:
    case = recurrent(tmp_path, kind)
    assert factors_of(case)["result0"] > 1.5
    assert wrong(case, stepped(kind, lambda tensor: tensor)) == 0
    assert wrong(case, stepped(kind, to_tf32)) == 0
    assert wrong(case, stepped(kind, lambda tensor: tensor.bfloat16().float())) > 100


def test_recurrent_layer_keeps_its_tolerance_where_tf32_is_off(tmp_path: Path) -> None:
    case = recurrent(tmp_path, "LSTM")
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        assert factors_of(case) == {}
        assert wrong(case, stepped("LSTM", to_tf32)) > 100


def test_single_cell_and_product_after_a_layer_stay_in_float32() -> None:
    cell, layer, matrix = torch.nn.LSTMCell(8, 8), torch.nn.GRU(8, 8), torch.randn(8, 8)
    with tf32_operators() as mode, torch.no_grad():
        cell(matrix)
        assert mode.rounded == 0
        layer(matrix)
        count = mode.rounded
        assert count > 0
        assert torch.equal(matrix @ matrix, torch.mm(matrix, matrix))
        assert mode.rounded == count
