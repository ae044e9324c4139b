"""Exceptions of an author's code name the line, and what is there if they have no message."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.problem.errors import ProblemError, blaming

CODE = """
def sample(device):
    assert device == "cuda"
    raise ValueError

def other():
    raise ValueError("no")
"""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("sample('cpu')", ':3: sample failed: AssertionError: assert device == "cuda"'),
        ("sample('cuda')", ":4: sample failed: ValueError: raise ValueError"),
        ("other()", ":7: sample failed: ValueError: no"),
    ],
)
def test_exception_without_a_message_has_the_source_of_its_line(
    call: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "problem.py"
    path.write_text(CODE)
    names: dict[str, object] = {}
    exec(compile(CODE, str(path), "exec"), names)
    with pytest.raises(ProblemError) as caught, blaming(path, "sample"):
        eval(call, names)
    assert str(caught.value) == f"{path}{message}"


def test_exception_of_unknown_place_has_its_type_alone(tmp_path: Path) -> None:
    with pytest.raises(ProblemError) as caught, blaming(tmp_path / "problem.py", "sample"):
        raise ValueError
    assert str(caught.value) == f"{tmp_path / 'problem.py'}: sample failed: ValueError"
