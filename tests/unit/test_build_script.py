"""build.py: it imports the standard library only, sets up once, and reports a failure in one line."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "build.py"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """build.py as a module, for a project in tmp_path."""
    spec = importlib.util.spec_from_file_location("build_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "build_script", module)
    spec.loader.exec_module(module)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "OUT", tmp_path / "build")
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "MARKER", tmp_path / ".venv" / "neutrino-setup")
    return module


@pytest.fixture
def commands(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that build.py would run, which this replaces."""
    ran: list[list[str]] = []
    monkeypatch.setattr(script, "execute", lambda command, *_: ran.append(list(command)))
    return ran


def pretend_installed(script: ModuleType, extra: str) -> None:
    python = script.VENV / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.touch()
    script.MARKER.write_text(f"{script.fingerprint()} {extra}")


def test_script_imports_only_the_standard_library() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= set(sys.stdlib_module_names)


def test_help_lists_every_task_with_its_summary(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([]) == 0
    listed = dict(re.findall(r"^  (\w+) +(\S.*)$", capsys.readouterr().out, re.MULTILINE))
    assert listed == {name: task.__doc__ for name, task in script.TASKS.items()}


def test_unknown_task_error_lists_the_tasks(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["tset"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "tset" in error and "test" in error.split("tasks are")[1]


@pytest.mark.parametrize("task", ["setup", "gen", "check", "clean", "docs"])
def test_surplus_argument_is_refused(
    script: ModuleType, commands: list[list[str]], capsys: pytest.CaptureFixture[str], task: str
) -> None:
    assert script.main([task, "--here", "surplus"]) == 1
    assert commands == []
    assert re.fullmatch(rf"build: {task}: {task} takes .*\n", capsys.readouterr().err)


def test_first_task_creates_an_environment(script: ModuleType, commands: list[list[str]]) -> None:
    script.VENV.mkdir()
    script.workshop("examples", here=False)
    create, install = commands
    assert create[:4] == [sys.executable, "-m", "venv", "--clear"]
    assert install[-2:] == ["--editable", ".[examples]"]


def test_setup_installs_every_extra(
    script: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_installed(script, "")
    script.MARKER.unlink()
    monkeypatch.setattr(script, "is_of_this_python", lambda _python: True)
    assert script.main(["setup"]) == 0
    tests, fetch, tools = commands
    assert tests[-2:] == ["--editable", ".[test-full]"]
    assert fetch[1:] == ["tests/support/fetch_hip.py", str(script.VENV / "hip")]
    assert tools[-2:] == ["--editable", ".[check,docs,examples,report,test,test-full]"]


@pytest.mark.parametrize("extra", ["examples", "test", "check"])
def test_only_the_full_tests_install_hip(script: ModuleType, commands: list[list[str]], extra: str) -> None:
    pretend_installed(script, "")
    script.set_up(extra, set())
    assert not [command for command in commands if "tests/support/fetch_hip.py" in command]


def test_second_setup_installs_nothing(script: ModuleType, commands: list[list[str]]) -> None:
    pretend_installed(script, "test-full check")
    assert script.main(["setup"]) == 0
    assert commands == []


def test_extra_includes_others_of_its_own_only(script: ModuleType) -> None:
    pretend_installed(script, "examples")
    assert script.installed_extras() == {"examples"}
    pretend_installed(script, "test-full")
    assert script.installed_extras() == {"docs", "examples", "report", "test", "test-full"}


def test_installing_an_extra_keeps_the_others(
    script: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "is_of_this_python", lambda _python: True)
    pretend_installed(script, "examples")
    script.workshop("test", here=False)
    assert commands[0][-1] == ".[examples,test]"
    assert script.installed_extras() == {"examples", "report", "test"}


def test_demo_installs_what_the_tutorials_need(
    script: ModuleType, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They write pages, and run programs of numba."""
    monkeypatch.setattr(script, "is_of_this_python", lambda _python: True)
    pretend_installed(script, "")
    script.main(["demo"])
    assert ".[examples,report]" in [command[-1] for command in commands]


def test_quick_tests_install_no_torch_numba_mypy_or_hip() -> None:
    """Their set-up is part of the five minutes. The extra for report pages is the only one of ours that they need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = " ".join([*project["dependencies"], *project["optional-dependencies"]["test"]])
    assert not re.search(r"torch|numba|mypy|neutrino-bench\[(?!report\])|cuda-core|cuda-bindings", named)


def test_changed_requirements_are_installed_again(script: ModuleType) -> None:
    pretend_installed(script, "test")
    with (script.ROOT / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert script.installed_extras() is None


def test_environment_of_another_python_is_not_used(script: ModuleType, tmp_path: Path) -> None:
    assert script.is_of_this_python(Path(sys.executable)) == (importlib.util.find_spec("pip") is not None)
    assert not script.is_of_this_python(tmp_path / "nothing")
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 3.9.0 /usr\n")
    other.chmod(0o755)
    assert not script.is_of_this_python(other)


def test_interrupted_setup_is_repeated(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(command: list[str], _then: str, _environment: object = None) -> None:
        if "pip" in command:
            raise script.TaskError("no network")

    monkeypatch.setattr(script, "execute", fails)
    pretend_installed(script, "examples")
    with pytest.raises(script.TaskError):
        script.set_up("test", set())
    assert script.installed_extras() is None


@pytest.mark.parametrize(
    ("options", "selected"),
    [([], "quick"), (["--all"], "quick or full"), (["--all", "-m", "full"], "full")],
)
def test_test_task_runs_one_tier_with_this_python(
    script: ModuleType, commands: list[list[str]], options: list[str], selected: str
) -> None:
    assert script.main(["test", "--here", *options, "-k", "ring"]) == 0
    build, compile_, pytest_ = commands
    assert build[:3] == [sys.executable, "-m", "benchguard.toolchain.native"]
    assert compile_[1:] == ["-m", "compileall", "-q", "benchguard"]
    assert pytest_[:3] == [sys.executable, "-m", "pytest"]
    assert pytest_[-2:] == ["-k", "ring"]
    assert [pytest_[n + 1] for n, word in enumerate(pytest_) if word == "-m"][-1] == selected
    environment = script.workshop("test", here=True).environment
    assert environment["PYTHONPATH"].split(":")[0] == str(script.ROOT)


@pytest.mark.parametrize(
    ("failing", "runs_again"), [(1, True), (3, True), (4, False)], ids=["one", "three", "four"]
)
@pytest.mark.parametrize("passes", [True, False])
def test_few_failed_tests_run_once_more_alone(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failing: int,
    runs_again: bool,
    passes: bool,
) -> None:
    names = [f"tests/test_it.py::test_case[{number} of many]" for number in range(failing)]
    ran: list[list[str]] = []

    def execute(command: list[str], then: str, environment: dict[str, str], _lines: object = None) -> None:
        if "pytest" not in command:
            return
        ran.append(command)
        if len(ran) == 1 or not passes:
            Path(environment["NEUTRINO_FAILED_TESTS"]).write_text("".join(f"{name}\n" for name in names))
            raise script.TaskError(then)

    monkeypatch.setattr(script, "execute", execute)
    assert script.main(["test", "--here"]) == (0 if runs_again and passes else 1)
    assert len(ran) == 1 + runs_again
    assert not runs_again or ran[1][1:] == ["-m", "pytest", *names]
    assert ("passed alone only" in capsys.readouterr().out) == (runs_again and passes)


@pytest.mark.full
def test_failed_tests_are_named_in_a_file(tmp_path: Path) -> None:
    """Those that fail, and those whose fixture does, also where another process runs them."""
    (tmp_path / "conftest.py").write_text("from tests.tiers import pytest_terminal_summary\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.fixture\ndef broken(): assert False\ndef test_error(broken): pass\n"
        "@pytest.mark.parametrize('case', ['a b', 'c'])\ndef test_failure(case): assert case == 'c'\n"
    )
    named = tmp_path / "failed"
    environment = {**os.environ, "NEUTRINO_FAILED_TESTS": str(named), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    for ends_early in (["-x"], ["-x", "-n", "1"]):
        subprocess.run(
            [*words, *ends_early, "."], env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, check=False
        )
        assert not named.exists()
    subprocess.run(
        [*words, "-n", "1", "."], env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, check=False
    )
    assert named.read_text().splitlines() == ["test_it.py::test_failure[a b]", "test_it.py::test_error"]


def test_nightly_tests_are_followed_by_sanitizers_and_fuzzing(
    script: ModuleType, commands: list[list[str]]
) -> None:
    assert script.main(["test", "--here", "--nightly"]) == 0
    tests = [command for command in commands if "pytest" in command]
    assert tests[0][tests[0].index("-m", 3) + 1] == "nightly"
    assert "tests/sanitize" in tests[1]
    fuzzed = [command[2] for command in commands if command[1] == "tests/fuzz/run.py"]
    assert fuzzed == list(script.FUZZ_TARGETS)
    assert commands[-1][1] == "tests/fuzz/grade.py"


def test_docs_task_fails_on_warnings_of_pages_that_did_not_change(
    script: ModuleType, commands: list[list[str]]
) -> None:
    (script.OUT / "site").mkdir(parents=True)
    (script.OUT / "site" / "removed.html").touch()
    assert script.main(["docs", "--here"]) == 0
    (build,) = commands
    assert {"-W", "-E"} <= set(build) and build[-2:] == [".", str(script.OUT / "site")]
    assert not (script.OUT / "site").exists()
    assert script.main(["docs", "--here", "--serve"]) == 0
    assert commands[-1][-2:] == ["--directory", str(script.OUT / "site")]


def test_build_task_passes_on_the_parts(script: ModuleType, commands: list[list[str]]) -> None:
    assert script.main(["build", "--here", "shim", "engine"]) == 0
    assert commands[0][-2:] == ["shim", "engine"]
    assert commands[0][commands[0].index("--keep") + 1] == str(script.OUT / "objects")


def test_demo_observes_verifies_records_replays_and_grades(
    script: ModuleType, commands: list[list[str]]
) -> None:
    assert script.main(["demo", "--here", "--version", "numba"]) == 0
    _, _, observe, verify, record, replay, grade = commands
    assert observe[-5:] == [script.DEMO, "--out", "build/demo", "--version", "numba"]
    assert observe[observe.index("--log") + 1] == verify[-1]
    assert "verify-log" in verify
    capture = record[record.index("-o") + 1]
    assert record[-1] == script.REPLAY_DEMO
    assert replay[replay.index("replay") + 1] == capture and "--verify" in replay
    assert tuple(grade[grade.index("grade") + 1 :][:2]) == script.GRADE_DEMO


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_missing_venv_module_error_names_the_package(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module: str
) -> None:
    result = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else result(name))
    assert script.main(["setup"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"no module {module}; install it" in error


@pytest.mark.parametrize(
    ("compiler", "said"), [("", "no C compiler found"), ("no-such-cc -m64", "no-such-cc")]
)
def test_missing_compiler_error_names_the_packages(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    compiler: str,
    said: str,
) -> None:
    monkeypatch.setenv("CC", compiler)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert script.main(["build", "--here"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error and "install gcc or clang" in error


def test_old_python_is_refused_in_one_line(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "OLDEST", (99, 0))
    assert script.main(["test"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_full_disk_is_told_in_one_line(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "build/x")

    monkeypatch.setitem(script.TASKS, "clean", full)
    assert script.main(["clean"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "build: clean:" in error and "'build/x'" in error


def test_failing_command_fails_the_task(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(script.TaskError, match=r"python.* ended with 3; look above"):
        script.execute([sys.executable, "-c", "raise SystemExit(3)"], "look above")
    with pytest.raises(script.TaskError, match="No such file"):
        script.execute([str(script.ROOT / "nothing")], "look above")
    assert capsys.readouterr().out == ""


def test_file_generated_differently_is_named(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsteady(_place: object, folder: Path, seed: str) -> None:
        folder.mkdir()
        (folder / "same.c").write_text("int x;")
        (folder / "hooks.c").write_text(f"int x = {seed};")

    monkeypatch.setattr(script, "generate", unsteady)
    with pytest.raises(script.TaskError, match=r"codegen wrote hooks\.c differently"):
        script.check_determinism(script.Workshop(Path(sys.executable), {}))


def test_clean_removes_build_outputs_and_keeps_the_environment(script: ModuleType) -> None:
    for name in ("build/demo", "benchguard/native/sim", "neutrino_bench.egg-info", ".venv/bin", "hook"):
        (script.ROOT / name).mkdir(parents=True)
    assert script.main(["clean"]) == 0
    assert sorted(path.name for path in script.ROOT.iterdir()) == [
        ".venv",
        "benchguard",
        "hook",
        "pyproject.toml",
    ]
    assert list((script.ROOT / "benchguard").iterdir()) == []
    assert script.main(["clean", "--all"]) == 0
    assert not script.VENV.exists()


def test_generated_c_is_not_format_checked(script: ModuleType) -> None:
    for name in ("hook/core/a.c", "tests/unit/codegen/golden/b.c", "examples/c.cu", "hook/readme.md"):
        path = script.ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert list(map(str, script.hand_written_c())) == ["examples/c.cu", "hook/core/a.c"]


def test_script_runs_from_any_folder(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(SCRIPT), "help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "Tasks:" in result.stdout


def test_output_is_cut_after_lines_but_not_of_a_failure(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "print(*range(30), sep=chr(10)); import sys; sys.exit(int(sys.argv[1]))"
    script.execute([sys.executable, "-c", program, "0"], "run it again", lines=10)
    printed = capsys.readouterr().out.splitlines()
    assert printed == [*map(str, range(10)), "… 20 more lines; run the command to see them"]
    with pytest.raises(script.TaskError, match="ended with 3; run it again"):
        script.execute([sys.executable, "-c", program, "3"], "run it again", lines=10)
    assert capsys.readouterr().out.splitlines() == [*map(str, range(30))]
