"""How submissions are called, by a problem's files alone: the same as by the open problem, or unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.adapters import calling, load_suite
from benchguard.adapters.calling import Calling
from tests.conftest import ROOT
from tests.unit.adapters.tasks import BARE, HARNESS, PASSES, PASSES_YAML, RETURNS, YAML, write_task

pytest.importorskip("torch")
GIVEN = Path(__file__).parent / "given"
MODEL = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x

def get_init_inputs():
    return []

def get_inputs():
"""


def of_the_open_problem(spec: str) -> Calling:
    suite = load_suite(spec, "auto", {"device": "cpu"})
    return Calling(suite.entry, suite.convention, dict(suite.files))


@pytest.mark.parametrize(
    "problem",
    [ROOT / "examples" / "gpumode" / "rowscale", *sorted(GIVEN.iterdir())],
    ids=lambda each: each.name,
)
def test_problem_is_called_by_its_files_as_when_it_is_open(problem: Path) -> None:
    found = calling(str(problem))
    assert found is not None and found == of_the_open_problem(str(problem))


@pytest.mark.parametrize("reference", [RETURNS, BARE])
def test_task_with_one_function_is_called_by_its_files_as_when_it_is_open(
    tmp_path: Path, reference: str
) -> None:
    task = str(write_task(tmp_path, reference, YAML))
    found = calling(task)
    assert found is not None and found == of_the_open_problem(task)
    assert list(found.files) == ["helpers.py"]


def test_task_with_several_functions_is_unknown_before_it_is_open(tmp_path: Path) -> None:
    task = write_task(tmp_path, PASSES, PASSES_YAML)
    (task / "eval.py").write_text(HARNESS)
    assert calling(str(task)) is None and of_the_open_problem(str(task)).entry != "custom_kernel"


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("    return [torch.rand(4)]", True),
        ("    return (torch.rand(4),)", True),
        ("    return {'x': torch.rand(4)}", False),
        ("    values = [torch.rand(4)]\n    return values", False),
        ("    if len('x') == 2:\n        return {'x': torch.rand(4)}\n    return [torch.rand(4)]", False),
    ],
)
def test_kernelbench_file_is_known_before_it_is_open_if_its_inputs_are_written_out(
    tmp_path: Path, body: str, known: bool
) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL + body + "\n")
    found = calling(str(file))
    assert (found is not None) == known
    if found is not None:
        assert found == of_the_open_problem(str(file))


def test_generator_of_pygpubench_is_called_as_when_it_is_open() -> None:
    spec = f"{ROOT / 'examples' / 'pygpubench' / 'grayscale.py'}:generate_test_case"
    suite = load_suite(spec, "pygpubench", {"device": "cpu", "arguments": '{"size": 8}'})
    assert calling(spec, "pygpubench") == Calling(suite.entry, suite.convention, dict(suite.files))


@pytest.mark.parametrize("name", ["task.yml", "model.py", "nothing"])
def test_files_that_are_no_problem_are_left_to_the_opening(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("files: [")
    assert calling(str(tmp_path / name), "auto" if name != "nothing" else "gpumode") is None
