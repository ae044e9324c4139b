#!/usr/bin/env python3
"""The one task entry: python build.py TASK [--here] [ARGUMENTS]

A clean clone needs Python >= 3.10 with venv, and a C compiler. The first task makes .venv and fetches what the
project needs; afterwards no task needs the network.

--here uses the Python that runs this script, as it is, and installs nothing: for a machine without a network
that has the dependencies already.
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
EXTRAS = ("examples", "test")
"""What a task may ask for; each includes the ones before it (pyproject.toml)."""

SANITIZERS = ("address,undefined", "thread")
DEMO = "examples/grayscale/submission.py"
REPLAY_DEMO = "examples/replay/program.py"
GRADE_DEMO = (
    "examples/problems/grayscale.py",
    "examples/problems/submissions/grayscale/numba_kernel.py",
)


class TaskError(Exception):
    """One line: what went wrong and what to do about it."""


@dataclass(frozen=True)
class Workshop:
    """A Python that has the project, and the environment its commands run in."""

    python: Path
    environment: dict[str, str]

    def run(self, *arguments: str | Path, then: str, quiet: bool = False) -> None:
        """Run a Python command. `then` says what to do if it fails."""
        words = [str(word) for word in arguments]
        if not quiet:
            shown = ["python" if word == str(self.python) else word for word in words]
            print("$ python " + shlex.join(shown), flush=True)
        execute([str(self.python), *words], then, self.environment)


def execute(command: Sequence[str], then: str, environment: dict[str, str] | None = None) -> None:
    """Raises TaskError if the command cannot be started or ends with anything but 0."""
    try:
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    except OSError as error:
        raise TaskError(f"{command[0]}: {error.strerror}; {then}") from error
    if status != 0:
        shown = shlex.join([Path(command[0]).name, *command[1:]])
        raise TaskError(f"{shown[:120]} ended with {status}; {then}")


# ---- setting up ------------------------------------------------------------------------------------------------


def workshop(extra: str, here: bool) -> Workshop:
    """The Python to run a task in: .venv with `extra` installed, or with `here` the one that runs us."""
    need_compiler()
    if here:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return Workshop(Path(sys.executable), {**os.environ, "PYTHONPATH": path})
    if not is_set_up(extra):
        set_up(extra)
    path = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])
    return Workshop(VENV / "bin" / "python", {**os.environ, "PATH": path, "VIRTUAL_ENV": str(VENV)})


def fingerprint() -> str:
    """Changes when .venv has to be made again: other requirements, another Python, another place."""
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    for text in (sys.version, str(Path(sys.executable).resolve()), str(ROOT)):
        digest.update(b"\0" + text.encode())
    return digest.hexdigest()


def is_set_up(extra: str) -> bool:
    try:
        found, _, installed = MARKER.read_text().partition(" ")
    except OSError:
        return False
    enough = installed in EXTRAS and EXTRAS.index(installed) >= EXTRAS.index(extra)
    return enough and found == fingerprint() and (VENV / "bin" / "python").exists()


def set_up(extra: str) -> None:
    """Make .venv and install the project into it, editable."""
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise TaskError(
                f"{sys.executable} has no module {module}; install it (Debian, Ubuntu: apt install python3-venv) "
                "or use --here"
            )
    python = VENV / "bin" / "python"
    MARKER.unlink(missing_ok=True)
    if not is_of_this_python(python):
        print(f"making {VENV}", flush=True)
        execute([sys.executable, "-m", "venv", "--clear", str(VENV)], "free the disk, or use --here")
    print(f"installing the project and what its {extra} extra names; this happens once", flush=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    execute(
        [*pip, "--editable", f".[{extra}]"],
        "the lines above say why; without a network use --here with a Python that has the dependencies",
    )
    if extra == "test":
        fetch = [str(python), "tests/support/fetch_hip.py", str(VENV / "hip")]
        execute(fetch, "the line above says why; without CI=true the tests of HIP are left out")
    MARKER.write_text(f"{fingerprint()} {extra}")


def is_of_this_python(python: Path) -> bool:
    """Whether the environment of `python` works and was made from the Python that runs us."""
    ask = "import pip, sys; print(sys.version, sys.base_prefix)"
    try:
        done = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.strip() == f"{sys.version} {sys.base_prefix}"


def need_compiler() -> None:
    named = shlex.split(os.environ.get("CC", ""))
    candidates = named[:1] or ["cc", "gcc", "clang"]
    if not any(shutil.which(name) for name in candidates):
        where = f"CC={named[0]}: no such program" if named else "no C compiler found"
        raise TaskError(f"{where}; install gcc or clang, or set CC to one")


def build_native(place: Workshop, *options: str | Path) -> None:
    place.run(
        "-m",
        "benchguard.toolchain.native",
        *options,
        then="the line above says which source and why",
        quiet=True,
    )


# ---- tasks -----------------------------------------------------------------------------------------------------


def setup(here: bool, arguments: list[str]) -> None:
    """make .venv with everything the tests need"""
    no_arguments("setup", arguments)
    place = workshop("test", here)
    print(f"ready: {place.python}")


def gen(here: bool, arguments: list[str]) -> None:
    """write the generated C to build/generated, to be read"""
    no_arguments("gen", arguments)
    generate(workshop("examples", here), OUT / "generated")


def build(here: bool, arguments: list[str]) -> None:
    """compile the shim, the dlopen redirection, the CPU driver and the replay engine"""
    no_arguments("build", arguments)
    build_native(workshop("examples", here))


def demo(here: bool, arguments: list[str]) -> None:
    """observe an example and check its log, record and replay another, grade a third; options go to the first"""
    place = workshop("examples", here)
    build_native(place)
    folder = OUT / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "grayscale.audit.jsonl"
    bench = ("-m", "benchguard", "--log", log.relative_to(ROOT), "--force", "--")
    example = (str(place.python), DEMO, "--out", str(folder.relative_to(ROOT)), *arguments)
    place.run(
        *bench, *example, then="its last line says why; `python -m benchguard doctor` checks the machine"
    )
    place.run("-m", "benchguard", "verify-log", log.relative_to(ROOT), then="the log was altered; run again")
    capture = (folder / "equalise.ncap").relative_to(ROOT)
    record = ("-m", "benchguard", "record", "-o", capture, "--force", "--")
    place.run(*record, place.python, REPLAY_DEMO, then="its last line says why")
    replay = ("-m", "benchguard", "replay", capture, "--verify", "--samples", "50")
    place.run(*replay, then="its last line says why, and what to do")
    grade = ("-m", "benchguard", "grade", *GRADE_DEMO, "--case", "small", "--samples", "40")
    place.run(*grade, then="its last line says why, and what to do")


def test(here: bool, arguments: list[str]) -> None:
    """run the tests; options go to pytest"""
    place = workshop("test", here)
    build_native(place)
    place.run("-m", "pytest", *arguments, then="the summary above names the tests that failed")


def check(here: bool, arguments: list[str]) -> None:
    """ruff, mypy, clang-format, and that the same input gives the same C"""
    no_arguments("check", arguments)
    place = workshop("test", here)
    place.run("-m", "ruff", "check", ".", then="fix the lines it names")
    place.run("-m", "ruff", "format", "--check", ".", then="run `ruff format .`")
    place.run("-m", "mypy", then="fix the lines it names")
    place.run("-m", "mypy", "build.py", then="fix the lines it names")
    check_c_format(place)
    check_determinism(place)


def bench(here: bool, arguments: list[str]) -> None:
    """measure what a call costs under the shim, or `bench engine`: how fast PTX runs; options go on"""
    place = workshop("examples", here)
    build_native(place)
    folder = "sim" if arguments[:1] == ["engine"] else "overhead"
    rest = arguments[1:] if folder == "sim" else arguments
    place.run(f"tests/bench/{folder}/run.py", *rest, then="the lines above say why")


def fuzz(here: bool, arguments: list[str]) -> None:
    """feed mutated input to a reader: ptx, run, link, fatbin, globals, kernels, capture; options: tests/fuzz/run.py"""
    place = workshop("test", here)
    place.run("tests/fuzz/run.py", *arguments, then="the lines above say what was found and how to repeat it")


def device(here: bool, arguments: list[str]) -> None:
    """run real GPU programs without and with the shim and compare; skips without a GPU"""
    place = workshop("test", here)
    build_native(place)
    place.run("tests/device/run.py", *arguments, then="the table above names the programs that failed")


def sanitize(here: bool, arguments: list[str]) -> None:
    """run the C code under the address, undefined-behaviour and thread sanitizers; options go to pytest"""
    place = workshop("test", here)
    folder = OUT / "sanitize"
    for name in SANITIZERS:
        build_native(place, "--sanitize", name, "--out", folder / name.replace(",", "-"))
    place = Workshop(place.python, {**place.environment, "NEUTRINO_SANITIZED": str(folder)})
    place.run("-m", "pytest", "tests/sanitize", "tests/unit/hook", *arguments, then="the report is above")


def clean(here: bool, arguments: list[str]) -> None:
    """remove what was built; --all removes .venv too"""
    del here
    if arguments not in ([], ["--all"]):
        raise TaskError("clean takes --all or nothing")
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


def show_help(here: bool, arguments: list[str]) -> None:
    """this text"""
    del here, arguments
    print((__doc__ or "").strip() + "\n\nTasks:")
    for name, task in TASKS.items():
        print(f"  {name:9} {task.__doc__}")


# ---- their parts -----------------------------------------------------------------------------------------------


def generate(place: Workshop, folder: Path, seed: str = "0") -> None:
    """The shim's and the CPU driver's generated sources. The hash seed must make no difference."""
    seeded = Workshop(place.python, {**place.environment, "PYTHONHASHSEED": seed})
    for api in ("cuda", "hip") if has_hip(place) else ("cuda",):
        for what in (["shim", "--all-header-functions"], ["sim"]):
            out = folder / (what[0] if api == "cuda" else f"{api}-{what[0]}")
            command = ["-m", "benchguard.codegen", *what, "--api", api, "--out", str(out)]
            seeded.run(*command, then="the line above says why", quiet=True)


def has_hip(place: Workshop) -> bool:
    """Whether HIP's headers are where the generator looks for them."""
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
            f"codegen wrote {', '.join(differing)} differently the second time; sort what it iterates"
        )
    print(f"codegen: {len(files)} files, the same bytes twice")


def check_c_format(place: Workshop) -> None:
    sources = hand_written_c()
    program = shutil.which("clang-format", path=place.environment.get("PATH")) or "clang-format"
    command = [program, "--dry-run", "-Werror", *map(str, sources)]
    execute(
        command, "run clang-format -i on the files it names (it comes with the extra test)", place.environment
    )
    print(f"clang-format: {len(sources)} files")


def hand_written_c() -> list[Path]:
    """Every C and CUDA source and header but those that are generated or stand for a vendor's."""
    folders = ("hook", "preload", "engine", "sim", "examples", "tests")
    found = [
        path for name in folders for path in (ROOT / name).rglob("*") if path.suffix in {".c", ".h", ".cu"}
    ]
    return sorted(path.relative_to(ROOT) for path in found if "golden" not in path.parts)


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
        print(f"build: no task {name}; the tasks are {', '.join(TASKS)}", file=sys.stderr)
        return 2
    try:
        TASKS[name](here, words[1:])
    except TaskError as error:
        print(f"build: {name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
