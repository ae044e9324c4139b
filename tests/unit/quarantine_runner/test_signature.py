"""Parameters in mangled names, and arguments that do not fit them."""

from __future__ import annotations

import pytest

from benchguard.problem.spec import Argument, Buffer, Scalar
from benchguard.quarantine.runner.signature import misfit, parameters_of, spelled, written_parameters


@pytest.mark.parametrize(
    ("symbol", "types"),
    [
        ("solve", None),
        ("_Z5solvev", []),
        ("_Z5solvePKfPfi", ["const float*", "float*", "int"]),
        ("_Z5solvePKfS0_Pfi", ["const float*", "const float*", "float*", "int"]),
        ("_Z5solvejiiPc", ["unsigned int", "int", "int", "char*"]),
        (
            "_Z5solvePK6__halfS1_PS_mfd",
            ["const __half*"] * 2 + ["__half*", "unsigned long", "float", "double"],
        ),
        ("_Z5solvePPKvRi", ["const void**", "int&"]),
        ("_Z5solveP6__halfS_", None),  # a class by value
        ("_Z5solveS5_", None),
        ("_Z5solveP", None),
        ("_Z5solveSt6vectorIfSaIfEE", None),
        ("_Z6solve2i", None),
    ],
)
def test_parameters_of_a_mangled_name(symbol: str, types: list[str] | None) -> None:
    assert parameters_of(symbol, "solve") == types


@pytest.mark.parametrize(
    ("parameters", "types"),
    [
        ("", []),
        ("void", []),
        ("const float* __restrict__ x, float *y, int n", ["const float*", "float*", "int"]),
        (
            "float const *x, /* the factor, */ const float factor, size_t n = 8",
            ["float const*", "float", "unsigned long"],
        ),
        (
            "unsigned n, unsigned long long m, uint8_t b",
            ["unsigned int", "unsigned long long", "unsigned char"],
        ),
        ("float* x, cudaStream_t stream", None),
        ("float* x, FLOATS", None),
        ("int", None),
    ],
)
def test_parameters_of_a_definition(parameters: str, types: list[str] | None) -> None:
    source = f'// void solve(int) {{\nextern "C" void solve({parameters}) {{\n  solve_with(1);\n}}\n'
    assert written_parameters(source, "solve") == types


def test_definitions_that_a_compiler_chooses_from_tell_nothing() -> None:
    source = "#if A\nvoid solve(int n) {}\n#else\nvoid solve(float n) {}\n#endif\n"
    assert written_parameters(source, "solve") is None
    assert written_parameters("void solve(int n);", "solve") is None


GIVEN: tuple[Argument, ...] = (
    Buffer("x", "float32", (8,)),
    Buffer("y", "float32", (8,), "output"),
    Scalar("n", "int", 8),
    Scalar("factor", "float", 2.0),
)


@pytest.mark.parametrize(
    ("types", "wrong"),
    [
        (["const float*", "float*", "int", "float"], False),
        (["float", "const float*", "float*", "unsigned long"], False),
        (["unsigned long", "float*"], False),
        (["int", "float*"], True),
        (["const float*", "float*", "int*"], True),
        (["const float*", "float*", "int", "double"], True),
        (["const float*", "float*", "int", "int"], True),
        (["const float*", "float*", "int", "float", "float"], True),
    ],
)
def test_pointers_and_numbers_must_fit(types: list[str], wrong: bool) -> None:
    assert misfit(types, GIVEN) is wrong


def test_arguments_are_spelled_with_their_kinds() -> None:
    assert spelled(GIVEN) == "pointer x, pointer y, int n, float factor"
