"""A folder like that of a page's reader: the files that the pages name without showing them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import NATIVE, ROOT

PROGRAM = '''
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

import benchguard

SOURCE = """
extern "C" __global__ void saxpy(float *y) { y[blockIdx.x * 256 + threadIdx.x] += 2; }
extern "C" __global__ void gemm(float *y) { y[blockIdx.x * 256 + threadIdx.x] *= 3; }
"""
device = Device()
device.set_current()
stream = device.create_stream()
module = Program(SOURCE, "c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("ptx")
y = device.allocate(4096, stream=stream)
stream.sync()
with benchguard.region("work"):
    for name in 8 * ("saxpy", "gemm"):
        launch(stream, LaunchConfig(grid=4, block=256), module.get_kernel(name), y)
stream.sync()
'''
PROGRAMS = ("program.py", "submission.py", "eval.py", "train.py", "before.py", "after.py")
KERNELS = 'extern "C" __global__ void saxpy(float *y) { y[threadIdx.x] *= 2; }\n'


def environment(folder: Path) -> dict[str, str]:
    """Make `python` and `neutrino-bench` of this interpreter the first ones in PATH."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "neutrino-bench").write_text(f'#!/bin/sh\nexec {sys.executable} -m benchguard "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}


def copy_checkout(folder: Path) -> None:
    """Copy the parts of a checkout that readers change."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("examples", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, symlinks=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "benchguard").mkdir()  # not a package, so that PYTHONPATH's is imported
    (folder / "benchguard" / "native").symlink_to(NATIVE)


def write_stand_ins(folder: Path, nvcc: Path) -> None:
    """Write the programs, problems and submissions that pages name."""
    examples = ROOT / "examples" / "problems"
    for name in PROGRAMS:
        (folder / name).write_text(PROGRAM)
    for name in ("program", "a"):
        (folder / name).write_text("#!/bin/sh\nexec python program.py\n")
        (folder / name).chmod(0o755)
    shutil.copy(ROOT / "benchguard" / "policy" / "named" / "observe.toml", folder / "rules.toml")
    shutil.copy(examples / "declare.py", folder)
    for name, problem in (("problem", "vector_add"), ("add", "vector_add"), ("sum", "reduction")):
        shutil.copy(examples / f"{problem}.py", folder / f"{name}.py")
    kernel = examples / "submissions" / "vector_add"
    (folder / "submissions").mkdir()
    for name in ("submission.cu", "before.cu", "after.cu", "submissions/first.cu"):
        shutil.copy(kernel / "cuda.cu", folder / name)
    line = {"id": "1", "problem": "add", "source": (kernel / "kernel.ptx").read_text(), "language": "ptx"}
    (folder / "submissions.jsonl").write_text(json.dumps(line) + "\n")
    (folder / "kernels.cu").write_text(KERNELS)
    for options in (
        ("-fatbin", "-o", "kernels.fatbin"),
        ("-shared", "-Xcompiler", "-fPIC", "-o", "libkernels.so"),
    ):
        subprocess.run([str(nvcc), *options, "kernels.cu"], cwd=folder, check=True, capture_output=True)
