"""Find HIP's headers on this machine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import CodegenError
from .headers import Headers
from .vendor import HIP, Vendor

_VERSION = re.compile(r"^\s*#\s*define\s+HIP_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)\s*$", re.MULTILINE)
_HOW = "install libamdhip64-dev (Debian) or ROCm, and point ROCM_PATH at it"


@dataclass(frozen=True)
class HipHeaders(Headers):
    """A folder that holds hip/hip_runtime_api.h, its HIP_VERSION, and its origin."""

    vendor: Vendor = HIP


def find_hip_headers(environment: Mapping[str, str] | None = None) -> HipHeaders:
    """The headers of ROCm if it is installed, else of the system, else the headers that build.py test fetched.

    Raises CodegenError if no headers are found.
    """
    for folder, origin in _candidates(os.environ if environment is None else environment):
        if (folder / HIP.header).is_file():
            return hip_headers_in(folder, origin)
    raise CodegenError(f"no {HIP.header} found: {_HOW}")


def hip_headers_in(folder: Path, origin: str | None = None) -> HipHeaders:
    """The headers in a folder. Raises CodegenError if they are missing or have no version."""
    path = folder / "hip" / "hip_version.h"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CodegenError(f"{path}: {error.strerror}; name a folder that holds {HIP.header}") from error
    parts = {name: int(number) for name, number in _VERSION.findall(text)}
    if len(parts) != 3:
        raise CodegenError(f"{path}: defines no HIP_VERSION; name a folder that holds HIP's own headers")
    major, minor = HIP.release_units
    version = parts["MAJOR"] * major + parts["MINOR"] * minor + parts["PATCH"]
    return HipHeaders(folder, version, origin or f"folder {folder}")


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    root = environment.get("ROCM_PATH")
    if root:
        yield Path(root) / "include", f"ROCm {root}"
    yield Path("/opt/rocm/include"), "ROCm /opt/rocm"
    yield Path("/usr/include"), "the system's /usr/include"
    fetched = Path(sys.prefix) / "hip" / "usr" / "include"
    yield fetched, f"Debian's packages in {fetched}"
