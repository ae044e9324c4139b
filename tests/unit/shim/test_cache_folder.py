"""Where the caches are."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.toolchain.cache_folder import cache_folder
from benchguard.toolchain.errors import ShimError


def test_cache_is_below_the_folder_that_the_environment_names() -> None:
    assert cache_folder("x", {"XDG_CACHE_HOME": "/c"}) == Path("/c/neutrino-bench/x")
    assert cache_folder("x", {"HOME": "/h"}) == Path("/h/.cache/neutrino-bench/x")


def test_user_without_a_home_folder_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with --user 12345 in a container."""

    def expanduser(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", expanduser)
    with pytest.raises(ShimError, match="set XDG_CACHE_HOME"):
        cache_folder("x", {})
