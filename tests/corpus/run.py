"""Run the corpus on a driver: python tests/corpus/run.py [--driver PATH] [--json OUT] [FAMILY...]

Without --driver it is that of $CORPUS_DRIVER, or the CPU driver. Prints what differs from its reference and a
total. OUT gets, for every kernel and image, what came of it and the SHA-256 of every output buffer. Exits with 1 if any
failed.
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
    parser.add_argument("--driver", type=Path, help=f"libcuda to use; {SIM}")
    parser.add_argument("--json", type=Path, help="file that gets the results")
    parser.add_argument("--image", action="append", help="only images of this name: 75, 80, 90, 90g, nvrtc")
    parser.add_argument("--case", help="only this case")
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES], metavar="FAMILY")
    chosen = parser.parse_args(arguments)
    session = Session(chosen.driver)
    print(f"{session.driver.device}, driver {session.driver.version}", flush=True)
    results: list[Result] = []
    for family in chosen.families or FAMILIES:
        found = session.family(family, chosen.image, chosen.case)
        report(found)
        results += found
    failed = sum(not result.passed for result in results)
    print(f"{len(results)} runs, {failed} failed")
    if chosen.json is not None:
        document = {"device": session.driver.device, "driver": session.driver.version}
        chosen.json.write_text(json.dumps({**document, "results": [r.document() for r in results]}, indent=1))
    return int(failed > 0 or not results)


def report(results: list[Result]) -> None:
    """The failures; one line for all that a refused module took with it."""
    problems: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if not result.passed:
            problems.setdefault((f"{result.family} {result.image}", result.problem), []).append(result.case)
    for (module, problem), cases in problems.items():
        print(f"{module} {', '.join(cases)}: {problem}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
