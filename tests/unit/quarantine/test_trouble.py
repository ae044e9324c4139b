"""Why the captures of a quarantine cannot be used."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchguard.quarantine.sandbox.keeper import STATUS_LEFT
from benchguard.quarantine.trouble import trouble_of


@pytest.mark.parametrize(
    ("excess", "outlived", "status", "text"),
    [
        ("more than 1 GiB of memory", (7,), 137, "more than 1 GiB of memory"),
        ("more than 1 GiB of memory", (), STATUS_LEFT, "more than 1 GiB of memory"),
        (
            "",
            (7, 8),
            137,
            "some processes of the submission survived SIGKILL (7, 8); end them, then grade again",
        ),
        (
            "",
            (),
            STATUS_LEFT,
            "some processes of the submission survived SIGKILL; end them, then grade again",
        ),
    ],
)
def test_exceeded_limit_comes_before_processes_that_end_late(
    excess: str, outlived: tuple[int, ...], status: int, text: str
) -> None:
    run: Any = SimpleNamespace(outlived=outlived, status=status)
    attendant: Any = SimpleNamespace(excess=excess, timed_out=False)
    assert trouble_of(run, attendant, None) == text  # type: ignore[arg-type]
