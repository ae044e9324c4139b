"""Mutate code images and read them as `inspect` does: no failure but CodeError, and no reading that takes long.

    python tests/fuzz/images.py --count 100000

Mutations depend on the seed alone. Exits with 1 after a finding, whose input is kept.
"""

from __future__ import annotations

import contextlib
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))  # run as a script, from anywhere

from benchguard.capture.unpack import CodeError  # noqa: E402
from benchguard.errors import BenchguardError  # noqa: E402
from benchguard.images import image as reader  # noqa: E402
from benchguard.images.kernels import ptx_of  # noqa: E402
from benchguard.images.source import codes_in  # noqa: E402
from benchguard.probe.pipeline import worker  # noqa: E402
from tests.fuzz.decoder import mutated  # noqa: E402
from tests.fuzz.options import parser_of  # noqa: E402
from tests.fuzz.targets import ROOT  # noqa: E402

CORPORA = (
    "tests/unit/hook/images/*.[cfp]*", "tests/sim/data/*.fatbin", "tests/data/hip/*.hsaco", "tests/data/hip/*.hipfb",
    "tests/unit/ptx/kernels/*.ptx",
)  # fmt: skip
SECONDS_MAX = 5.0


def main() -> int:
    options = parser_of(__doc__, "reader").parse_args()
    if options.break_reader:
        reader.cubin_kernels = lambda _: 1 // 0
    corpus = [path.read_bytes() for pattern in CORPORA for path in sorted(ROOT.glob(pattern))]
    folder = options.out / "findings" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    outcomes: Counter[str] = Counter()
    for number in range(options.count):
        generator = random.Random(f"{options.seed} {number}")
        data = mutated(generator, generator.choice(corpus))
        outcome = read(data)
        outcomes[outcome] += 1
        if outcome not in {"read", "refused"}:
            (folder / f"{options.seed}-{number}.image").write_bytes(data)
    print(f"{options.count} inputs: {outcomes['read']} read, {outcomes['refused']} refused")
    for kind, count in outcomes.items():
        if kind not in {"read", "refused"}:
            print(f"{count} times: {kind}  inputs are kept in {folder}")
    return 1 if set(outcomes) - {"read", "refused"} else 0


def read(data: bytes) -> str:
    """ "read", "refused", or a description of anything else."""
    began = time.process_time()
    try:
        found = reader.read_image(data)
        for kind, _, raw in codes_in(data):
            if kind == "ptx":
                ptx_of(raw.decode("utf-8", "replace"), "saxpy")
        with contextlib.suppress(CodeError):
            worker.ptx_of(data, 90)
    except BenchguardError:
        return "refused"
    except Exception:  # any other failure is a finding
        return traceback.format_exc(limit=-2)
    if time.process_time() - began > SECONDS_MAX:
        return f"took more than {SECONDS_MAX} s\n"
    return "refused" if found.problem or any(code.problem for code in found.codes) else "read"


if __name__ == "__main__":
    sys.exit(main())
