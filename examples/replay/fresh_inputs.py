"""Record program.py once, then time it on inputs that it never saw, and check every answer.

python fresh_inputs.py [--driver auto|sim] [--inputs K] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from equalise import equalise, make_picture

import benchguard

HERE = Path(__file__).parent
SIZE = 256


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", default="auto", help="auto, sim or a path (default: auto)")
    parser.add_argument("--inputs", type=int, default=8, metavar="K", help="number of pictures (default: 8)")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the capture in this folder (default: a temporary folder)",
    )
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        capture = (options.keep or Path(scratch)) / "equalise.ncap"
        record(capture, options.driver)
        pictures = [make_picture(SIZE, seed) for seed in range(1, options.inputs + 1)]
        result = benchguard.replay(
            capture,
            inputs={"picture": pictures},
            outputs=["result"],
            keep_outputs="sets",
            samples=50,
            driver=options.driver,
        )
    if result.verdict != "pass":
        print(f"fresh_inputs: {result.verdict}: {result.reason}", file=sys.stderr)
        return 1
    wrong = 0
    for picture, answer in zip(pictures, result.outputs["result"], strict=True):
        wrong += not np.array_equal(np.frombuffer(answer, np.uint8), equalise(picture).ravel())
    print(f"{result.time_us.median:.2f} us (median of {result.time_us.n}) on {result.device.name}")
    print(f"{len(pictures) - wrong} of {len(pictures)} new pictures have the correct result")
    return int(wrong > 0)


def record(capture: Path, driver: str) -> None:
    command = ["record", "-o", str(capture), "--force", "--driver", driver, "--"]
    program = [sys.executable, str(HERE / "program.py"), "--size", str(SIZE)]
    subprocess.run([sys.executable, "-m", "benchguard", *command, *program], check=True)


if __name__ == "__main__":
    sys.exit(main())
