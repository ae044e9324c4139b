"""Tensara's own forms, of March 2025 and of now, word for word: `from problem import Problem`, device="cuda"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard.problem.load import load
from benchguard.problem.on_cpu import lies_on_host, on_cpu
from benchguard.problem.spec import Buffer, Scalar

from .written import GIVEN

torch = pytest.importorskip("torch")
CPU = {"device": "cpu"}


def test_seed_form_loads() -> None:
    small, large = load(str(GIVEN / "tensara_seed.py"), options=CPU).cases
    assert small.spec.arguments == (
        Buffer("A", "float32", (16,)),
        Buffer("B", "float32", (16,)),
        Buffer("output", "float32", (16,), "inout"),
        Scalar("extra0", "size_t", 16),
    )
    assert small.spec.flops == 16 and small.spec.moved_bytes is None
    assert small.spec.ignores_returned  # as Tensara's harness
    one, two = (large.inputs(seed, "own") for seed in (1, 2))
    assert not torch.equal(one["A"], two["A"]) and not torch.equal(one["A"], one["B"])
    expected = large.expected(one)["output"]
    assert expected.dtype == torch.float64
    assert torch.equal(expected, one["A"].double() + one["B"].double())
    actual = (one["A"] + one["B"]).numpy()
    assert large.own_verdict
    assert large.verify(one, {"output": expected}, {"output": actual}) is None
    reason = large.verify(one, {"output": expected}, {"output": actual + np.float32(1)})
    assert reason is not None and reason.startswith("verify_result: {'max_difference': 1.0")


@pytest.mark.parametrize("name", ["def.py", "problem.py"])
def test_problem_in_a_folder_loads_by_its_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text((GIVEN / "tensara_current.py").read_text())
    given = tmp_path if name == "def.py" else path
    assert [each.spec for each in load(str(given), options=CPU).cases] == [
        each.spec for each in load(str(GIVEN / "tensara_current.py"), options=CPU).cases
    ]


def test_seed_form_in_other_dtype() -> None:
    """C has no name for it: the signature says float32, which does not fit."""
    case = load(str(GIVEN / "tensara_seed.py"), options={**CPU, "dtype": "float16"}).cases[0]
    with pytest.raises(Exception, match="array of float16, its parameter a float"):
        _ = case.spec


def test_current_form_loads() -> None:
    rows, columns = load(str(GIVEN / "tensara_current.py"), options=CPU).cases
    assert columns.spec.arguments == (
        Buffer("input", "float16", (4, 8)),
        Scalar("dim", "int", 0),
        Buffer("values", "float16", (8,), "inout"),
        Buffer("places", "int32", (8,), "inout"),
        Buffer("shape", "int32", (2,), "constant", on_host=True),
        Scalar("ndim", "int", 2),
    )
    one, same, two = (rows.inputs(seed, "own") for seed in (1, 1, 2))
    assert torch.equal(one["input"], same["input"]) and not torch.equal(one["input"], two["input"])
    assert one["shape"].tolist() == [4, 8]
    expected = rows.expected(one)
    assert expected["values"].dtype == torch.float64
    assert expected["places"].tolist() == one["input"].float().argmax(1).tolist()
    right = {"values": one["input"].max(1).values, "places": expected["places"]}
    assert rows.verify(one, expected, right) is None
    reason = rows.verify(one, expected, {**right, "places": right["places"] + 1})
    assert reason == "verify_result: {'message': 'another maximum'}"
    ties = rows.inputs(1, "ties")
    assert len(np.unique(ties["input"])) <= 8 and ties["input"].dtype == np.float16
    assert rows.expected(ties)["places"].dtype == torch.int32


def test_outputs_of_tensara_form_begin_with_zeros() -> None:
    case = load(str(GIVEN / "tensara_current.py"), options=CPU).cases[0]
    inputs = case.inputs(1, "own")
    assert case.spec.unseeded == ("values", "places")
    for name, dtype in (("values", np.float16), ("places", np.int32)):
        assert inputs[name].dtype == dtype and inputs[name].shape == (4,) and not inputs[name].any()
    assert all(bool(each.any()) for each in case.expected(inputs).values())


def test_sample_case_only() -> None:
    (case,) = load(str(GIVEN / "tensara_current.py"), options={**CPU, "sample": "yes"}).cases
    assert case.spec.name == "sample"
    assert case.inputs(1, "own")["input"].shape == (2, 2)


def test_torch_settings_restored() -> None:
    generator = torch.Generator
    load(str(GIVEN / "tensara_current.py"), options=CPU).cases[0].inputs(1, "own")
    assert torch.Generator is generator
    assert torch.ones(1, requires_grad=True).exp().requires_grad


@pytest.mark.parametrize(
    ("made", "on_host"),
    [
        ("torch.tensor([4, 8])", True),
        ("torch.tensor([4, 8]).to(torch.int32) + 1", True),
        ('torch.tensor([4, 8], device="cuda")', False),
        ("torch.tensor([4, 8]).cuda()", False),
        ('torch.tensor([4, 8]).to("cuda:0")', False),
        ('torch.tensor([4, 8], device="cuda").to(torch.int32)', False),
        ('torch.tensor([4, 8], device="cuda") + 1', False),
        ("np.array([4, 8])", False),
    ],
)
def test_place_of_an_extra_parameter_is_known_without_a_gpu(made: str, on_host: bool) -> None:
    with on_cpu():
        array = eval(made, {"torch": torch, "np": np})
    assert lies_on_host(array) == on_host
