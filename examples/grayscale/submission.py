"""Turn a picture grey on the driver that this process finds, and check every byte of the result.

python submission.py [--version cuda|numba|torch|triton] [--out FOLDER] [--size PIXELS]
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np
from picture import grey_by_numpy, make_picture, save

NEEDS = {
    "cuda": ("cuda.core", "cuda.bindings"),
    "numba": ("numba_cuda",),
    "triton": ("triton", "torch"),
    "torch": ("torch",),
}
"""The modules that each version imports. The default is the first version whose modules are installed."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--version", choices=list(NEEDS), help="implementation (default: the first that is installed)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder for the pictures (default: a new temporary folder)"
    )
    parser.add_argument(
        "--size", type=int, default=512, metavar="PIXELS", help="length of a side (default: 512)"
    )
    options = parser.parse_args()
    if not 1 <= options.size <= 8192:
        parser.error(f"--size {options.size}: give 1 to 8192")

    version = options.version or next((name for name in NEEDS if not missing(name)), None)
    if version is None:
        return fail("no version can run here; pip install 'neutrino-bench[examples]'")
    if missing(version):
        return fail(f"the {version} version needs {', '.join(missing(version))}; install it")

    picture = make_picture(options.size, options.size)
    try:
        grey, device, kernel = importlib.import_module(f"version_{version}").run(picture)
    except Exception as error:  # each library has its own, and the driver may refuse anything
        return fail(f"the {version} version failed: {type(error).__name__}: {one_line(error)}")

    folder = options.out or Path(tempfile.mkdtemp(prefix="grayscale-"))
    try:
        save(picture, grey, folder)
    except OSError as error:
        return fail(f"cannot write to {folder}: {error.strerror}; name another --out")
    wrong = int(np.count_nonzero(grey != grey_by_numpy(picture)))
    print(f"device   {device}")
    print(f"version  {version}, kernel: {kernel}")
    print(f"picture  {options.size} x {options.size}, sha256 {hashlib.sha256(grey.tobytes()).hexdigest()}")
    print(f"written  {folder}/grey.png, grey.npy, rgb.png")
    if wrong:
        return fail(f"{wrong} of {grey.size} pixels differ from numpy's; see {folder}/grey.png")
    print("checked  every pixel equals numpy's")
    return 0


def missing(version: str) -> list[str]:
    return [module for module in NEEDS[version] if not is_installed(module)]


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that would hold it
        return False


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or "no reason given"


def fail(message: str) -> int:
    print(f"submission: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
