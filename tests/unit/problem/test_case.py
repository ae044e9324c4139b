"""A problem's test case: its specification, its inputs for a seed, and its expected outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard.problem.distributions import NAMES
from benchguard.problem.errors import ProblemError
from benchguard.problem.load import load
from benchguard.problem.spec import Buffer, CaseSpec, Scalar, Tolerance
from benchguard.problem.tolerances import EXACT

from .written import GIVEN, suite

GATHER = str(GIVEN / "gather.py")


def test_specification() -> None:
    small, large = load(GATHER).cases
    assert (small.name, large.name) == ("n=64", "n=1000")
    expected = CaseSpec(
        "n=64",
        (
            Buffer("table", "float32", (64,), "input"),
            Buffer("index", "int32", (64,), "input"),
            Scalar("scale", "float", float(np.float32(0.1))),
            Buffer("result", "float32", (64,), "output"),
            Scalar("n", "size_t", 64),
        ),
        {"n": "64"},
        64,
        512,
    )
    assert small.spec == expected
    assert small.distributions == NAMES
    assert small.tolerances.keys() == {"result"}
    assert not small.own_verdict


def test_other_seed_gives_other_values() -> None:
    case = load(GATHER).cases[1]
    for distribution in case.distributions:
        first, again, other = (case.inputs(seed, distribution) for seed in (1, 1, 2))
        for name in ("table", "index"):
            assert np.array_equal(first[name], again[name]), distribution
            assert not np.array_equal(first[name], other[name]), distribution
        assert first["index"].min() >= 0 and first["index"].max() < 1000
        assert first["table"].dtype == np.float32 and first["index"].dtype == np.int32


def test_reference_gets_float64_and_rounded_numbers() -> None:
    case = load(GATHER).cases[0]
    inputs = case.inputs(1, "own")
    values = {name: array.copy() for name, array in inputs.items()}
    expected = case.expected(inputs)["result"]
    assert expected.dtype == np.float64
    table = inputs["table"].astype(np.float64)
    assert np.array_equal(expected, table[inputs["index"]] * float(np.float32(0.1)))
    assert all(np.array_equal(values[name], inputs[name]) for name in values)


def test_seed_independent_inputs_redrawn_from_range(tmp_path: Path) -> None:
    """Tensara's create_inputs may seed itself from what never changes."""
    case = suite(
        tmp_path,
        """
        class Written(Base):
            parameters = [buffer("x", const=True), buffer("i", "int", True), buffer("y")]
            def draw_x(self):
                random = np.random.default_rng(7)
                return random.uniform(2, 3, 500).astype(np.float32), random.integers(5, 9, 500, np.int32)
            def reference_solution(self, x, i):
                return x * i
        """,
    ).cases[0]
    one, same, two = (case.inputs(seed, "own") for seed in (1, 1, 2))
    for name, low, high in (("x", 2, 3), ("i", 5, 8)):
        assert np.array_equal(one[name], same[name])
        assert not np.array_equal(one[name], two[name])
        assert low <= one[name].min() and one[name].max() <= high


def test_constant_valued_inputs_refused(tmp_path: Path) -> None:
    case = suite(
        tmp_path,
        """
        class Written(Base):
            def draw_x(self):
                return np.ones(8, np.float32)
        """,
    ).cases[0]
    with pytest.raises(ProblemError, match=r"do not depend on the seed.*draw them from Problem.get_seed"):
        case.inputs(1, "own")


def test_constants_equal_in_all_sets(tmp_path: Path) -> None:
    case = suite(
        tmp_path,
        """
        class Written(Base):
            parameters = [buffer("x", const=True), buffer("w", const=True), buffer("y")]
            constants = ("w",)
            def draw_x(self):
                random = np.random.default_rng(self.get_seed("x"))
                return random.random(100, np.float32), random.random(100, np.float32)
            def reference_solution(self, x, w):
                return x * w
        """,
    ).cases[0]
    assert [each.role for each in case.spec.buffers] == ["input", "constant", "output"]
    items = [case.inputs(seed, d) for seed in (1, 2) for d in ("own", "uniform")]
    assert len({each["w"].tobytes() for each in items}) == 1
    assert len({each["x"].tobytes() for each in items}) == 4


@pytest.mark.parametrize(
    "reference", ["x += y; y *= 2", "return x + y, y * 2"], ids=["written to", "returned"]
)
def test_in_place_inputs_checked(tmp_path: Path, reference: str) -> None:
    case = suite(
        tmp_path,
        f"""
        class Written(Base):
            parameters = [buffer("x"), buffer("y")]
            inplace = ("x", "y")
            def draw_x(self):
                random = np.random.default_rng(self.get_seed("x"))
                return random.random(100, np.float32), random.random(100, np.float32)
            def reference_solution(self, x, y):
                {reference}
        """,
    ).cases[0]
    assert [(each.name, each.role) for each in case.spec.buffers] == [("x", "inout"), ("y", "inout")]
    inputs = case.inputs(1, "own")
    expected = case.expected(inputs)
    assert np.array_equal(expected["x"], inputs["x"].astype(float) + inputs["y"])
    assert np.array_equal(expected["y"], inputs["y"].astype(float) * 2)


def test_tolerances_of_several_outputs(tmp_path: Path) -> None:
    case = suite(
        tmp_path,
        """
        class Written(Base):
            parameters = [buffer("x", const=True), buffer("value", "half"), buffer("place", "int")]
            outputs = ("value", "place")
            tolerances = {"value": (0.5, 0.25)}
            def reference_solution(self, x):
                return np.max(x, keepdims=True), np.argmax(x, keepdims=True)
        """,
    ).cases[0]
    assert [(each.name, each.dtype, each.shape) for each in case.spec.checked] == [
        ("value", "float16", (1,)),
        ("place", "int32", (1,)),
    ]
    assert case.tolerances == {"value": Tolerance(0.5, 0.25), "place": EXACT}
    inputs = case.inputs(1, "own")
    expected = case.expected(inputs)
    assert expected["place"].dtype == np.int32
    assert expected["value"][0] == inputs["x"][expected["place"][0]]


def test_declared_outputs_skip_reference_run(tmp_path: Path) -> None:
    case = suite(
        tmp_path,
        """
        class Written(Base):
            def get_outputs(self, test_case):
                return [((3, 4), "bfloat16")]
            parameters = [buffer("x", const=True), buffer("y", "bfloat16")]
            def reference_solution(self, x):
                raise RuntimeError("asked")
        """,
    ).cases[0]
    assert case.spec.checked == (Buffer("y", "bfloat16", (3, 4), "output"),)
    with pytest.raises(ProblemError, match="asked"):
        case.expected(case.inputs(1, "own"))


def test_native_reference_dtype(tmp_path: Path) -> None:
    body = """
        class Written(Base):
            reference_dtype = "native"
            def reference_solution(self, x):
                assert x.dtype == np.float32
                return x
        """
    case = suite(tmp_path, body).cases[0]
    assert case.expected(case.inputs(1, "own"))["y"].dtype == np.float32


def test_own_draw_method_used(tmp_path: Path) -> None:
    case = suite(
        tmp_path,
        """
        class Written(Base):
            distributions = ("own", "primes")
            def draw(self, test_case, seed, distribution):
                if distribution == "primes":
                    return (np.array([2, 3, 5, 7] * 64, np.float32) + seed,)
        """,
    ).cases[0]
    assert case.distributions == ("own", "primes")
    assert case.inputs(3, "primes")["x"][:2].tolist() == [5, 6]
    assert len(case.inputs(3, "own")["x"]) == 256
    with pytest.raises(ProblemError, match="draw returned nothing for the distribution 'evens'"):
        case.inputs(3, "evens")


def test_strided_inputs_keep_strides(tmp_path: Path) -> None:
    case = suite(
        tmp_path,
        """
        class Written(Base):
            def draw_x(self):
                return np.random.random((4, 6)).astype(np.float32).T
        """,
    ).cases[0]
    x, y = case.spec.buffers
    assert (x.shape, x.strides) == ((6, 4), (1, 6))
    assert (y.shape, y.strides) == ((6, 4), None)
    assert case.inputs(1, "own")["x"].shape == (6, 4)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("def reference_solution(self, x): return x[:3]", None),
        (
            "def reference_solution(self, x): return x / 0 if x[0] == None else x.nothing",
            "written.py:{}: .*AttributeError",
        ),
        ("def reference_solution(self, x): return 'y'", "output 0 of reference_solution is a str"),
        ("def reference_solution(self, x): return ()", "returned nothing"),
        (
            "def reference_solution(self, x): return x, x",
            "2 parameters .x, y., but 1 inputs, 2 outputs and 0",
        ),
        ("def reference_solution(self, x): return x.astype(complex)", "complex128"),
        ("def get_extra_params(self, tc): return [1]", "1 inputs, 1 outputs and 1 extra parameters are 3"),
        (
            "def get_extra_params(self, tc): return tc['n']",
            "written.py:{}: get_extra_params failed: KeyError",
        ),
        ("def get_flops(self, tc): return tc['n']", "get_flops or get_bytes failed: KeyError: 'n'"),
        ("inplace = ('z',)", "inplace names 'z', which is not an input; inputs are x"),
        ("constants = ('y',)", "constants names 'y'"),
        ("inplace = constants = ('x',)", "'x' is both in place and constant"),
        (
            "parameters = [buffer('x', const=True)]; inplace = ('x',)",
            "x, is in place, but its parameter is const",
        ),
        ("outputs = ('z',)", r"outputs = \['z'\], but the parameters after the inputs are \['y'\]"),
        ("def draw_x(self): return (3,)", "input 0, x, is a int, its parameter a float[*]"),
        (
            "def draw_x(self): return (np.ones(3, np.int32),)",
            "input 0, x, is an array of int32, its parameter a float",
        ),
        (
            "parameters = [buffer('x'), number('y')]",
            "output y is an array, but its parameter is not a pointer",
        ),
        ("parameters = [buffer('x'), buffer('y', const=True)]", "output y is const"),
        ("parameters = [number('x'), buffer('y')]", "input 0, x, is a ndarray, its parameter a size_t"),
        ("def get_outputs(self, tc): return 3", "get_outputs gave 3"),
        ("def get_outputs(self, tc): return [((3,), 'float128')]", "get_outputs has the dtype 'float128'"),
    ],
)
def test_mistakes_reported_in_one_line(tmp_path: Path, body: str, text: str | None) -> None:
    """`{}` is the line of it, as the file has it."""
    case = suite(tmp_path, f"class Written(Base):\n    {body}\n").cases[0]
    if text is None:
        assert case.spec.checked[0].shape == (3,)
        return
    with pytest.raises(ProblemError, match=text.format(r"\d+")) as excinfo:
        _ = case.spec
    assert "\n" not in str(excinfo.value) and str(tmp_path / "written.py") in str(excinfo.value)
    assert excinfo.value.status == 2


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "tolerances = {'z': (0, 0)}",
            r"tolerances has \['z'\]; give names of dtypes, or of the outputs \['y'\]",
        ),
        ("tolerances = 3", "the tolerance of y is 3"),
        ("def get_tolerances(self, tc): return tc['k']", "get_tolerances failed: KeyError"),
        ("distributions = ('own', 'cauchy')", "distributions = .*give some of own, uniform"),
        ("distributions = ()", "distributions"),
        ("distributions = 'own'", "distributions"),
    ],
)
def test_invalid_tolerances_and_distributions_refused(tmp_path: Path, body: str, text: str) -> None:
    case = suite(tmp_path, f"class Written(Base):\n    {body}\n").cases[0]
    with pytest.raises(ProblemError, match=text):
        _ = case.tolerances, case.distributions


def test_mistakes_on_other_inputs_reported(tmp_path: Path) -> None:
    bodies = {
        "draw_x": "def draw_x(self): return np.zeros(self.get_seed('x') % 1000, np.float32)",
        "reference_solution": "parameters = [buffer('x', const=True), buffer('y', 'int')]\n"
        "    def reference_solution(self, x): return (x * 1e12).astype(np.int64)\n"
        "    def get_outputs(self, tc): return [((256,), 'int')]",
    }
    case = suite(tmp_path, f"class Written(Base):\n    {bodies['draw_x']}\n").cases[0]
    assert case.spec.name == "small"
    with pytest.raises(ProblemError, match="shapes and dtypes may not depend on it"):
        case.inputs(1, "own")
    (tmp_path / "other").mkdir()
    case = suite(tmp_path / "other", f"class Written(Base):\n    {bodies['reference_solution']}\n").cases[0]
    with pytest.raises(ProblemError, match="its buffer is int32; they do not fit"):
        case.expected(case.inputs(1, "own"))


def test_verify_result_decides_without_tolerances(tmp_path: Path) -> None:
    body = """
        class Written(Base):
            {}
            def verify_result(self, expected_output, actual_output):
                assert expected_output.dtype == actual_output.dtype == np.float32
                return np.bool_((expected_output == actual_output).all()), {{"max_difference": 1}}
        """
    for number, (line, own) in enumerate(
        [("", True), ("tolerances = (0, 0)", False), ("own_verdict = False", False)]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        case = suite(folder, body.format(line)).cases[0]
        assert case.own_verdict is own
        inputs = case.inputs(1, "own")
        expected = case.expected(inputs)
        right = {"y": 2 * inputs["x"]}
        assert case.verify(inputs, expected, right) is None
        reason = case.verify(inputs, expected, {"y": right["y"] + 1})
        assert reason == "verify_result: {'max_difference': 1}"


def test_own_verdict_without_verify_result_is_refused(tmp_path: Path) -> None:
    """Without it all outputs would be right."""
    with pytest.raises(ProblemError, match="nothing would decide without a verify_result"):
        suite(tmp_path, "class Written(Base):\n    own_verdict = True\n")


@pytest.mark.parametrize("broken", [False, True])
def test_verify_result_that_raises_rejects_outputs_unless_right_outputs_make_it_raise(
    tmp_path: Path, broken: bool
) -> None:
    """A submission chooses its outputs, and must not turn a wrong result into a mistake of the problem."""
    body = f"""
        class Written(Base):
            def verify_result(self, expected_output, actual_output):
                np.zeros({0 if broken else 1000})[int(actual_output[0] - expected_output[0])]
                return bool((expected_output == actual_output).all()), {{}}
        """
    case = suite(tmp_path, body).cases[0]
    inputs = case.inputs(1, "own")
    expected = case.expected(inputs)
    wrong = {"y": np.full_like(2 * inputs["x"], np.nan)}
    if broken:
        with pytest.raises(ProblemError, match="verify_result failed: IndexError"):
            case.verify(inputs, expected, wrong)
        return
    assert case.verify(inputs, expected, {"y": 2 * inputs["x"]}) is None
    assert "verify_result failed: ValueError" in str(case.verify(inputs, expected, wrong))


def test_reference_that_does_not_run_in_float64_runs_in_the_kernels_dtype(tmp_path: Path) -> None:
    body = """
        class Written(Base):
            def reference_solution(self, x):
                assert x.dtype == np.float32
                return x
        """
    case = suite(tmp_path, body).cases[0]
    assert case.spec.checked == (Buffer("y", "float32", (256,), "output"),)
    assert case.expected(case.inputs(1, "own"))["y"].dtype == np.float32


def test_reference_that_says_float64_fails_in_it(tmp_path: Path) -> None:
    body = """
        class Written(Base):
            reference_dtype = "float64"
            def reference_solution(self, x):
                assert x.dtype == np.float32
                return x
        """
    case = suite(tmp_path, body).cases[0]
    with pytest.raises(ProblemError, match="on float64"):
        case.expected(case.inputs(1, "own"))


def test_reference_in_the_kernels_dtype_passes_its_own_check(tmp_path: Path) -> None:
    """A check without any tolerance: the float64 reference's rounding is not that of float32."""
    body = """
        class Written(Base):
            def reference_solution(self, x):
                return (x * np.float32(1e-3) + x * x).astype(x.dtype) ** 3
            def verify_result(self, expected_output, actual_output):
                return bool((expected_output == actual_output).all()), {}
        """
    case = suite(tmp_path, body).cases[0]
    inputs = {name: np.asarray(each) for name, each in case.inputs(1, "own").items()}
    expected = case.expected(inputs)
    x = inputs["x"]
    own = ((x * np.float32(1e-3) + x * x).astype(x.dtype)) ** 3
    assert not np.array_equal(own, expected["y"].astype(np.float32)), "the case tests nothing"
    assert case.verify(inputs, expected, {"y": own}) is None
    assert case.verify(inputs, expected, {"y": np.nextafter(own, np.float32(9))}) is not None


def test_size_of_inputs_known_without_reference(tmp_path: Path) -> None:
    """The smallest case is found by it, so it may not cost a run of the reference for each case."""
    case = suite(
        tmp_path,
        """
        class Written(Base):
            parameters = [buffer("x", const=True), buffer("y")]
            def reference_solution(self, x):
                raise RuntimeError("asked")
        """,
    ).cases[0]
    assert case.input_bytes > 0
    with pytest.raises(ProblemError, match="asked"):
        _ = case.spec
    small, large = load(GATHER).cases
    assert (small.input_bytes, large.input_bytes) == (512, 8000)
