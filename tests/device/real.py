"""Grade the real pairs of a folder, and print a table by form: python tests/device/real.py FOLDER [MANIFEST]

FOLDER/manifest.jsonl lists the pairs, if MANIFEST is not given (tests/device/README.md). Each pair is graded in a
process of its own. If OUT is set, real.jsonl (a line as each pair ends) and real.md (the tables) are kept there. Exits
with 1 if an outcome is not as expected.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, not as a module of tests/

from tests.device import outcome_tables
from tests.device.batches import Batch, Journal
from tests.device.grading import Outcome
from tests.device.pairs import FORMS, ManifestError, Pair, read_manifest

SHARED = "Several grades ran at once on a GPU: their times are not to be trusted."


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("manifest", type=Path, nargs="?", help="default: FOLDER/manifest.jsonl")
    parser.add_argument(
        "--only", action="append", default=[], help="a form, or a pattern of ids; may be repeated"
    )
    parser.add_argument("--shard", default="0/1", help="I/N: every Nth pair, beginning at I")
    add_batch_options(parser)
    options = parser.parse_args(arguments)
    try:
        pairs = read_manifest(options.manifest or options.folder / "manifest.jsonl")
        pairs = sharded([each for each in pairs if is_chosen(each, options.only)], options.shard)
    except (ManifestError, ValueError) as error:
        print(f"real: {error}", file=sys.stderr)
        return 2
    if not pairs:
        print("real: no pair is chosen", file=sys.stderr)
        return 2
    outcomes = run_batch(pairs, options.folder.resolve(), options, "real")
    return int(not all(each.good for each in outcomes))


def add_batch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--gpus", default="", help="ordinals, separated by commas; default: the first")
    parser.add_argument("--jobs", type=int, default=1, help="grades at once on each GPU")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each grade")
    parser.add_argument("--deadline", type=float, help="seconds for all; the rest is listed as not run")
    parser.add_argument("--driver", default="auto", help="auto, sim, or the path of a driver")


def run_batch(pairs: Sequence[Pair], folder: Path, options: argparse.Namespace, name: str) -> list[Outcome]:
    """Grade pairs and print the tables. Keeps NAME.jsonl and NAME.md under $OUT if that is set."""
    kept = Path(os.environ["OUT"]) if os.environ.get("OUT") else None
    with tempfile.TemporaryDirectory() as scratch:
        # Submissions run as another user, and must be able to read their own files.
        Path(scratch).chmod(0o755)
        batch = Batch(
            folder,
            Path(scratch),
            tuple(options.gpus.split(",")),
            options.jobs,
            options.timeout,
            options.deadline,
            options.driver,
        )
        outcomes = batch.run(pairs, Journal(kept / f"{name}.jsonl" if kept else None))
    lines = [
        *outcome_tables.by_form(outcomes),
        "",
        *outcome_tables.unexpected(outcomes),
        *(["", SHARED] if options.jobs > 1 else []),
    ]
    print("\n".join(["", *lines]))
    if kept is not None:
        text = "\n".join([*lines, "", *outcome_tables.times(outcomes), ""])
        (kept / f"{name}.md").write_text(text, encoding="utf-8")
    return outcomes


def is_chosen(pair: Pair, only: Sequence[str]) -> bool:
    return not only or any(
        pair.form == each if each in FORMS else fnmatch.fnmatch(pair.id, each) for each in only
    )


def sharded(pairs: Sequence[Pair], shard: str) -> list[Pair]:
    """Every Nth pair, beginning at I. Raises ValueError."""
    index, _, count = shard.partition("/")
    if not (index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise ValueError(f"--shard is {shard!r}; give I/N with I below N")
    return list(pairs[int(index) :: int(count)])


if __name__ == "__main__":
    sys.exit(main())
