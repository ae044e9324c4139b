"""NVIDIA's cuda-samples on the CPU driver: build each one, run it observed, and print a table by outcome.

    python tests/clients/cuda_samples.py CHECKOUT [--scratch FOLDER] [--cpu SECONDS] [--json FILE] [NAME...]

CHECKOUT is a folder with a copy of the samples; it is not changed, and nothing is fetched. The samples are those that
have a CMakeLists.txt below its Samples folder. They are built with cmake in the scratch folder, for one architecture
and with the shared CUDA runtime. A sample that has been built there is not built again. Exits with 1 if a sample was
wrong, or a log is not valid.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "benchguard" / "native" / "sim" / "libcuda.so.1"
ORDER = ("right", "waived", "too slow", "refused", "wrong", "not built")
WAIVED = 2
"""Exit status of a sample that lacks a feature of the device (EXIT_WAIVED in the samples' helper_cuda.h)."""
DRIVER_LINES = ("CPU driver: ", "CUDA runtime (neutrino): ")
REFUSAL = re.compile(r"not supported|unsupported|machine code|dynamic parallelism")
ARCHITECTURES = re.compile(r"set\(CMAKE_CUDA_ARCHITECTURES [^)]*\)")
SECONDS_TO_BUILD = 1200


@dataclass(frozen=True)
class Result:
    """One sample: its outcome, exit status, processor time, the line that explains it, and the state of the log."""

    name: str
    outcome: str
    status: int | None = None
    cpu_seconds: float = 0.0
    why: str = ""
    log_valid: bool | None = None


def find_samples(checkout: Path) -> list[Path]:
    """The folders of samples, relative to the checkout."""
    lists = (checkout / "Samples").glob("*/*/CMakeLists.txt")
    return sorted(path.parent.relative_to(checkout) for path in lists if "add_executable" in path.read_text())


def copy_checkout(checkout: Path, scratch: Path, architecture: str) -> None:
    """Copy the samples, with lists that name one architecture: they name up to nine."""
    if (scratch / "Samples").exists():
        return
    shutil.copytree(checkout, scratch, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True)
    for path in scratch.rglob("CMakeLists.txt"):
        text = path.read_text()
        path.write_text(ARCHITECTURES.sub(f"set(CMAKE_CUDA_ARCHITECTURES {architecture})", text))


def build(folder: Path) -> str:
    """Build a sample. Returns why there is no program; empty if there is one."""
    output = folder / "build"
    if (output / folder.name).is_file():
        return ""
    configure = ["cmake", "-S", str(folder), "-B", str(output), "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"]
    configure += [f"-DCUDA_cuda_driver_LIBRARY={DRIVER}", "-DCMAKE_BUILD_TYPE=Release"]
    text = ""
    for command in (configure, ["cmake", "--build", str(output)]):
        try:
            result = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=SECONDS_TO_BUILD
            )
        except subprocess.TimeoutExpired:
            return f"the build took more than {SECONDS_TO_BUILD} s"
        text += result.stdout + result.stderr
        if result.returncode != 0:
            break
    (folder / "build.log").write_text(text)
    return "" if (output / folder.name).is_file() else explain_build(text)


def explain_build(text: str) -> str:
    for pattern in (
        r"target was not found:\n+\s*(\S+)",
        r"(.*not found.*)",
        r"(.*error.*)",
        r"(.*[Ww]ill not build.*)",
    ):
        found = re.search(pattern, text)
        if found is not None:
            return found[1].strip().removeprefix("-- ")
    return "no program was made"


def read_arguments(checkout: Path) -> dict[str, list[str]]:
    """The arguments that the samples' own test runner passes."""
    path = checkout / "test_args.json"
    rows = json.loads(path.read_text()) if path.is_file() else {}
    return {
        name: row.get("args") or (row.get("runs") or [{}])[0].get("args", []) for name, row in rows.items()
    }


def run(folder: Path, arguments: list[str], cpu_limit: int) -> Result:
    name, log = folder.name, folder / "observed.audit.jsonl"
    log.unlink(missing_ok=True)
    # The limit is the sample's: the first run after a change also compiles the shim.
    limited = ["sh", "-c", f'ulimit -S -t {cpu_limit} && exec "$0" "$@"']
    command = [sys.executable, "-m", "benchguard", "--log", str(log), "--driver", "sim", "--"]
    command += [*limited, f"./{name}", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output, status, late = run_limited(command, folder / "build", environment, 60 + 10 * cpu_limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (folder / "run.log").write_text(output)
    outcome = classify(status, late, output)
    why = "" if outcome in ("right", "too slow") else explain_run(output)
    verified = subprocess.run(
        [sys.executable, "-m", "benchguard", "verify-log", str(log)],
        env=environment,
        capture_output=True,
        check=False,
    )
    return Result(name, outcome, status, round(seconds, 1), why, verified.returncode == 0)


def run_limited(
    command: list[str], folder: Path, environment: dict[str, str], most: float
) -> tuple[str, int, bool]:
    """Run a command. Returns its output, its status, and whether the limit of `most` seconds ended it."""
    with tempfile.TemporaryFile(mode="w+", errors="replace") as output:
        begin = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(most)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)  # the log is completed then
            try:
                status = process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = process.wait()
        late = status in (128 + signal.SIGXCPU, -signal.SIGXCPU) or time.monotonic() - begin >= most
        output.seek(0)
        return output.read(), status, late


def classify(status: int, late: bool, output: str) -> str:
    if late:
        return "too slow"
    if status == WAIVED:
        return "waived"
    refused = [line for line in output.splitlines() if line.startswith(DRIVER_LINES) and REFUSAL.search(line)]
    if status == 0:
        return "right"
    return "refused" if refused else "wrong"


def explain_run(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(DRIVER_LINES)]
    failing = [line for line in lines if re.search(r"error|fail|waiv|not support", line, re.IGNORECASE)]
    return (own or failing or lines or [""])[0][:160]


def show(results: list[Result]) -> None:
    print(f"| {'sample':32} | {'outcome':9} | {'exit':>4} | {'CPU s':>6} | reason |")
    print("| --- | --- | ---: | ---: | --- |")
    for result in sorted(results, key=lambda result: (ORDER.index(result.outcome), result.name)):
        status = "" if result.status is None else result.status
        print(
            f"| {result.name:32} | {result.outcome:9} | {status:>4} | {result.cpu_seconds:6.1f} | {result.why} |"
        )
    counts = Counter(result.outcome for result in results)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in ORDER if counts[outcome]))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these samples (default: all)")
    parser.add_argument(
        "--scratch", type=Path, help="keep programs and outputs there (default: a temporary folder)"
    )
    parser.add_argument("--architecture", default="90", help="of the code (default: %(default)s)")
    parser.add_argument(
        "--cpu", type=int, default=120, metavar="SECONDS", help="of each run (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    options = parser.parse_intermixed_args()
    samples = find_samples(options.checkout)
    unknown = set(options.names) - {sample.name for sample in samples}
    if not samples or unknown:
        problem = f"no sample {', '.join(sorted(unknown))}" if samples else "no Samples/*/*/CMakeLists.txt"
        print(f"{options.checkout}: {problem}; name a copy of cuda-samples", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        scratch = options.scratch or Path(temporary)
        copy_checkout(options.checkout, scratch, options.architecture)
        arguments = read_arguments(scratch)
        results = []
        for sample in samples:
            if options.names and sample.name not in options.names:
                continue
            why = build(scratch / sample)
            result = (
                Result(sample.name, "not built", why=why)
                if why
                else run(scratch / sample, arguments.get(sample.name, []), options.cpu)
            )
            results.append(result)
            print(f"{result.name}: {result.outcome}", file=sys.stderr, flush=True)
    show(results)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    return int(any(result.outcome == "wrong" or result.log_valid is False for result in results))


if __name__ == "__main__":
    sys.exit(main())
