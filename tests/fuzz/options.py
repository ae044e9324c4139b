"""The options that all fuzzers of Python readers have."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.fuzz.targets import ROOT


def parser_of(description: str | None, broken: str) -> argparse.ArgumentParser:
    """`broken` names what --break-NAME plants an error in, so that a test can see the fuzzer find it."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="inputs to make (default: 10000)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    out = ROOT / "build" / "fuzz"
    parser.add_argument("--out", type=Path, default=out, help="(default: build/fuzz)")
    parser.add_argument(f"--break-{broken}", action="store_true", help=f"plant an error in the {broken}")
    return parser
