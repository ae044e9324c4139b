"""Mutate compact logs and their indexes, and read them: whole, by line number, and for the time of the end.

    python tests/fuzz/logs.py --count 100000

No failure but an error of one line, and no line that the log does not have. Mutations depend on the seed alone. Exits
with 1 after a finding, whose input is kept.
"""

from __future__ import annotations

import random
import struct
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

import zstandard  # noqa: E402

from benchguard.audit import compact, span  # noqa: E402
from benchguard.audit.log import LogWriter, read_log  # noqa: E402
from benchguard.audit.parts import part_path  # noqa: E402
from benchguard.audit.typed_log import end_time  # noqa: E402
from benchguard.errors import BenchguardError  # noqa: E402
from benchguard.ipc.json_text import json_line  # noqa: E402
from tests.fuzz.options import parser_of  # noqa: E402
from tests.support.log_lines import end, launch, session  # noqa: E402

LAUNCHES = 60
WRITTEN: set[bytes] = set()
"""The lines of the seeds."""
NUMBERS = (0, 1, 2, 63, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
TOO_LATE = 5.0
MORE = (
    b"\x28\xb5\x2f\xfd", b"\x5b\x2a\x4d\x18", b"\x50\x2a\x4d\x18\x04\0\0\0abcd", b"nbLines1",
    zstandard.compress(b'{"kind":"note"}\n'),
)  # fmt: skip


def main() -> int:
    options = parser_of(__doc__, "reader").parse_args()
    if options.break_reader:
        span._checked = lambda *_: 1 // 0
    compact.FRAME_BYTES, span.READ_BYTES = 2 << 10, 256
    folder = options.out / "findings" / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    corpus = [seed(folder / "one.zst", None), seed(folder / "parts.zst", 1 << 10)]
    outcomes: Counter[str] = Counter()
    for number in range(options.count):
        generator = random.Random(f"{options.seed} {number}")
        path = folder / f"{options.seed}-{number}.zst"
        files = list(generator.choice(corpus))
        mutated = generator.randrange(len(files))
        files[mutated] = mutate(generator, files[mutated])
        for part, data in enumerate(files, 1):
            part_path(path, part).write_bytes(data)
        outcome = examine(path, generator)
        outcomes[outcome] += 1
        if outcome in {"read", "refused"}:
            for part in range(1, len(files) + 1):
                part_path(path, part).unlink()
    print(f"{options.count} inputs: {outcomes['read']} read, {outcomes['refused']} refused")
    for kind, count in outcomes.items():
        if kind not in {"read", "refused"}:
            print(f"{count} times: {kind}  inputs are kept in {folder}")
    return 1 if set(outcomes) - {"read", "refused"} else 0


LINES = [session(), *(launch(f"k{n}", None, None, time_ns=n) for n in range(LAUNCHES)), end(time_ns=LAUNCHES)]


def seed(path: Path, part_bytes: int | None) -> list[bytes]:
    """The files of a log."""
    log = LogWriter(path, replace=True, part_bytes=part_bytes)
    for line in LINES:
        log.write(json_line(line))
        log.flush()
    log.close()
    WRITTEN.update(map(json_line, read_log(path)))
    files = [part_path(path, part) for part in range(1, log.parts + 1)]
    contents = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    return contents


def mutate(generator: random.Random, data: bytes) -> bytes:
    """Most mutations are in the index, which is the end of the file."""
    mutant = bytearray(data)
    start = data.rindex(compact.INDEX_MAGIC)
    for _ in range(generator.randint(1, 3)):
        begin = start if generator.random() < 0.7 and start < len(mutant) else 0
        at = generator.randrange(begin, len(mutant)) if len(mutant) > begin else 0
        match generator.randrange(6):
            case 0 if mutant:
                mutant[at] = generator.randrange(256)
            case 1 | 2:
                at = begin + (at - begin) // 8 * 8
                mutant[at : at + 8] = struct.pack("<Q", generator.choice(NUMBERS))
            case 3:
                del mutant[at : at + generator.choice((1, 8, 48, 1 << 20))]
            case 4:
                mutant[at:at] = generator.choice(MORE)
            case _:
                other = generator.randrange(len(data))
                mutant[at : at + 48] = data[other : other + 48]
    return bytes(mutant)


def examine(path: Path, generator: random.Random) -> str:
    """ "read" if all lines can be read, "refused", or a description of anything else."""
    began = time.process_time()
    try:
        outcome = read(path, generator.randint(1, LAUNCHES + 2))
    except BenchguardError as error:
        outcome = f"a verified log is refused, or a message has several lines: {error}\n"
    except Exception:  # any other failure is a finding
        outcome = traceback.format_exc(limit=-2)
    return outcome if time.process_time() - began < TOO_LATE else f"took more than {TOO_LATE} s\n"


def read(path: Path, first: int) -> str:
    """Read the whole log, and ten lines. Raises LogError for a log that can be read whole, but not these lines."""
    lines: list[bytes] = []
    is_whole = False
    try:
        lines += map(json_line, read_log(path))
        is_whole = True
    except BenchguardError as error:
        if "\n" in str(error):
            raise
    try:
        end_time(path)
        span.count_lines(path)
        for number, line in span.numbered_lines(path, first, first + 9):
            shown = json_line(line)
            if shown not in WRITTEN or (is_whole and shown != lines[number - 1]):
                return f"line {number} is not a line of the log, or has another number\n"
    except BenchguardError as error:
        if is_whole or "\n" in str(error):
            raise
    return "read" if is_whole else "refused"


if __name__ == "__main__":
    sys.exit(main())
