"""Codes that a denied call returns, by vendor."""

from __future__ import annotations

from ..shim.surface import Api
from .facts import FactError

CODES: dict[str, dict[Api, int]] = {
    "not-permitted": {"cuda": 800, "hip": 801},  # HIP has no such error: hipErrorNotSupported
    "not-supported": {"cuda": 801, "hip": 801},
    "invalid-value": {"cuda": 1, "hip": 1},
    "out-of-memory": {"cuda": 2, "hip": 2},
    "not-initialized": {"cuda": 3, "hip": 3},
    "invalid-context": {"cuda": 201, "hip": 201},
    "invalid-handle": {"cuda": 400, "hip": 400},
    "unknown": {"cuda": 999, "hip": 999},
}
DEFAULT = "not-permitted"


def code_of(code: str | int | None, api: Api) -> int:
    """Raises FactError for an unknown name, and for numbers that no error has."""
    if isinstance(code, int):
        if not 0 < code < 10_000:
            raise FactError(f"code {code} is not an error; give 1 to 9999, or a name")
        return code
    name = DEFAULT if code is None else code
    if name not in CODES:
        raise FactError(f"code {name!r} is unknown; give a number, or one of {', '.join(CODES)}")
    return CODES[name][api]
