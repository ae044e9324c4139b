"""The region of each of several commands."""

from __future__ import annotations

import pytest

from benchguard.cli.selection import selections
from benchguard.errors import UsageError


def test_single_selection_is_for_every_command() -> None:
    assert selections({"launches": (), "kernel": ("a:2",), "window": ()}, 2) == [{"kernel": "a:2"}] * 2


def test_two_selections_are_for_one_command_each() -> None:
    assert selections({"kernel": ("a", "b"), "window": ()}, 2) == [{"kernel": "a"}, {"kernel": "b"}]


def test_no_selection_leaves_the_program_its_own_region() -> None:
    assert selections({"kernel": ()}, 1) == [{}]


def test_more_selections_than_commands_are_refused() -> None:
    with pytest.raises(UsageError, match="given 2 times for 1 command; give it once"):
        selections({"kernel": ("a", "b")}, 1)
