#!/usr/bin/env python3
"""Run a task: python build.py TASK [--here] [ARGUMENTS]

A clean clone needs Python >= 3.10 with venv, and a C compiler. A task creates .venv and installs the packages that it
needs; it downloads nothing when it runs again.

--here: use the Python that runs this script and install nothing. That Python must have the packages already.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
MARKER = VENV / "neutrino-setup"
OUT = ROOT / "build"
OLDEST = (3, 10)
EXTRAS = {
    "examples": {"examples"},
    "report": {"report"},
    "test": {"report", "test"},
    "test-full": {"docs", "examples", "report", "test", "test-full"},
    "check": {"check"},
    "docs": {"docs"},
}
"""The extras of pyproject.toml that a task may need, and what each of them includes."""

TIERS = {"--all": "quick or full", "--nightly": "nightly"}
"""Options of `test`, and the pytest markers that they select (tests/tiers.py)."""

SHOWN_LINES = 10
"""Lines that the demo prints of each step's output."""

AGAIN_MAX = 3
"""Failed tests that run once more, alone (docs/adr/0044). An error of ours fails more of them, or fails again."""

SANITIZERS = ("address,undefined", "thread")
FUZZ_TARGETS = ("ptx", "run", "link", "fatbin", "hip", "globals", "kernels", "capture")
FUZZ_COUNT = "20000"
GRADES_COUNT = "2000"
"""Mutated raw captures that are graded: one takes 100 times as long as an input of a reader."""

DEMO = "examples/grayscale/submission.py"
REPLAY_DEMO = "examples/replay/program.py"
GRADE_DEMO = (
    "examples/problems/grayscale.py",
    "examples/problems/submissions/grayscale/numba_kernel.py",
)


class TaskError(Exception):
    """A task failed. One line: what happened, where, what to do."""


@dataclass(frozen=True)
class Workshop:
    """A Python that has the project, and the environment its commands run in."""

    python: Path
    environment: dict[str, str]

    def run(self, *arguments: str | Path, then: str, quiet: bool = False, lines: int | None = None) -> None:
        """Run a Python command. `then` says what to do if it fails; `lines` cuts the output of one that succeeds."""
        words = [str(word) for word in arguments]
        if not quiet:
            shown = ["python" if word == str(self.python) else word for word in words]
            print("$ python " + shlex.join(shown), flush=True)
        execute([str(self.python), *words], then, self.environment, lines)


def execute(
    command: Sequence[str], then: str, environment: dict[str, str] | None = None, lines: int | None = None
) -> None:
    """Run a command, and with `lines` print only the first lines of its output, unless it fails.

    Raises TaskError if it cannot be started or does not end with 0.
    """
    pipe = None if lines is None else subprocess.PIPE
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=pipe, text=True, check=False)
    except OSError as error:
        raise TaskError(f"{command[0]}: {error.strerror}; {then}") from error
    printed = (done.stdout or "").splitlines()
    shown = printed[:lines] if done.returncode == 0 else printed
    for line in shown:
        print(line.rstrip())
    if len(shown) < len(printed):
        print(f"… {len(printed) - len(shown)} more lines; run the command to see them", flush=True)
    if done.returncode != 0:
        text = shlex.join([Path(command[0]).name, *command[1:]])
        raise TaskError(f"{text[:120]} ended with {done.returncode}; {then}")


# ---- set-up ----------------------------------------------------------------------------------------------------


def workshop(extra: str | None, here: bool) -> Workshop:
    """The Python for a task: .venv with `extra` installed, or with `here` the Python that runs this script."""
    require_compiler()
    if here:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return Workshop(Path(sys.executable), {**os.environ, "PYTHONPATH": path})
    installed = installed_extras()
    if installed is None or (extra is not None and extra not in installed):
        set_up(extra, installed or set())
    path = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])
    return Workshop(VENV / "bin" / "python", {**os.environ, "PATH": path, "VIRTUAL_ENV": str(VENV)})


def fingerprint() -> str:
    """Changes when .venv must be created again: other requirements, another Python, another folder."""
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    for text in (sys.version, str(Path(sys.executable).resolve()), str(ROOT)):
        digest.update(b"\0" + text.encode())
    return digest.hexdigest()


def installed_extras() -> set[str] | None:
    """The extras that .venv has; None if .venv has to be set up."""
    try:
        found, *installed = MARKER.read_text().split()
    except (OSError, ValueError):
        return None
    if found != fingerprint() or not (VENV / "bin" / "python").exists():
        return None
    return {included for extra in installed for included in EXTRAS.get(extra, ())}


def set_up(extra: str | None, installed: set[str]) -> None:
    """Create .venv if needed, and install the project into it, editable."""
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise TaskError(
                f"{sys.executable} has no module {module}; install it (Debian, Ubuntu: apt install python3-venv) "
                "or use --here"
            )
    python = VENV / "bin" / "python"
    MARKER.unlink(missing_ok=True)
    if not is_of_this_python(python):
        print(f"creating {VENV}", flush=True)
        execute([sys.executable, "-m", "venv", "--clear", str(VENV)], "free the disk, or use --here")
        installed = set()
    extras = sorted({*installed, *filter(None, [extra])})
    target = f".[{','.join(extras)}]" if extras else "."
    print(f"installing {target} (once)", flush=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile"]
    execute(
        [*pip, "--editable", target],
        "pip's message is above; without a network use --here with a Python that has the dependencies",
        {**os.environ, "NEUTRINO_BENCH_WITHOUT_NATIVE": "1"},  # build_native keeps its objects
    )
    if extra == "test-full":
        fetch = [str(python), "tests/support/fetch_hip.py", str(VENV / "hip")]
        execute(fetch, "the line above says why; without CI=true the tests of HIP are skipped")
    MARKER.write_text(" ".join([fingerprint(), *extras]))


def is_of_this_python(python: Path) -> bool:
    """Whether `python` works and its environment was created from the Python that runs this script."""
    ask = "import pip, sys; print(sys.version, sys.base_prefix)"
    try:
        done = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == f"{sys.version} {sys.base_prefix}"


def require_compiler() -> None:
    named = shlex.split(os.environ.get("CC", ""))
    candidates = named[:1] or ["cc", "gcc", "clang"]
    if not any(shutil.which(name) for name in candidates):
        problem = f"CC={named[0]}: no such program" if named else "no C compiler found"
        raise TaskError(f"{problem}; install gcc or clang, or set CC to one")


def build_native(place: Workshop, *options: str | Path) -> None:
    keep = ("--keep", OUT / "objects", "--compile-commands", ROOT / "compile_commands.json")
    then = "the compiler's message is above"
    place.run("-m", "benchguard.toolchain.native", *keep, *options, then=then, quiet=True)
    # A process in a sandbox cannot write bytecode, and would compile what it imports each time.
    place.run("-m", "compileall", "-q", "benchguard", then="the compiler's message is above", quiet=True)


# ---- tasks -----------------------------------------------------------------------------------------------------


def setup(here: bool, arguments: list[str]) -> None:
    """create .venv with the packages that every task needs"""
    no_arguments("setup", arguments)
    workshop("test-full", here)
    print(f"ready: {workshop('check', here).python}")


def gen(here: bool, arguments: list[str]) -> None:
    """write the generated C to build/generated"""
    no_arguments("gen", arguments)
    generate(workshop(None, here), OUT / "generated")


def build(here: bool, arguments: list[str]) -> None:
    """compile the native libraries: build [shim] [preload] [sim] [engine] [hip], by default all of them"""
    build_native(workshop(None, here), *arguments)


def demo(here: bool, arguments: list[str]) -> None:
    """observe an example and verify its log, record and replay a second, grade a third; options go to the first"""
    workshop("report", here)  # for the pages of the tutorials, which begin with the demo
    place = workshop("examples", here)
    build_native(place)
    folder = OUT / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "grayscale.audit.jsonl"
    bench = ("-m", "benchguard", "--log", log.relative_to(ROOT), "--force", "--")
    example = (str(place.python), DEMO, "--out", str(folder.relative_to(ROOT)), *arguments)
    then = "its last line says why; `python -m benchguard doctor` checks the machine"
    place.run(*bench, *example, then=then, lines=SHOWN_LINES)
    place.run(
        "-m",
        "benchguard",
        "verify-log",
        log.relative_to(ROOT),
        then="the log was changed after the run; run the demo again",
    )
    capture = (folder / "equalise.ncap").relative_to(ROOT)
    record = ("-m", "benchguard", "record", "-o", capture, "--force", "--")
    place.run(*record, place.python, REPLAY_DEMO, then="its last line says why", lines=SHOWN_LINES)
    replay = ("-m", "benchguard", "replay", capture, "--verify", "--samples", "50")
    place.run(*replay, then="its last line says why, and what to do", lines=SHOWN_LINES)
    grade = ("-m", "benchguard", "grade", *GRADE_DEMO, "--case", "small", "--samples", "40")
    place.run(*grade, then="its last line says why, and what to do", lines=SHOWN_LINES)


def test(here: bool, arguments: list[str]) -> None:
    """run the quick tests, with --all every test but the nightly ones, with --nightly these; options go to pytest"""
    tier = next((option for option in TIERS if option in arguments), None)
    rest = [word for word in arguments if word != tier]
    place = workshop("test-full" if tier else "test", here)
    build_native(place)
    run_tests(place, ["-m", TIERS[tier] if tier else "quick", "-n", str(processors()), *rest])
    if tier == "--nightly":
        sanitize(here, [])
        for target in FUZZ_TARGETS:
            fuzz(here, [target, "--count", FUZZ_COUNT])
        fuzz(here, ["grade", "--count", GRADES_COUNT])


def run_tests(place: Workshop, options: list[str]) -> None:
    """Run pytest. A few failed tests run once more, one after the other, when nothing else of the run is left."""
    named = OUT / "failed-tests"
    named.parent.mkdir(exist_ok=True)
    named.unlink(missing_ok=True)
    place = Workshop(place.python, {**place.environment, "NEUTRINO_FAILED_TESTS": str(named)})
    try:
        place.run("-m", "pytest", *options, then="the summary above names the failed tests")
    except TaskError:
        failed = named.read_text().splitlines() if named.is_file() else []
        if not 0 < len(failed) <= AGAIN_MAX:
            raise
        place.run("-m", "pytest", *failed, then="the tests that failed twice are named above")
        print(f"build: test: passed alone only, so look for a race: {', '.join(failed)}", flush=True)


def check(here: bool, arguments: list[str]) -> None:
    """run ruff, mypy, clang-format and the prose lint, and check that the generator is deterministic"""
    no_arguments("check", arguments)
    place = workshop("check", here)
    place.run("-m", "ruff", "check", ".", then="fix the lines it names")
    place.run("-m", "ruff", "format", "--check", ".", then="run `ruff format .`")
    place.run("-m", "mypy", then="fix the lines it names")
    place.run("-m", "mypy", "build.py", then="fix the lines it names")
    place.run("-m", "tests.support.prose", then="reword the lines it names, as docs/glossary.md says")
    check_c_format(place)
    check_determinism(place)


def bench(here: bool, arguments: list[str]) -> None:
    """measure the cost of a call under the shim; with `engine` first, the speed of the CPU driver's PTX interpreter"""
    place = workshop("examples", here)
    build_native(place)
    folder = "sim" if arguments[:1] == ["engine"] else "overhead"
    rest = arguments[1:] if folder == "sim" else arguments
    place.run(f"tests/bench/{folder}/run.py", *rest, then="the lines above say why")


def fuzz(here: bool, arguments: list[str]) -> None:
    """feed mutated input to a reader: fuzz ptx|run|link|fatbin|hip|globals|kernels|capture|grade [--count N]"""
    place = workshop("test", here)
    program, rest = "tests/fuzz/run.py", arguments
    if arguments[:1] == ["grade"]:
        build_native(place)
        program, rest = "tests/fuzz/grade.py", arguments[1:]
    place.run(program, *rest, then="the lines above name the findings and how to repeat them")


def device(here: bool, arguments: list[str]) -> None:
    """run real GPU programs without and with the shim and compare them; needs a GPU"""
    place = workshop("test", here)
    build_native(place)
    place.run("tests/device/run.py", *arguments, then="the table above names the programs that failed")


def sanitize(here: bool, arguments: list[str]) -> None:
    """run the C code under gcc's address, undefined-behaviour and thread sanitizers; options go to pytest"""
    place = workshop("test", here)
    folder = OUT / "sanitize"
    for name in SANITIZERS:
        build_native(place, "--sanitize", name, "--out", folder / name.replace(",", "-"))
    place = Workshop(place.python, {**place.environment, "NEUTRINO_SANITIZED": str(folder)})
    place.run(
        "-m",
        "pytest",
        "tests/sanitize",
        "tests/unit/hook",
        *arguments,
        then="the sanitizer's report is above",
    )


def docs(here: bool, arguments: list[str]) -> None:
    """build the documentation site in build/site; with --serve show it at http://127.0.0.1:8000"""
    if arguments not in ([], ["--serve"]):
        raise TaskError("docs takes no argument but --serve")
    place = workshop("docs", here)
    site = OUT / "site"
    shutil.rmtree(
        site, ignore_errors=True
    )  # Sphinx keeps removed pages, and warns of a changed page only once
    sphinx = ("-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-c", "docs/site")
    then = "the lines above name the pages and their faults, such as broken links"
    place.run(*sphinx, "-d", OUT / "objects" / "site", ".", site, then=then)
    print(f"open {site / 'index.html'}", flush=True)
    if arguments:
        place.run(
            "-m", "http.server", "--bind", "127.0.0.1", "--directory", site, then="is port 8000 in use?"
        )


def clean(here: bool, arguments: list[str]) -> None:
    """remove build outputs; with --all also .venv"""
    del here
    if arguments not in ([], ["--all"]):
        raise TaskError("clean takes no argument but --all")
    names = [
        "build",
        "dist",
        "benchguard/native",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
    ]
    folders = [ROOT / name for name in names] + sorted(ROOT.glob("*.egg-info"))
    for folder in [*folders, VENV] if arguments else folders:
        if folder.is_dir():
            shutil.rmtree(folder)
            print(f"removed {folder.relative_to(ROOT)}")
    (ROOT / "compile_commands.json").unlink(missing_ok=True)


def show_help(here: bool, arguments: list[str]) -> None:
    """show this text"""
    del here, arguments
    print((__doc__ or "").strip() + "\n\nTasks:")
    for name, task in TASKS.items():
        print(f"  {name:9} {task.__doc__}")


# ---- parts of tasks --------------------------------------------------------------------------------------------


def generate(place: Workshop, folder: Path, seed: str = "0") -> None:
    """Write the generated sources of the shim and the CPU driver. They must not depend on the hash seed."""
    seeded = Workshop(place.python, {**place.environment, "PYTHONHASHSEED": seed})
    for api in ("cuda", "hip") if has_hip(place) else ("cuda",):
        for target in (["shim", "--all-header-functions"], ["sim"]):
            out = folder / (target[0] if api == "cuda" else f"{api}-{target[0]}")
            command = ["-m", "benchguard.codegen", *target, "--api", api, "--out", str(out)]
            seeded.run(*command, then="the line above says why", quiet=True)


def has_hip(place: Workshop) -> bool:
    """Whether the generator finds HIP's headers."""
    ask = [str(place.python), "-c", "from benchguard.codegen.hip import find_hip_headers; find_hip_headers()"]
    done = subprocess.run(ask, cwd=ROOT, env=place.environment, capture_output=True, check=False)
    return done.returncode == 0


def check_determinism(place: Workshop) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        first, second = Path(scratch, "first"), Path(scratch, "second")
        generate(place, first, seed="1")
        generate(place, second, seed="2")
        files = [path.relative_to(first) for path in sorted(first.rglob("*")) if path.is_file()]
        differing = [
            str(file) for file in files if (first / file).read_bytes() != (second / file).read_bytes()
        ]
    if differing:
        raise TaskError(
            f"codegen wrote {', '.join(differing)} differently the second time; sort the sets it iterates over"
        )
    print(f"codegen: {len(files)} files, identical when generated twice")


def check_c_format(place: Workshop) -> None:
    sources = hand_written_c()
    program = shutil.which("clang-format", path=place.environment.get("PATH")) or "clang-format"
    command = [program, "--dry-run", "-Werror", *map(str, sources)]
    execute(
        command,
        "run clang-format -i on the files it names (the extra `check` installs it)",
        place.environment,
    )
    print(f"clang-format: {len(sources)} files")


def hand_written_c() -> list[Path]:
    """C and CUDA sources and headers, except generated ones and stand-ins for a vendor's."""
    folders = ("hook", "preload", "engine", "sim", "examples", "tests")
    found = [
        path
        for name in folders
        for path in (ROOT / name).rglob("*")
        if path.suffix in {".c", ".h", ".cu", ".cuh"}
    ]
    return sorted(path.relative_to(ROOT) for path in found if "golden" not in path.parts)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def no_arguments(task: str, arguments: list[str]) -> None:
    if arguments:
        raise TaskError(f"{task} takes no arguments, not {shlex.join(arguments)}")


TASKS: dict[str, Callable[[bool, list[str]], None]] = {
    "setup": setup,
    "gen": gen,
    "build": build,
    "demo": demo,
    "check": check,
    "test": test,
    "bench": bench,
    "fuzz": fuzz,
    "device": device,
    "sanitize": sanitize,
    "docs": docs,
    "clean": clean,
    "help": show_help,
}


def main(words: list[str]) -> int:
    if sys.version_info < OLDEST:
        print(
            f"build: Python {sys.version.split()[0]} is too old; run it with 3.10 or newer", file=sys.stderr
        )
        return 1
    here = "--here" in words
    words = [word for word in words if word != "--here"]
    name = words[0] if words else "help"
    if name in ("-h", "--help"):
        name = "help"
    if name not in TASKS:
        print(f"build: unknown task {name}; the tasks are {', '.join(TASKS)}", file=sys.stderr)
        return 2
    try:
        TASKS[name](here, words[1:])
    except TaskError as error:
        print(f"build: {name}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"build: {name}: {error}; check the path, its rights and free space", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
