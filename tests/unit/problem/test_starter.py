"""Starter code: as the golden files have it, and so that its language's own parser takes it.

To write the golden files anew: python -m benchguard starter tests/unit/problem/given/every_type.py --lang LANG
"""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from benchguard.cli.main import cli, main
from benchguard.problem.c_types import C_TYPES
from benchguard.problem.errors import ProblemError
from benchguard.problem.load import load, opened, signature_of
from benchguard.problem.signature import Parameter
from benchguard.problem.spec import Buffer, CaseSpec, Outline, Scalar
from benchguard.problem.starter import Language, Size, starter
from benchguard.problem.starter_sizes import output_sizes
from tests.conftest import ROOT

from .written import GIVEN

GOLDEN = Path(__file__).parent / "starters"
LANGUAGES = get_args(Language)
EXAMPLES = ROOT / "examples" / "problems"
NAMES = ("adam", "matmul", "attention", "reduction", "histogram")
PROBLEMS = ("every_type", "gather", "tensara_seed", "tensara_current")


def text_of(problem: str, language: Language) -> str:
    if problem.startswith("tensara"):
        pytest.importorskip("torch")
    return starter(signature_of(*opened(str(GIVEN / f"{problem}.py"))), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_golden(language: Language) -> None:
    assert text_of("every_type", language) == (GOLDEN / f"{language}.txt").read_text()


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("language", [each for each in LANGUAGES if each not in ("cuda", "hip")])
def test_starter_python_parses(problem: str, language: Language) -> None:
    functions = [n for n in ast.parse(text_of(problem, language)).body if isinstance(n, ast.FunctionDef)]
    assert functions[-1].name == "solution"


def test_existing_starter_file_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    words = ["starter", str(GIVEN / "gather.py"), "-o", str(path)]
    with pytest.raises(SystemExit, match="0"):
        main(words)
    assert "result[i] = float{}" in path.read_text()
    path.write_text("my work")
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert path.read_text() == "my work"


@pytest.mark.parametrize(
    ("given", "text"),
    [('["x"]', "the parameter 'x' is not"), ("5", "get_function_signature failed: TypeError")],
)
def test_starter_of_invalid_parameters_with_dtype_fails_in_one_line(
    given: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.py"
    path.write_text(
        f"from benchguard import Problem\nclass P(Problem):\n    parameters = {given}\n"
        "    def __init__(self): super().__init__('p')\n    def reference_solution(self): ...\n"
        "    def generate_test_cases(self): return []\n"
    )
    with pytest.raises(ProblemError, match=text):
        cli.main(["starter", str(path), "--dtype", "float"], standalone_mode=False)


def test_starter_names_the_file_of_an_unexpected_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise KeyError("x")

    monkeypatch.setattr("benchguard.cli.starter.starter_of", fail)
    with pytest.raises(ProblemError, match=r"gather\.py: writing a template failed: KeyError: 'x'"):
        cli.main(["starter", str(GIVEN / "gather.py")], standalone_mode=False)


def test_names_of_parameters_are_not_used_twice() -> None:
    size_t = C_TYPES["size_t"]
    text = starter(
        [Parameter(name, size_t, name == "i", False) for name in ("i", "kernel", "threads")], "cuda"
    )
    assert "i[i_] = size_t{};" in text and "kernel_<<<(unsigned)((threads_ + 255)" in text


def sizes_of(cases: Sequence[CaseSpec]) -> dict[str, str]:
    """The expressions of sizes that need scalars only."""
    sizes = output_sizes(cases)
    assert all(each == Size(each.elements) for each in sizes.values())
    return {name: each.elements for name, each in sizes.items()}


def test_output_sizes_are_products_of_scalars_that_fit_all_cases() -> None:
    sizes = {
        name: sizes_of([each.spec for each in load(str(EXAMPLES / f"{name}.py")).cases]) for name in NAMES
    }
    assert sizes["adam"] == dict.fromkeys(("parameter", "first", "second"), "(size_t)n")
    assert sizes["matmul"] == {"c": "(size_t)m * (size_t)n"}
    assert sizes["attention"] == {"o": "(size_t)64 * (size_t)heads * (size_t)length"}
    assert sizes["reduction"] == {"sum": "1"}
    assert sizes["histogram"] == {"counts": "256"}


def test_size_of_a_square_has_its_factor_twice() -> None:
    def case(n: int, k: int) -> CaseSpec:
        buffer = Buffer("y", "float32", (n, n), "output")
        return CaseSpec("c", (buffer, Scalar("k", "int", k), Scalar("n", "int", n)))

    assert sizes_of([case(3, 4), case(5, 5), case(6, 4)]) == {"y": "(size_t)n * (size_t)n"}


@pytest.mark.parametrize(
    ("scalars", "elements", "size"),
    [
        (({"n": 10, "k": 3}, {"n": 100, "k": 7}), (8, 94), "((size_t)n - k + 1)"),
        (({"m": 10, "n": 3}, {"m": 100, "n": 7}), (13, 107), "((size_t)m + n)"),
        (({"n": 4}, {"n": 64}), (7, 127), "((size_t)n + n - 1)"),
        (({"b": 4, "t": 3}, {"b": 64, "t": 8}), (16, 576), "(size_t)b * ((size_t)t + 1)"),
        (
            ({"rows": 8, "columns": 9, "k": 3}, {"rows": 20, "columns": 30, "k": 5}),
            (6 * 7, 16 * 26),
            "((size_t)rows - k + 1) * ((size_t)columns - k + 1)",
        ),
        (
            ({"b": 2, "h": 64, "k": 7, "s": 4, "p": 3}, {"b": 3, "h": 100, "k": 3, "s": 2, "p": 1}),
            (2 * 16, 3 * 50),
            "(size_t)b * (((size_t)h + 2 * p - k) / s + 1)",
        ),
        (
            ({"h": 64, "k": 3, "s": 2, "p": 1, "d": 3}, {"h": 99, "k": 5, "s": 3, "p": 2, "d": 2}),
            (30, 32),
            "(((size_t)h + 2 * p - d * (k - 1) - 1) / s + 1)",
        ),
    ],
)
def test_size_may_be_a_sum_or_a_number_of_windows(
    scalars: tuple[dict[str, int], ...], elements: tuple[int, ...], size: str
) -> None:
    def case(count: int, values: dict[str, int]) -> CaseSpec:
        arguments = [Scalar(name, "int", value) for name, value in values.items()]
        return CaseSpec("c", (Buffer("y", "float32", (count,), "output"), *arguments))

    cases = [case(count, values) for count, values in zip(elements, scalars, strict=True)]
    assert sizes_of(cases) == {"y": size}


def test_size_may_be_a_part_of_a_number() -> None:
    cases = [
        CaseSpec("c", (Buffer("y", "float32", (n // 2,), "output"), Scalar("n", "int", n)))
        for n in (8, 20, 34)
    ]
    assert sizes_of(cases) == {"y": "(size_t)n / 2"}


def reduced(shape: tuple[int, ...], dim: int, kept: tuple[int, ...], *, on_host: bool) -> Outline:
    """A case that passes the shape of an input."""
    lengths = Buffer("shape", "int32", (len(shape),), "constant", on_host=on_host)
    scalars = (Scalar("dim", "int", dim), Scalar("ndim", "int", len(shape)))
    arguments = (Buffer("x", "float32", shape), Buffer("y", "float32", kept, "output"), lengths, *scalars)
    return Outline(str(shape), arguments, lengths={"shape": shape})


@pytest.mark.parametrize("on_host", [False, True])
def test_size_may_be_a_product_of_lengths_that_the_problem_passes(on_host: bool) -> None:
    shapes = ((4, 5, 6), 1), ((3, 7), 0), ((2, 3, 4, 5), 3)
    kept = [reduced(shape, dim, shape[:dim] + shape[dim + 1 :], on_host=on_host) for shape, dim in shapes]
    assert output_sizes(kept) == {"y": Size("product_of_lengths(shape, ndim, dim)", 24, on_host)}
    whole = [reduced(shape, dim, shape, on_host=on_host) for shape, dim in shapes]
    assert output_sizes(whole) == {"y": Size("product_of_lengths(shape, ndim, ndim)", 120, on_host)}
    other = [*kept[:2], reduced((2, 3, 4, 5), 3, (23,), on_host=on_host)]
    assert output_sizes(other) == {"y": Size("1")}


@pytest.mark.parametrize("problem", [pytest.param("every_type", marks=pytest.mark.full), "tensara_current"])
def test_starter_cuda_compiles(tmp_path: Path, problem: str) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("there is no nvcc")
    path = tmp_path / "starter.cu"
    path.write_text(text_of(problem, "cuda"))
    command = [nvcc, "-Werror", "all-warnings", "-c", str(path), "-o", str(tmp_path / "starter.o")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert result.returncode == 0, result.stderr
