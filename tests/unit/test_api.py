"""The public API: exported names, exceptions and docstrings."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchguard
from tests.conftest import ROOT

FUNCTIONS = (
    "compare",
    "compare_captures",
    "do_bench",
    "do_bench_impl",
    "do_bench_isolated",
    "grade",
    "grade_all",
    "grade_many",
    "record",
    "phase",
    "region",
    "region_range",
    "replay",
)
OURS = re.compile(r"\b([A-Z]\w*Error)\b")


def function(name: str) -> object:
    """The function behind an exported name; `grade`, `record` and `replay` are packages that call theirs."""
    value = getattr(benchguard, name)
    return (
        getattr(importlib.import_module(f"benchguard.{name}.{name}"), name)
        if inspect.ismodule(value)
        else value
    )


@pytest.mark.parametrize("name", benchguard.__all__)
def test_exported_name_resolves(name: str) -> None:
    assert getattr(benchguard, name) is not None
    assert name in dir(benchguard)


def test_type_checkers_see_exactly_the_exported_names() -> None:
    tree = ast.parse((ROOT / "benchguard" / "__init__.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    assert names == set(benchguard.__all__)


def test_unknown_name_is_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'graed'"):
        _ = benchguard.graed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_names_arguments_result_and_exceptions(name: str) -> None:
    result = function(name)
    text = inspect.getdoc(result) or ""
    sections = {"Args:", "Raises:"} | (set() if name == "region_range" else {"Returns:"})
    assert sections <= set(text.split("\n"))
    arguments = set(inspect.signature(result).parameters)  # type: ignore[arg-type]
    described = set(re.findall(r"^    (\w+):", text, re.MULTILINE)) | set(re.findall(r"`(\w+)`", text))
    assert arguments <= described


def documented_errors() -> Iterator[tuple[str, str]]:
    for name in benchguard.__all__:
        result = function(name) if name in FUNCTIONS else getattr(benchguard, name)
        text = inspect.getdoc(result) or ""
        raises = text[text.find("Raises") :] if "Raises" in text else ""
        yield from ((name, error) for error in OURS.findall(raises))


def test_documented_exceptions_are_exported_or_builtin() -> None:
    result = dict.fromkeys(documented_errors())
    assert len(result) > 15
    assert [
        each for each in result if not hasattr(benchguard, each[1]) and not hasattr(builtins, each[1])
    ] == []


def exceptions_of_package() -> Iterator[type[BaseException]]:
    for path in sorted((ROOT / "benchguard").rglob("*.py")):
        text = path.read_text()
        for name in re.findall(
            r"^class (\w+)\(BenchguardError\b|^class (\w+)\(UsageError\b", text, re.MULTILINE
        ):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield getattr(importlib.import_module(module), next(filter(None, name)))


def test_user_exceptions_can_be_caught_by_exported_base() -> None:
    items = list(exceptions_of_package())
    assert len(items) >= 8
    assert all(issubclass(each, benchguard.BenchguardError) for each in items)
    assert issubclass(benchguard.ShimError, benchguard.BenchguardError)
    assert issubclass(benchguard.BenchmarkError, RuntimeError)


def test_tolerance_has_numpys_meaning() -> None:
    tolerance = benchguard.Tolerance(atol=1e-6, rtol=1e-3)
    assert (tolerance.atol, tolerance.rtol) == (1e-6, 1e-3)


def test_callable_package_stays_callable_after_submodule_import() -> None:
    for name in ("grade", "record", "replay"):
        importlib.import_module(f"benchguard.{name}.options")
        assert callable(getattr(benchguard, name))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: benchguard.grade(p / "absent.py", p / "s.py"), "does not exist"),
        (lambda p: benchguard.compare(p / "p.py", p / "s.py", p / "absent.py"), "absent.py"),
        (lambda p: benchguard.compare(p / "p.py", p / "s.py", p / "s.py", blocks=2), "blocks is 2"),
        (lambda p: benchguard.grade(p / "p.py", p / "s.py", timeout=0), "timeout is 0"),
        (lambda p: benchguard.record(["true"], p / "p.py"), "p.py exists"),
        (lambda p: benchguard.record(["true"], p / "x.ncap", launches="2:1"), "--launches 2:1"),
    ],
)
def test_invalid_argument_is_usage_error(call: object, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("raise SystemExit('the problem was imported')\n")
    (tmp_path / "s.py").write_text("raise SystemExit('the submission was imported')\n")
    with pytest.raises(benchguard.UsageError, match=re.escape(message)):
        call(tmp_path)  # type: ignore[operator]
