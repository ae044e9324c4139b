"""numba-cuda's own test-suite on the CPU driver: what passes, and for each cause what does not.

    python tests/clients/numba_suite.py [--shim] [--json FILE] [--list FILE] [PATTERN...]

A PATTERN picks test modules, or with `::` tests: cudapy/test_math.py, 'cudadrv/*', '*::TestCudaMath::*'. Exits
non-zero if a test that was run failed, unless it needs machine code.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from numba_causes import CUBIN, FAULTY, Cause, failure_cause, skip_cause
from numba_run import Module, Settings, Test, find_modules, find_tests, run_module

SHOWN = 4
"""Tests named for each cause."""


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument(
        "--shim", action="store_true", help="observe each module, and compare what the shim saw"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all outcomes there")
    parser.add_argument("--list", type=Path, metavar="FILE", help="take the patterns from there, one a line")
    parser.add_argument(
        "--limit", type=float, default=900, metavar="SECONDS", help="for one test (%(default)s)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="modules at a time"
    )
    parser.add_argument("--python", default=os.environ.get("NEUTRINO_CLIENTS", sys.executable))
    return parser.parse_args(arguments)


def chosen(modules: list[str], options: argparse.Namespace) -> dict[str, list[str] | None]:
    """The modules to run, and for each the tests, or None for all."""
    if options.list is not None:
        patterns = [
            line for line in options.list.read_text(encoding="utf-8").split("\n") if line[:1] not in ("", "#")
        ]
    else:
        patterns = options.patterns or ["*"]
    work: dict[str, list[str] | None] = {}
    for module in modules:
        fitting = [pattern for pattern in patterns if fnmatchcase(module, pattern.partition("::")[0])]
        if fitting:
            work[module] = fitting if all("::" in pattern for pattern in fitting) else None
    return work


def run_all(work: dict[str, list[str] | None], settings: Settings, jobs: int) -> list[Module]:
    def run(name: str) -> Module:
        module = run_module(name, settings, work[name])
        counts = Counter(test.outcome for test in module.tests)
        output = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        print(f"{name}: {output or 'no tests'} in {module.seconds:.0f} s", file=sys.stderr, flush=True)
        return module

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: settings.stopped.set())
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, work))


def cause_of(test: Test) -> Cause | None:
    """Why a test did not pass; None if it did, or failed as numba-cuda expects it to."""
    if test.outcome in ("passed", "xfailed"):
        return None
    if test.outcome == "skipped":
        return skip_cause(test.text)
    if test.outcome in ("timeout", "crashed"):
        return Cause(test.outcome, test.text.partition("\n")[0])
    if test.name in FAULTY:
        return Cause("a fault of the test's", FAULTY[test.name])
    return failure_cause(test.text)


def report(modules: list[Module]) -> bool:
    """Print the table; whether all that had to pass has."""
    tests = [test for module in modules for test in module.tests]
    causes = [(test, cause) for test in tests if (cause := cause_of(test)) is not None]
    skipped = [(test, cause) for test, cause in causes if test.outcome == "skipped"]
    machine_code = [
        (test, cause) for test, cause in causes if test.outcome != "skipped" and cause.group == CUBIN
    ]
    failed = [(test, cause) for test, cause in causes if test.outcome != "skipped" and cause.group != CUBIN]
    passed = len(tests) - len(causes)

    _table("Failed", failed)
    _table("Failed for want of machine code or its tools", machine_code)
    _table("Skipped by numba-cuda", skipped)
    launching = [test for test in tests if test.launches and cause_of(test) is None]
    print(
        f"\n{len(tests)} tests of {len(modules)} modules: {passed} passed, {len(failed)} failed, "
        f"{len(machine_code)} need machine code, {len(skipped)} skipped"
    )
    print(f"{len(launching)} of those passed launched {sum(test.launches for test in launching)} kernels")
    if passed + len(failed):
        print(
            f"{100 * passed / (passed + len(failed)):.1f} % of those that ran and need no machine code passed"
        )
    agreed = _shim_agrees(modules)
    return agreed and not failed


def _shim_agrees(modules: list[Module]) -> bool:
    observed = [module for module in modules if module.seen is not None]
    good = True
    for module in observed:
        ended = all(test.outcome not in ("timeout", "crashed") for test in module.tests)
        if module.seen != module.ran and ended:
            print(f"the shim saw {module.seen} launches of {module.name}, the driver ran {module.ran}")
            good = False
    if observed:
        print(f"the shim saw {sum(module.seen or 0 for module in observed)} launches")
    return good


def _table(title: str, rows: list[tuple[Test, Cause]]) -> None:
    by_cause: dict[Cause, list[str]] = defaultdict(list)
    for test, cause in rows:
        by_cause[cause].append(test.name)
    if rows:
        print(f"\n{title}: {len(rows)}")
    for cause, names in sorted(by_cause.items(), key=lambda item: (item[0].group, -len(item[1]))):
        print(f"{len(names):5}  {cause.group}: {cause.detail}")
        for name in names[:SHOWN]:
            print(f"           {name}")
        if len(names) > SHOWN:
            print(f"           and {len(names) - SHOWN} more")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    tests = find_tests(options.python)
    with tempfile.TemporaryDirectory(prefix="numba-suite-") as scratch:
        settings = Settings(options.python, options.shim, options.limit, tests, Path(scratch))
        work = chosen(find_modules(tests), options)
        if not work:
            print("no test module matches", file=sys.stderr)
            return 2
        modules = run_all(work, settings, options.jobs)
    if options.json is not None:
        options.json.write_text(json.dumps([dataclasses.asdict(module) for module in modules], indent=1))
    return 0 if report(modules) else 1


if __name__ == "__main__":
    sys.exit(main())
