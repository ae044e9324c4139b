"""The reward server's token comes from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.cli.rewards import token_in
from benchguard.errors import UsageError


def test_token_of_a_file_has_no_spaces_around_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(" 0123456789abcdef0123456789abcdef\n")
    assert token_in(tmp_path / "token") == "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("text", ["short", "two words 0123456789abcdef0123456789abcdef", "é" * 64])
def test_token_that_is_weak_or_cannot_be_sent_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(text)
    with pytest.raises(UsageError, match="must hold one word of at least"):
        token_in(tmp_path / "token")


def test_token_file_that_cannot_be_read_is_named() -> None:
    """Reading this one fails after it was opened: the command blamed standard output for it."""
    with pytest.raises(UsageError, match=r"cannot read /proc/self/mem: .*check --token-file"):
        token_in(Path("/proc/self/mem"))
