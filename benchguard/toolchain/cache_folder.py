"""The folder of the user in which parts of the project keep what is costly to make again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .errors import ShimError


def cache_folder(name: str, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder `name` below XDG_CACHE_HOME, or ~/.cache. It may not exist yet.

    Raises ShimError for a user without a home folder, as in some containers.
    """
    base = environment.get("XDG_CACHE_HOME")
    if not base:
        try:
            base = str(Path(environment.get("HOME") or "~").expanduser() / ".cache")
        except RuntimeError as error:
            raise ShimError(
                "this user has no home folder; set XDG_CACHE_HOME to a folder that can be written"
            ) from error
    return Path(base) / "neutrino-bench" / name
