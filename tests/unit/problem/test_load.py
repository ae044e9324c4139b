"""Loading problems from files, and one-line messages for mistakes in them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import benchguard
from benchguard.errors import BenchguardError, UsageError
from benchguard.problem.errors import ProblemError
from benchguard.problem.load import load, suite_of

from .written import GIVEN, HEAD, write

GATHER = str(GIVEN / "gather.py")


def test_load_by_path_and_by_name() -> None:
    for spec in (GATHER, f"{GATHER}:Gather"):
        suite = load(spec)
        assert (suite.name, suite.convention, suite.entry) == ("gather", "arguments", "solution")
        assert len(suite.cases) == 2


def test_load_problem_object() -> None:
    class Mine(benchguard.Problem):
        def reference_solution(self, x: object) -> object:
            return x

        def generate_test_cases(self) -> list[dict[str, object]]:
            return []

    with pytest.raises(ProblemError, match=r"test_load.py: .*neither parameters nor get_function_signature"):
        suite_of(Mine("mine"))


def test_problem_file_imports_its_folder(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("NAME = 'beside'\n")
    head = HEAD.replace('"written"', "NAME").replace(
        "import numpy", "from beside_it import NAME\nimport numpy"
    )
    path = write(tmp_path, "class Written(Base): pass", head)
    try:
        assert load(f"{path}:Written").name == "beside"
    finally:
        sys.modules.pop("beside_it")
    assert str(tmp_path) not in sys.path
    assert "problem" not in sys.modules


@pytest.mark.parametrize(
    ("spec", "options", "text"),
    [
        ("no-such.py", {}, "no such problem: no-such.py"),
        ("no-such.py:Name", {}, "no such problem: no-such.py"),
        (
            str(Path(GATHER).parent),
            {},
            "is a folder without def.py; give the path of the problem's Python file in it",
        ),
        (f"{GATHER}:Scatter", {}, "has no problem Scatter; it has Gather"),
        (GATHER, {"colour": "red"}, "unknown problem option 'colour'; options are device, dtype, sample"),
        (GATHER, {"device": "tpu"}, "device cannot be 'tpu'"),
        (GATHER, {"dtype": "float128"}, "invalid dtype 'float128'"),
    ],
)
def test_invalid_arguments_refused(spec: str, options: dict[str, str], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        load(spec, options=options)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", "has no problem; define a class that extends Problem"),
        ("def f(:", "problem.py:1: importing it failed: SyntaxError"),
        ("\n\nimport nothing_of_the_kind", "problem.py:3: importing it failed: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)", "problem.py:2: importing it failed: SystemExit: 3"),
        (
            "\nclass P(Problem):\n    pass",
            "problem.py:3: class P has no generate_test_cases and no reference_solution",
        ),
        (
            "class P(Whole): pass\nclass Q(Whole): pass",
            r"has 3 problems \(Whole, P, Q\); name one as .*:CLASS",
        ),
    ],
)
def test_invalid_file_reported(tmp_path: Path, source: str, text: str) -> None:
    """Files with these lines are refused."""
    head = "from benchguard import Problem\n" if "Problem" in source or "Whole" in source else ""
    if "Whole" in source:
        head += "class Whole(Problem):\n    def reference_solution(self): ...\n    def generate_test_cases(self): ...\n"
    path = tmp_path / "a_problem.py"
    path.write_text(head + source)
    before = set(sys.modules)
    with pytest.raises(BenchguardError, match=text) as excinfo:
        load(str(path))
    assert "Error" not in text or set(sys.modules) <= before
    assert excinfo.value.status == 2 and "\n" not in str(excinfo.value)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("def __init__(self): pass", "Written has no name"),
        ("def __init__(self, n): pass", r"Written\(\) failed: TypeError"),
        ("def generate_test_cases(self): return []", "gave no test case"),
        (
            "def generate_test_cases(self): return 1 / 0",
            r"written.py:\d+: generate_test_cases failed: ZeroDivision",
        ),
        (
            "def generate_test_cases(self): return [{'name': 'a'}]",
            "a test case is {'name': ..., 'create_inputs'",
        ),
        (
            "def generate_test_cases(self): return [{'name': 'a', 'create_inputs': self.draw_x}] * 2",
            "the test case name 'a' is empty or used twice",
        ),
        ("parameters = [{'name': 'x'}]", "is not {'name', 'type', 'pointer', 'const'}"),
        ("parameters = [buffer('x', 'quad')]", "parameter x has the type 'quad'; give float, double"),
        ("parameters = [buffer('lambda')]", "parameter 'lambda' is a word of Python or C"),
        ("parameters = [buffer('x y')]", "parameter 'x y' is not a C identifier"),
        ("parameters = [buffer('x'), buffer('x')]", "two parameters are named x"),
        ("parameters = None", "Written has neither parameters nor get_function_signature"),
        ("parameters = None; get_function_signature = lambda self: 3", "must return {'argtypes'"),
        (
            "parameters = None; get_function_signature = lambda self: {'argtypes': [int]}",
            "argument 0 of get_function_signature is <class 'int'>; give a number of ctypes",
        ),
    ],
)
def test_invalid_problem_reported(tmp_path: Path, body: str, text: str) -> None:
    path = write(tmp_path, f"class Written(Base):\n    {body}\n")
    with pytest.raises(ProblemError, match=text) as excinfo:
        load(f"{path}:Written")
    assert excinfo.value.status == 2 and "\n" not in str(excinfo.value)
