"""Starter code: as the golden files have it, and so that its language's own parser takes it.

To write the golden files anew: python -m benchguard starter tests/unit/problem/given/every_type.py --lang LANG
"""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from benchguard.cli.main import main
from benchguard.problem.load import opened, signature_of
from benchguard.problem.starter import Language, starter

from .written import GIVEN

GOLDEN = Path(__file__).parent / "starters"
LANGUAGES = get_args(Language)
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
    assert [each.name for each in functions] == ["solution"]


def test_existing_starter_file_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    words = ["starter", str(GIVEN / "gather.py"), "-o", str(path)]
    with pytest.raises(SystemExit, match="0"):
        main(words)
    assert path.read_text() == text_of("gather", "cuda")
    path.write_text("my work")
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert path.read_text() == "my work"


@pytest.mark.parametrize("problem", ["every_type", "tensara_current"])
def test_starter_cuda_compiles(tmp_path: Path, problem: str) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("there is no nvcc")
    path = tmp_path / "starter.cu"
    path.write_text(text_of(problem, "cuda"))
    command = [nvcc, "-Werror", "all-warnings", "-c", str(path), "-o", str(tmp_path / "starter.o")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert result.returncode == 0, result.stderr
