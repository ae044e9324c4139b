"""The list of modules that a problem imports from its folder, and imports that pass over a submission."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard.errors import UsageError
from benchguard.problem.errors import ProblemError
from benchguard.problem.sources import sources_of
from benchguard.problem.withheld import Withheld, withhold


@pytest.fixture(autouse=True)
def unchanged_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore finders and modules."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def problem(folder: Path, text: str) -> Path:
    path = folder / "problem.py"
    path.write_text(text)
    return path


def imported(file: Path, name: str) -> object:
    with sources_of(file).importable():
        return importlib.import_module(name)


def test_sibling_module_and_its_imports_listed(tmp_path: Path) -> None:
    (tmp_path / "helper_of_it.py").write_text("from table_of_it import NUMBER\n")
    (tmp_path / "table_of_it.py").write_text("NUMBER = 7\n")
    (tmp_path / "unrelated_to_it.py").write_text("raise SystemExit\n")
    file = problem(tmp_path, "def late():\n    import helper_of_it\n")
    assert set(sources_of(file).modules) == {"helper_of_it", "table_of_it"}
    assert imported(file, "helper_of_it").NUMBER == 7  # type: ignore[attr-defined]
    assert str(tmp_path) not in sys.path


def test_module_loaded_from_copy_made_when_problem_was_opened(tmp_path: Path) -> None:
    helper = tmp_path / "helper_of_it.py"
    helper.write_text("NUMBER = 7\n")
    sources = sources_of(problem(tmp_path, "import helper_of_it"))
    helper.write_text("NUMBER = 8\n")
    with sources.importable():
        assert importlib.import_module("helper_of_it").NUMBER == 7
    assert not (tmp_path / "__pycache__").exists()


def test_package_of_folder_imported_with_relative_imports(tmp_path: Path) -> None:
    package = tmp_path / "package_of_it"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("from .table import NUMBER\nfrom .inner import part\n")
    (package / "table.py").write_text("NUMBER = 7\n")
    (package / "inner" / "part.py").write_text("from ..table import NUMBER as SAME\n")
    file = problem(tmp_path, "import package_of_it")
    assert imported(file, "package_of_it").part.SAME == 7  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["statistics", "numpy", "torch"])
def test_file_named_as_library_not_listed(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit\n")
    assert not sources_of(problem(tmp_path, f"import {name}")).modules


def test_file_named_as_installed_package_refused(tmp_path: Path) -> None:
    (tmp_path / "pytest.py").write_text("raise SystemExit\n")
    with pytest.raises(
        ProblemError, match="imports pytest, which is a file beside it and an installed package"
    ):
        sources_of(problem(tmp_path, "import pytest"))


def test_submission_beside_problem_not_imported(tmp_path: Path) -> None:
    (tmp_path / "helper_of_it.py").write_text("raise SystemExit\n")
    file = problem(tmp_path, "import helper_of_it")
    withhold([str(tmp_path / "helper_of_it.py")], str(file))
    assert not sources_of(file).modules
    with pytest.raises(ImportError, match="does not import submissions, and 'helper_of_it' is one"):
        imported(file, "helper_of_it")


def test_submission_named_as_installed_package_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pluggy.py").write_text("raise SystemExit\n")
    file = problem(tmp_path, "import pluggy")
    withhold([str(tmp_path / "pluggy.py")], str(file))
    sys.path.insert(0, str(tmp_path))  # as a problem or a library may do
    monkeyed = sys.modules.pop("pluggy")
    try:
        assert not str(imported(file, "pluggy").__file__).startswith(str(tmp_path))  # type: ignore[attr-defined]
    finally:
        sys.modules["pluggy"] = monkeyed


@pytest.mark.parametrize("initial", [True, False])
def test_submission_that_is_package_not_imported(tmp_path: Path, initial: bool) -> None:
    package = tmp_path / "package_of_it"
    package.mkdir()
    (package / ("__init__.py" if initial else "submission.py")).write_text("raise SystemExit\n")
    file = problem(tmp_path, "import package_of_it")
    withhold([str(package)], str(file))
    sys.path.insert(0, str(tmp_path))
    with pytest.raises(ImportError, match="does not import submissions"):
        imported(file, "package_of_it")


def test_submission_in_folder_of_python_path_refused(tmp_path: Path) -> None:
    submission = tmp_path / "submission.py"
    submission.write_text("")
    sys.path.append(str(tmp_path))
    with pytest.raises(
        UsageError, match=f"lies in {tmp_path}, from which the judge imports modules; move it"
    ):
        Withheld([str(submission)]).check("problem.py")
    Withheld([str(tmp_path / "deeper" / "submission.py"), str(tmp_path / "kernel.cu")]).check("problem.py")


def test_submission_that_contains_problem_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"contains the problem .*problem.py:Name; give the submission a folder"
    ):
        Withheld([str(tmp_path)]).check(f"{tmp_path}/problem.py:Name")


def test_problem_that_is_its_own_submission_is_judged(tmp_path: Path) -> None:
    file = problem(tmp_path, "import beside")
    (tmp_path / "beside.py").write_text("")
    withhold([str(file)], f"{file}:Name")
    sys.path.insert(0, str(tmp_path))
    assert imported(file, "beside") is not None


def test_other_submission_beside_the_problem_stays_withheld(tmp_path: Path) -> None:
    file = problem(tmp_path, "import beside")
    (tmp_path / "beside.py").write_text("raise SystemExit\n")
    withhold([str(file), str(tmp_path / "beside.py")], str(file))
    sys.path.insert(0, str(tmp_path))
    with pytest.raises(ImportError, match="does not import submissions"):
        imported(file, "beside")


@pytest.mark.parametrize("is_link", [True, False])
def test_link_to_submission_in_a_known_folder_not_imported(tmp_path: Path, is_link: bool) -> None:
    libraries, mine = tmp_path / "libraries", tmp_path / "mine"
    for each in (libraries, mine):
        each.mkdir()
    (libraries / "first_of_it.py").write_text("")
    (mine / "submission_of_it.py").write_text("raise SystemExit\n")
    name = "linked_to_it" if is_link else "submission_of_it"
    if is_link:
        (libraries / f"{name}.py").symlink_to(mine / "submission_of_it.py")
    withhold([str(mine / "submission_of_it.py")], str(problem(tmp_path, "")))
    sys.path[:0] = [str(libraries), str(mine)]
    importlib.import_module("first_of_it")
    with pytest.raises(ImportError, match="does not import submissions"):
        importlib.import_module(name)


def test_folders_of_modules_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"library_{number}.py").write_text("")
    finder = Withheld([str(tmp_path / "mine" / "submission.py")])
    resolved: list[object] = []
    monkeypatch.setattr(Withheld, "holds", lambda _, path: bool(resolved.append(path)))
    for number in range(5):
        assert finder.find_spec(f"library_{number}", [str(tmp_path)]) is not None
    assert resolved == [tmp_path]
