"""Mutate captures and decode them in Python: every failure must be a CaptureError.

    python tests/fuzz/decoder.py --count 100000

One input in five is a mutated file, which the validator checks. The others are mutated outputs of the validator,
as if a hostile capture had taken over its process. Mutations depend on the seed alone. Exits with 1 after
a finding, whose input is kept.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

from benchguard.capture import Capture, CaptureError, codec, validate  # noqa: E402
from benchguard.capture.layout import Kind  # noqa: E402
from tests.fuzz.options import parser_of  # noqa: E402
from tests.fuzz.targets import TARGETS, corpus_of  # noqa: E402

WORDS = (0, 1, 2, 0x7F, 0xFF, 0xFFFF, 1 << 31, (1 << 32) - 1)


def main() -> int:
    options = parser_of(__doc__, "decoder").parse_args()
    if options.break_decoder:
        codec.chosen = lambda *_: 1 // 0
    corpus = [path.read_bytes() for path in corpus_of(TARGETS["capture"], options.out / "capture-corpus")]
    folder = options.out / "findings" / "decoder"
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: Counter[str] = Counter()
    for number in range(options.count):
        generator = random.Random(f"{options.seed} {number}")
        outcomes[fuzz(generator, generator.choice(corpus), folder / f"{options.seed}-{number}.ncap")] += 1
    print(f"{options.count} inputs: {outcomes['decoded']} decoded, {outcomes['refused']} refused")
    findings = options.count - outcomes["decoded"] - outcomes["refused"]
    for kind, count in outcomes.items():
        if kind not in {"decoded", "refused"}:
            print(f"{count} times: {kind}  inputs are kept in {folder}")
    return 1 if findings else 0


def fuzz(generator: random.Random, whole: bytes, path: Path) -> str:
    """ "decoded", "refused", or the traceback of anything else."""
    split = validate._split
    forged = generator.random() < 0.8
    path.write_bytes(whole if forged else mutated(generator, whole))
    validate._split = (lambda raw: split(mutated(generator, raw))) if forged else split
    try:
        with Capture.open(path) as capture:
            for read in reads_of(capture):
                with suppress(CaptureError):
                    read()
    except CaptureError as error:
        outcome = "refused" if "\n" not in str(error) else f"a message of several lines: {error}"
    except Exception:  # any other failure is a finding
        outcome = traceback.format_exc(limit=-2)
    else:
        outcome = "decoded"
    finally:
        validate._split = split
    if outcome in {"decoded", "refused"}:
        path.unlink()
    return outcome


def mutated(generator: random.Random, whole: bytes) -> bytes:
    raw = bytearray(whole)
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(raw))
        match generator.randrange(3):
            case 0:
                raw[at] = generator.randrange(256)
            case 1:
                raw[at & ~3 : (at & ~3) + 4] = generator.choice(WORDS).to_bytes(4, "little")
            case 2:
                del raw[at : at + generator.choice((0, 0, 0, 1, 4, 8, 80))]
        if not raw:
            break
    return bytes(raw)


def reads_of(capture: Capture) -> Iterator[Callable[[], object]]:
    for kind in set(Kind) - {Kind.DATA}:
        table = capture.table(kind)
        yield from (partial(table.__getitem__, index) for index in range(len(table)))
    yield from (partial(capture.image, index) for index in range(len(capture.images)))
    for allocation in capture.allocations:
        yield partial(capture.memory, allocation.address, min(allocation.bytes, 1 << 16), after=True)
    yield capture.check_blobs


if __name__ == "__main__":
    sys.exit(main())
