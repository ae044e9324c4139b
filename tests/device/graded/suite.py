"""Time a submission by its suite's own harness: python suite.py FORM JOB. Prints times in microseconds by case.

JOB is JSON: problem, submission and entry of a pair, its cases and arguments, and the folder of the suite's library.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPEATS = 100
FAILED_CHARACTERS = 300


def gpumode(job: dict[str, Any]) -> dict[str, float]:
    """The means of the task's own eval.py in benchmark mode."""
    from benchguard.adapters.gpumode import read_task

    task = read_task(Path(job["problem"]) / "task.yml")
    numbers = [
        int(each.partition(".")[2]) for each in job["cases"] or ["benchmark.0"] if each.startswith("bench")
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for placed, source in task.files.items():
            (folder / placed).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / placed)
        shutil.copy(job["submission"], folder / "submission.py")
        lines = [
            "; ".join(f"{key}: {value}" for key, value in task.arguments["benchmarks"][number].items())
            for number in numbers
        ]
        (folder / "cases.txt").write_text("".join(f"{line}\n" for line in lines))
        reader, writer = os.pipe()
        done = subprocess.run(
            [sys.executable, task.main, "benchmark", "cases.txt"],
            cwd=folder, env={**os.environ, "POPCORN_FD": str(writer)}, pass_fds=[writer], check=False,
        )  # fmt: skip
        os.close(writer)
        with os.fdopen(reader) as file:
            said = dict(line.rstrip("\n").partition(": ")[::2] for line in file)
    if done.returncode != 0:
        raise SystemExit(f"eval.py exited with {done.returncode}: {json.dumps(said)[-FAILED_CHARACTERS:]}")
    return {f"benchmark.{n}": float(said[f"benchmark.{at}.mean"]) / 1e3 for at, n in enumerate(numbers)}


def kernelbench(job: dict[str, Any]) -> dict[str, float]:
    """The mean of KernelBench's eval_kernel_against_ref."""
    sys.path.insert(0, job["library"])
    from kernelbench.eval import eval_kernel_against_ref

    reference, submission = (Path(job[name]).read_text() for name in ("problem", "submission"))
    if job["submission"] == job["problem"]:
        submission += "\n\nModelNew = Model\n"
    result = eval_kernel_against_ref(
        reference, submission, measure_performance=True, num_perf_trials=REPEATS, check_for_excessive_speedup=False,
        backend="triton" if "import triton" in submission else "cuda",
    )  # fmt: skip
    if result is None or not result.correctness:
        raise SystemExit(f"KernelBench: not correct: {str(result and result.metadata)[-FAILED_CHARACTERS:]}")
    return {"forward": 1e3 * float(result.runtime)}


def pygpubench(job: dict[str, Any]) -> dict[str, float]:
    """The mean of do_bench_isolated, which imports generator and submission by name in a process of its own."""
    problem, _, function = job["problem"].rpartition(":")
    submission = Path(job["submission"])
    folders = [str(Path(problem).parent), str(submission.parent)]
    if "library" in job:
        folders.append(job["library"])
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*folders, os.environ.get("PYTHONPATH")]))
    import pygpubench as grader

    result = grader.do_bench_isolated(
        f"{submission.stem}.{job['entry']}", getattr(importlib.import_module(Path(problem).stem), function),
        job["arguments"], REPEATS, 5, landlock=False, mseal=False, allow_root=True,
    )  # fmt: skip
    return {function: float(grader.basic_stats(result.time_us).mean)}


HARNESSES = {each.__name__: each for each in (gpumode, kernelbench, pygpubench)}


if __name__ == "__main__":
    print(json.dumps({"times_us": HARNESSES[sys.argv[1]](json.loads(sys.argv[2]))}), flush=True)
