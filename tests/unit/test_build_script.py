"""build.py: needs nothing but the standard library, sets up once, and fails with one line that says what to do."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
    """Every command that build.py would run; none of them is run."""
    ran: list[list[str]] = []
    monkeypatch.setattr(
        script, "execute", lambda command, _then, _environment=None: ran.append(list(command))
    )
    return ran


def pretend_installed(script: ModuleType, extra: str) -> None:
    python = script.VENV / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.touch()
    script.MARKER.write_text(f"{script.fingerprint()} {extra}")


def test_imports_the_standard_library_alone() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text())):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= set(sys.stdlib_module_names)


def test_help_names_every_task_and_what_it_does(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([]) == 0
    listed = dict(re.findall(r"^  (\w+) +(\S.*)$", capsys.readouterr().out, re.MULTILINE))
    assert listed == {name: task.__doc__ for name, task in script.TASKS.items()}


def test_an_unknown_task_is_named_beside_those_there_are(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["tset"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "tset" in error and "test" in error.split("tasks are")[1]


@pytest.mark.parametrize("task", ["setup", "gen", "build", "check", "clean"])
def test_a_task_that_takes_no_arguments_says_so(
    script: ModuleType, commands: list[list[str]], capsys: pytest.CaptureFixture[str], task: str
) -> None:
    assert script.main([task, "--here", "surplus"]) == 1
    assert commands == []
    assert re.fullmatch(rf"build: {task}: {task} takes .*\n", capsys.readouterr().err)


def test_set_up_makes_an_environment_and_installs_into_it(
    script: ModuleType, commands: list[list[str]]
) -> None:
    (script.VENV / "bin").mkdir(parents=True)
    assert script.main(["setup"]) == 0
    make, install, fetch = commands
    assert make[:4] == [sys.executable, "-m", "venv", "--clear"]
    assert install[-2:] == ["--editable", ".[test]"]
    assert fetch[1:] == ["tests/support/fetch_hip.py", str(script.VENV / "hip")]


def test_only_the_tests_need_hip(script: ModuleType, commands: list[list[str]]) -> None:
    (script.VENV / "bin").mkdir(parents=True)
    script.set_up("examples")
    assert not [command for command in commands if "tests/support/fetch_hip.py" in command]


def test_set_up_once_is_enough(script: ModuleType, commands: list[list[str]]) -> None:
    pretend_installed(script, "test")
    assert script.main(["setup"]) == 0
    assert commands == []


def test_more_is_installed_when_a_task_needs_more(script: ModuleType, commands: list[list[str]]) -> None:
    """What the tests need includes what the examples need, not the other way round."""
    pretend_installed(script, "examples")
    assert script.is_set_up("examples")
    assert not script.is_set_up("test")
    pretend_installed(script, "test")
    assert script.is_set_up("examples")
    assert commands == []


def test_changed_requirements_are_installed(script: ModuleType) -> None:
    pretend_installed(script, "test")
    with (script.ROOT / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert not script.is_set_up("test")


def test_an_environment_of_this_python_is_kept_and_another_made_again(
    script: ModuleType, tmp_path: Path
) -> None:
    assert script.is_of_this_python(Path(sys.executable)) == (importlib.util.find_spec("pip") is not None)
    assert not script.is_of_this_python(tmp_path / "nothing")
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 3.9.0 /usr\n")
    other.chmod(0o755)
    assert not script.is_of_this_python(other)


def test_an_interrupted_set_up_is_not_taken_for_done(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(command: list[str], _then: str, _environment: object = None) -> None:
        if "pip" in command:
            raise script.TaskError("no network")

    monkeypatch.setattr(script, "execute", fails)
    pretend_installed(script, "examples")
    with pytest.raises(script.TaskError):
        script.set_up("test")
    assert not script.is_set_up("examples")


def test_here_installs_nothing_and_uses_this_python(script: ModuleType, commands: list[list[str]]) -> None:
    assert script.main(["test", "--here", "-k", "ring"]) == 0
    assert commands == [
        [sys.executable, "-m", "benchguard.toolchain.native"],
        [sys.executable, "-m", "pytest", "-k", "ring"],
    ]
    environment = script.workshop("test", here=True).environment
    assert environment["PYTHONPATH"].split(":")[0] == str(script.ROOT)


def test_the_demo_observes_an_example_and_checks_its_log_then_replays_another_and_grades_a_third(
    script: ModuleType, commands: list[list[str]]
) -> None:
    assert script.main(["demo", "--here", "--version", "numba"]) == 0
    _, observe, verify, record, replay, grade = commands
    assert observe[-5:] == [script.DEMO, "--out", "build/demo", "--version", "numba"]
    assert observe[observe.index("--log") + 1] == verify[-1]
    assert "verify-log" in verify
    capture = record[record.index("-o") + 1]
    assert record[-1] == script.REPLAY_DEMO
    assert replay[replay.index("replay") + 1] == capture and "--verify" in replay
    assert tuple(grade[grade.index("grade") + 1 :][:2]) == script.GRADE_DEMO


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_without_venv_it_says_what_to_install(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module: str
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else found(name))
    assert script.main(["setup"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"no module {module}; install it" in error


@pytest.mark.parametrize(
    ("compiler", "said"), [("", "no C compiler found"), ("no-such-cc -m64", "no-such-cc")]
)
def test_without_a_compiler_it_says_what_to_install(
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


def test_an_old_python_is_refused_with_one_line(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "OLDEST", (99, 0))
    assert script.main(["test"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_failing_command_fails_the_task(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(script.TaskError, match=r"python.* ended with 3; look above"):
        script.execute([sys.executable, "-c", "raise SystemExit(3)"], "look above")
    with pytest.raises(script.TaskError, match="No such file"):
        script.execute([str(script.ROOT / "nothing")], "look above")
    assert capsys.readouterr().out == ""


def test_code_that_differs_the_second_time_is_named(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsteady(_place: object, folder: Path, seed: str) -> None:
        folder.mkdir()
        (folder / "same.c").write_text("int x;")
        (folder / "hooks.c").write_text(f"int x = {seed};")

    monkeypatch.setattr(script, "generate", unsteady)
    with pytest.raises(script.TaskError, match=r"codegen wrote hooks\.c differently"):
        script.check_determinism(script.Workshop(Path(sys.executable), {}))


def test_clean_removes_what_was_built_and_keeps_the_environment(script: ModuleType) -> None:
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


def test_generated_c_is_not_held_to_the_format(script: ModuleType) -> None:
    for name in ("hook/core/a.c", "tests/unit/codegen/golden/b.c", "examples/c.cu", "hook/readme.md"):
        path = script.ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert list(map(str, script.hand_written_c())) == ["examples/c.cu", "hook/core/a.c"]


def test_it_runs_as_a_script_from_anywhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Tasks:" in done.stdout
