#!/usr/bin/env python3
"""HIP's headers and runtime from Debian, for the tests: python tests/support/fetch_hip.py FOLDER

Needs no root rights and installs nothing. apt downloads the packages with separate lists and a separate cache, and
checks their signatures; this script unpacks them into FOLDER. Without apt, or without such packages, it prints one
line, and the tests of HIP skip. In CI (CI=true) with apt this is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PACKAGES = (
    "libamdhip64-dev",
    "libamdhip64-5",
    "libamd-comgr2",
    "libhsa-runtime64-1",
    "libhsakmt1",
    "libdrm-amdgpu1",
    "libdrm2",
    "libelf1",
    "libnuma1",
    "libhiprtc-builtins5",
)
MARKER = "fetched-packages"
SIGNED = ("Acquire::AllowInsecureRepositories=false", "APT::Get::AllowUnauthenticated=false")
PATIENCE = 600.0


class FetchError(Exception):
    """One line: what could not be had."""


def fetch(folder: Path) -> None:
    """Unpack the packages into `folder`, all or none. An equal earlier set of packages stays."""
    marker = folder / MARKER
    listing = "\n".join(PACKAGES) + "\n"
    if marker.is_file() and marker.read_text() == listing:
        return
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise FetchError(f"this machine has no {program}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".hip-", dir=folder.parent) as scratch:
        unpacked = Path(scratch, "unpacked")
        unpacked.mkdir(mode=0o755)
        for package in download(Path(scratch)):
            run(["dpkg-deb", "-x", str(package), str(unpacked)], Path(scratch))
        (unpacked / MARKER).write_text(listing)
        shutil.rmtree(folder, ignore_errors=True)
        unpacked.rename(folder)


def download(scratch: Path) -> list[Path]:
    """The packages' files, of the releases that this machine's apt knows."""
    options = [
        f"Dir::State::lists={scratch / 'lists'}",
        f"Dir::Cache={scratch / 'cache'}",
        "Acquire::Retries=2",
        "Acquire::http::Timeout=30",
        "Acquire::Languages=none",
        "APT::Sandbox::User=",  # root would else become _apt, who may not write here
        *SIGNED,
    ]
    (scratch / "lists" / "partial").mkdir(parents=True)
    (scratch / "cache" / "archives" / "partial").mkdir(parents=True)
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    run([*apt, "update"], scratch)
    files = scratch / "packages"
    files.mkdir()
    run([*apt, "download", *PACKAGES], files)
    items = sorted(files.glob("*.deb"))
    if len(items) != len(PACKAGES):
        raise FetchError(f"apt-get gave {len(items)} of {len(PACKAGES)} packages")
    return items


def run(command: Sequence[str], folder: Path) -> None:
    """Raises FetchError with the last line that the program wrote of an error."""
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{command[0]} took more than {PATIENCE:.0f} s") from error
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.strip()] or [
            f"status {result.returncode}"
        ]
        raise FetchError(f"{command[0]}: {lines[-1].strip()}")


def main(words: Sequence[str]) -> int:
    if len(words) != 1:
        print("usage: python tests/support/fetch_hip.py FOLDER", file=sys.stderr)
        return 2
    try:
        fetch(Path(words[0]).resolve())
    except (FetchError, OSError) as error:
        if os.environ.get("CI") == "true" and shutil.which("apt-get"):
            print(
                f"fetch_hip: {error}; without HIP's packages the tests of HIP prove nothing", file=sys.stderr
            )
            return 1
        print(f"HIP's headers and runtime are left out ({error}); tests that need them skip")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
