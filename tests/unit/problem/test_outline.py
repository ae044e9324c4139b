"""Outlines of cases: the shapes and dtypes of a specification, without the data of 1 TiB of inputs or outputs."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from benchguard.adapters import load_suite
from benchguard.cli.starter import text_of as written_starter
from benchguard.problem.load import load
from benchguard.problem.spec import Argument, Buffer, CaseSpec
from benchguard.problem.suite import TestCase as Case
from tests.unit.adapters.tasks import RETURNS, write_task

from .written import GIVEN

torch = pytest.importorskip("torch")
CPU = {"device": "cpu"}
HUGE = (1 << 19, 1 << 19)

TENSARA = """
import torch
from problem import Problem

class Written(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
    ]

    def __init__(self):
        super().__init__("written")

    def generate_test_cases(self):
        return [{"name": "one", "create_inputs": self.draw}]

    def verify_result(self, expected_output, actual_output):
        return torch.allclose(expected_output, actual_output), {}
"""


def tensara_case(folder: Path, body: str) -> Case:
    path = folder / "written.py"
    path.write_text(TENSARA + textwrap.indent(textwrap.dedent(body), "    "))
    (case,) = load(str(path), options=CPU).cases
    return case


def shapes(spec: CaseSpec | None) -> list[tuple[object, ...]]:
    assert spec is not None

    def described(each: Argument) -> tuple[object, ...]:
        return (each.name, each.shape, each.dtype, each.is_checked) if isinstance(each, Buffer) else (each,)

    return [described(each) for each in spec.arguments]


def test_outline_of_huge_inputs_needs_no_data(tmp_path: Path) -> None:
    case = tensara_case(
        tmp_path,
        """
        def draw(self):
            generator = torch.Generator(device="cuda").manual_seed(self.get_seed("x"))
            return (torch.rand((1 << 19, 1 << 19), device="cuda", generator=generator),)

        def reference_solution(self, x):
            return (x @ x).sum(dim=1)
        """,
    )
    assert shapes(case.outline) == [("x", HUGE, "float32", False), ("y", HUGE[:1], "float32", True)]


def test_outline_of_inputs_that_depend_on_values_runs_the_reference_without_data(tmp_path: Path) -> None:
    case = tensara_case(
        tmp_path,
        """
        def draw(self):
            mask = torch.arange(100) % 2 == 0
            return (torch.rand(100, device="cuda")[mask],)

        def reference_solution(self, x):
            return torch.ones((1 << 19, 1 << 19), device=x.device) * x.sum()
        """,
    )
    assert shapes(case.outline) == [("x", (50,), "float32", False), ("y", HUGE, "float32", True)]


READS_VALUES = """
def generate_test_cases(self):
    return [
        {"name": str(n), "n": n, "create_inputs": lambda n=n: (torch.rand((n, n), device="cuda"),)}
        for n in (512, 32)
    ]

def generate_sample(self):
    return {"name": "sample", "n": 2, "create_inputs": lambda: (torch.ones((2, 2)),)}

def get_extra_params(self, test_case):
    return [test_case["n"]]

def reference_solution(self, x):
    assert len(x) < 512
    return x * 2 if float(x.sum()) > 0 else x * 3
"""


def test_reference_that_reads_values_runs_on_small_cases_only(tmp_path: Path) -> None:
    number = """        {"name": "n", "type": "int", "pointer": False, "const": True},\n    ]\n"""
    path = tmp_path / "written.py"
    path.write_text(TENSARA.replace("    ]\n", number) + textwrap.indent(READS_VALUES, "    "))
    assert [case.outline for case in load(str(path), options=CPU).cases] == [None, None]
    text = written_starter(str(path), None, "")
    assert "if (i < (size_t)n * (size_t)n) y[i] = float{};" in text


@pytest.mark.parametrize("name", ["tensara_seed", "tensara_current", "gather"])
def test_outline_has_the_shapes_of_the_specification(name: str) -> None:
    for case in load(str(GIVEN / f"{name}.py"), options=CPU).cases:
        assert shapes(case.outline) == shapes(case.spec)


def test_outline_of_a_leetgpu_challenge_needs_no_data(tmp_path: Path) -> None:
    given = GIVEN.parents[1] / "adapters" / "given" / "leetgpu_scale" / "challenge.py"
    (case,) = load_suite(str(given), options=CPU).cases
    assert shapes(case.outline) == shapes(case.spec)
    text = given.read_text().replace("1000, 1.5, torch.empty(1000", "1 << 38, 1.5, torch.empty(1 << 38")
    (tmp_path / "challenge.py").write_text(text)
    (huge,) = load_suite(str(tmp_path), options=CPU).cases
    assert ("x", (1 << 38,), "float32", False) in shapes(huge.outline)


def test_input_bytes_of_a_leetgpu_challenge_need_no_reference(tmp_path: Path) -> None:
    """The reference of a public challenge took minutes for the performance test, to grade a functional one."""
    given = GIVEN.parents[1] / "adapters" / "given" / "leetgpu_scale" / "challenge.py"
    text = given.read_text()
    assert "out.copy_(" in text
    (tmp_path / "challenge.py").write_text(text.replace("out.copy_(", "undefined("))
    suite = load_suite(str(tmp_path), options={**CPU, "cases": "all"})
    assert {case.name: case.input_bytes for case in suite.cases} == {"performance": 8016, "functional.1": 336}


def test_input_bytes_of_a_gpumode_task_need_no_data(tmp_path: Path) -> None:
    folder = write_task(tmp_path, RETURNS)
    yaml = folder / "task.yml"
    yaml.write_text(yaml.read_text().replace('{"size": 24, "seed": 3}', '{"size": 262144, "seed": 3}'))
    suite = load_suite(str(folder), options={**CPU, "cases": "all"})
    assert max(case.input_bytes for case in suite.cases) == 2 * 4 * 262144**2
