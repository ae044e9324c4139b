"""Run the corpus on a driver: python tests/corpus/run.py [--driver PATH] [--json OUT] [FAMILY...]

The default driver is $CORPUS_DRIVER, else the CPU driver. Prints the failures and a total. OUT gets the result of each
kernel and image, with the SHA-256 of each output buffer. Exits with 1 if a case failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from tests.corpus.driver import SIM
from tests.corpus.families import FAMILIES
from tests.corpus.running import Result, Session


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", type=Path, help=f"libcuda to use (default: {SIM})")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--image", action="append", help="run only this image: 75, 80, 90, 90g, nvrtc90")
    parser.add_argument("--case", help="run only this case")
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES], metavar="FAMILY")
    chosen = parser.parse_args(arguments)
    session = Session(chosen.driver)
    print(f"{session.driver.device}, driver {session.driver.version}", flush=True)
    results: list[Result] = []
    for family in chosen.families or FAMILIES:
        actual = session.family(family, chosen.image, chosen.case)
        report(actual)
        results += actual
    failed = sum(not result.passed for result in results)
    print(f"{len(results)} runs, {failed} failed")
    if chosen.json is not None:
        document = {"device": session.driver.device, "driver": session.driver.version}
        chosen.json.write_text(json.dumps({**document, "results": [r.document() for r in results]}, indent=1))
    return int(failed > 0 or not results)


def report(results: list[Result]) -> None:
    """Print failures, with one line for all cases of a refused module."""
    problems: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if not result.passed:
            problems.setdefault((f"{result.family} {result.image}", result.problem), []).append(result.case)
    for (module, problem), cases in problems.items():
        print(f"{module} {', '.join(cases)}: {problem}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
