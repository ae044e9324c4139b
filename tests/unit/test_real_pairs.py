"""The runner for folders of real pairs: manifests, own references as submissions, deadlines, tables."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchguard.adapters import load_suite
from tests.conftest import ROOT
from tests.device import alarms, cost, real, references
from tests.device.batches import Batch
from tests.device.grading import Outcome, grade_pair
from tests.device.outcome_tables import by_form, unexpected
from tests.device.own_answers import NoReferenceError, submission_of
from tests.device.pairs import ManifestError, Pair, read_manifest
from tests.unit.adapters import tasks

EXAMPLES = ROOT / "examples" / "problems"
CHALLENGE = ROOT / "tests" / "unit" / "adapters" / "given" / "leetgpu_scale" / "challenge.py"
PTX = {
    "id": "add", "form": "own", "problem": "vector_add.py", "submission": "submissions/vector_add/kernel.ptx",
    "options": {"case": ["small"], "samples": 12},
}  # fmt: skip
TENSARA = """\
import torch
from problem import Problem


class Doubled(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "out", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="doubled")

    def reference_solution(self, x):
        return x * 2

    def generate_test_cases(self):
        dtype = self.param_dtype(0)
        seed = Problem.get_seed("doubled")
        make = lambda: (torch.rand(8, dtype=dtype, generator=torch.Generator().manual_seed(seed)),)
        return [{"name": "small", "create_inputs": make}]

    def get_extra_params(self, test_case):
        return [8]
"""


def manifest(folder: Path, *entries: object) -> Path:
    path = folder / "manifest.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in entries))
    return path


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answer_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(form: str, verdict: str, expected: str = "pass", good: bool = True) -> Outcome:
    return Outcome(form + verdict, form, expected, verdict, f"{verdict} | because", good, wall_s=5, own_s=2)


def test_manifest_pairs_become_command_lines(tmp_path: Path) -> None:
    (pair,) = read_manifest(
        manifest(tmp_path, {**PTX, "options": {**PTX["options"], "inline": True, "network": False}})
    )  # type: ignore[dict-item]
    assert pair.arguments() == [
        "--adapter", "problem", "--case", "small", "--samples", "12", "--inline",
    ]  # fmt: skip


def test_manifest_in_toml_is_read(tmp_path: Path) -> None:
    pytest.importorskip("tomllib", reason="Python 3.10 has no TOML")
    path = tmp_path / "manifest.toml"
    path.write_text('[[pair]]\nid = "a"\nform = "gpumode"\nproblem = "p"\nsubmission = "reference"\n')
    assert read_manifest(path) == [Pair("a", "gpumode", "p", "reference")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": "kaggle"}, "form is 'kaggle'"),
        ({"expected": "great"}, "expected is 'great'"),
        ({"expected": "wrong"}, "wrong is expected; give why"),
        ({"problem": ""}, "give problem"),
        ({"colour": "red"}, "unknown key colour"),
        ({"options": []}, "options must be an object"),
    ],
)
def test_manifest_with_a_mistake_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(ManifestError, match=rf":2: {message}"):
        read_manifest(manifest(tmp_path, {**PTX, "id": "other"}, {**PTX, **change}))


def test_manifest_with_one_id_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="two pairs have the id add"):
        read_manifest(manifest(tmp_path, PTX, PTX))


def test_shards_and_patterns_choose_each_pair_once() -> None:
    pairs = [Pair(name, form, "p", "s") for name, form in (("a1", "own"), ("a2", "own"), ("b", "leetgpu"))]
    assert [[each.id for each in real.sharded(pairs, f"{index}/2")] for index in (0, 1)] == [
        ["a1", "b"],
        ["a2"],
    ]
    assert [each.id for each in pairs if real.is_chosen(each, ["leetgpu", "*1"])] == ["a1", "b"]
    with pytest.raises(ValueError, match="I below N"):
        real.sharded(pairs, "2/2")


def test_reference_of_a_gpu_mode_task_is_its_own_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    task = tasks.write_task(tmp_path, tasks.RETURNS)
    answer = submission_of(Pair("x", "gpumode", task.name, "reference"), task.parent, tmp_path / "scratch")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("reference", "helpers", "late"):  # modules of the task, for this test only
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        del sys.modules[name]
    one = torch.ones(2, 2)
    assert torch.equal(imported(answer).custom_kernel((one, one, 2.5)), one * 5)


@pytest.mark.filterwarnings("ignore:TF32")
def test_reference_in_bfloat16_is_judged_by_its_tasks_check(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = tasks.RETURNS.replace("(a + b) * factor", "((a + b) * factor).bfloat16()")
    task = tasks.write_task(tmp_path, text)
    options = argparse.Namespace(form="gpumode", sets=1)
    assert references.judged(task / "task.yml", options) == ("right", "by its own check")


def test_reference_of_a_leetgpu_challenge_is_its_own_answer(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    answer = submission_of(Pair("x", "leetgpu", CHALLENGE.name, "reference"), CHALLENGE.parent, tmp_path)
    (case,) = load_suite(str(CHALLENGE), "leetgpu", {"device": "cpu"}).cases
    inputs = case.inputs(7, "own")
    given = {name: torch.as_tensor(value).clone() for name, value in inputs.items()}
    given["out"] = torch.full_like(given["x"], float("nan"))
    names = ["x", "weights", "out", "seen", "factor", "n"]
    imported(answer).solve(
        *(given[name] if name in given else {"factor": 1.5, "n": 1000}[name] for name in names)
    )
    expected = case.expected(inputs)
    assert torch.allclose(given["out"].double(), torch.as_tensor(expected["out"]).double())


def test_reference_of_a_tensara_problem_is_its_own_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "problem", ModuleType("problem"))  # the answer replaces it
    (tmp_path / "def.py").write_text(TENSARA)
    assert load_suite(str(tmp_path / "def.py")).cases[0].spec.checked[0].name == "out"
    answer = submission_of(Pair("x", "tensara", "def.py", "reference"), tmp_path, tmp_path / "scratch")
    x, out = torch.arange(8.0), torch.full((8,), float("nan"))
    imported(answer).solution(x, out, 8)
    assert torch.equal(out, x * 2)


def test_starter_is_the_submission_of_its_language(tmp_path: Path) -> None:
    kernel = submission_of(Pair("x", "own", "vector_add.py", "starter"), EXAMPLES, tmp_path)
    assert kernel.suffix == ".cu" and "__global__ void kernel(" in kernel.read_text()
    pytest.importorskip("torch")
    module = submission_of(
        Pair("x", "kernelbench", "kernelbench_linear.py", "starter"), CHALLENGE.parents[1], tmp_path
    )
    assert module.suffix == ".py" and "class ModelNew(torch.nn.Module)" in module.read_text()


def test_size_of_a_tensara_case_needs_no_memory_for_it(tmp_path: Path) -> None:
    """4 TiB of inputs."""
    pytest.importorskip("torch")
    file = tmp_path / "doubled.py"
    file.write_text(TENSARA.replace("torch.rand(8,", "torch.rand(1 << 40,"))
    assert [each.input_bytes for each in load_suite(str(file), "problem", {}).cases] == [4 << 40]


def test_form_without_a_reference_is_not_run(tmp_path: Path) -> None:
    pair = Pair("x", "pygpubench", "tests.py:make", "reference")
    with pytest.raises(NoReferenceError, match="no reference of its own"):
        submission_of(pair, tmp_path, tmp_path)
    assert grade_pair(pair, tmp_path, tmp_path).verdict == "not run"


def test_honest_pair_passes_on_the_cpu_driver(tmp_path: Path, native: Path) -> None:
    del native
    graded = grade_pair(Pair(**PTX), EXAMPLES, tmp_path, driver="sim")  # type: ignore[arg-type]
    assert (graded.verdict, graded.good, graded.reason) == ("pass", True, "")
    assert 0 < graded.beyond_s < graded.wall_s and set(graded.medians_us) == {"small"}


def test_problem_that_cannot_be_opened_is_refused_with_its_line(tmp_path: Path) -> None:
    bad = Pair("x", "own", "missing.py", "vector_add.py", expected="refused", why="does not exist")
    graded = grade_pair(bad, EXAMPLES, tmp_path, driver="sim")
    assert (graded.verdict, graded.good) == ("refused", True)
    other = Pair("y", "own", "missing.py", "vector_add.py", expected="refused", why="is random")
    assert not grade_pair(other, EXAMPLES, tmp_path, driver="sim").good


def test_pairs_after_the_deadline_are_listed_as_not_run(tmp_path: Path) -> None:
    pairs = [Pair(name, "own", "p", "s") for name in "ab"]
    seen: list[Outcome] = []
    outcomes = Batch(tmp_path, tmp_path, deadline=0.0, jobs=2).run(pairs, seen.append)
    assert [(each.id, each.verdict) for each in outcomes] == [("a", "not run"), ("b", "not run")]
    assert len(seen) == 2 and not any(each.good for each in outcomes)


def test_table_counts_honest_passes_apart_from_expected_refusals() -> None:
    outcomes = [
        outcome("gpumode", "pass"),
        outcome("gpumode", "refused", expected="refused"),
        outcome("leetgpu", "wrong", good=False),
        outcome("leetgpu", "not run", good=False),
    ]
    rows = [[cell.strip() for cell in line.split("|")[1:]] for line in by_form(outcomes)[2:]]
    assert [row[:5] for row in rows] == [
        ["gpumode", "2/2", "1/1", "0", "3.00"],
        ["leetgpu", "0/1", "0/1", "1", ""],
        ["all", "2/3", "1/2", "1", "3.00"],
    ]
    assert unexpected(outcomes)[2:] == [
        "| leetgpu | leetgpuwrong | pass | wrong | wrong / because |",
        "| leetgpu | leetgpunot run | pass | not run | not run / because |",
    ]


def test_alarms_grade_every_example_in_turn() -> None:
    pairs = alarms.pairs_of(alarms.examples(), 70)
    assert len(pairs) == len({each.id for each in pairs}) == 70
    folders = [
        EXAMPLES / "submissions" / path.stem for path in EXAMPLES.glob("*.py") if path.stem != "declare"
    ]
    files = [
        path for folder in folders for path in folder.iterdir() if path.is_file() and path.suffix != ".hip"
    ]
    assert {each.submission for each in pairs} == {str(path.relative_to(EXAMPLES)) for path in files}


def test_cost_table_has_a_column_for_each_checkout_and_medians() -> None:
    costs = [
        cost.Cost("before", "softmax", "cuda", "pass", 9.0, 2.0, {}),
        cost.Cost("after", "softmax", "cuda", "pass", 4.0, 2.5, {}),
        cost.Cost("before", "softmax", "torch", "pass", 11.0, 2.0, {}),
        cost.Cost("after", "softmax", "torch", "wrong", 6.0, 2.5, {}),
    ]
    assert cost.table(costs, ["before", "after"])[2:] == [
        "| softmax | cuda | 9.00 | 7.00 | pass | 4.00 | 1.50 | pass |",
        "| softmax | torch | 11.00 | 9.00 | pass | 6.00 | 3.50 | wrong |",
        "| median |  | 10.00 | 8.00 |  | 5.00 | 2.50 |  |",
    ]
