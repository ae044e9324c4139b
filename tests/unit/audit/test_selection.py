"""Options that choose a region, and their encoding for the shim."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from benchguard.audit.demangle import Demangler
from benchguard.audit.kernel_name import display_name, plain_name
from benchguard.audit.selection import ByKernel, parse_selection
from benchguard.errors import UsageError
from tests.unit.hook.kernel_names import MATCHING, OTHERS


@pytest.mark.parametrize(
    ("launches", "kernel", "window", "variable"),
    [
        (None, None, None, "program"),
        ("0:1", None, None, "launches=0:1"),
        ("20:25", None, None, "launches=20:25"),
        (None, "gemm*", None, "kernel=1:gemm*"),
        (None, "gemm*:12", None, "kernel=12:gemm*"),
        (None, "a:b", None, "kernel=1:a:b"),
        (None, "a:b:3", None, "kernel=3:a:b"),
        (None, None, 2, "window=2"),
    ],
)
def test_option_encoded_for_shim(
    launches: str | None, kernel: str | None, window: int | None, variable: str
) -> None:
    assert parse_selection(launches, kernel, window).variable == variable


@pytest.mark.parametrize(
    ("launches", "kernel", "window"),
    [
        ("", None, None),
        ("1", None, None),
        ("1:1", None, None),
        ("2:1", None, None),
        ("-1:2", None, None),
        ("1:2:3", None, None),
        ("1:9999999999999999999", None, None),
        (None, "", None),
        (None, "a:0", None),
        (None, "a\0b", None),
        ("0:1", "a", None),
        ("0:1", None, 1),
    ],
)
def test_invalid_selection_usage_error(launches: str | None, kernel: str | None, window: int | None) -> None:
    with pytest.raises(UsageError, match=r"--\w+"):
        parse_selection(launches, kernel, window)


@pytest.mark.parametrize(("pattern", "name"), MATCHING)
def test_matching_pattern_matches_as_in_shim(pattern: str, name: str) -> None:
    assert ByKernel(pattern, 1).matches(name, demangled_or_none(name))


@pytest.mark.parametrize(("pattern", "name"), OTHERS)
def test_other_pattern_does_not_match(pattern: str, name: str) -> None:
    assert not ByKernel(pattern, 1).matches(name, demangled_or_none(name))


def demangled_or_none(name: str) -> str | None:
    with closing(Demangler()) as demangler:
        return demangler.demangle(name)


@pytest.mark.parametrize(
    ("demangled", "shown"),
    [
        ("cudapy::add[abi:v1][abi:cw51_3d](Array<float, 1>)", "cudapy::add(Array<float, 1>)"),
        ("std::string[abi:cxx11](char)", "std::string(char)"),
        ("scale(float (&) [4])", "scale(float (&) [4])"),
        ("k[abi:](int)", "k[abi:](int)"),
        ("k[abi:a", "k[abi:a"),
        ("k[abi:[abi:x]y]", "k[abi:y]"),
    ],
)
def test_display_name_has_no_abi_tags(demangled: str, shown: str) -> None:
    assert display_name(demangled) == shown


def test_plain_name_of_any_text() -> None:
    """The log's names are a measured process's words."""
    randomness = random.Random(7)
    for _ in range(2000):
        text = "_Z" + "".join(randomness.choices("0123456789NKLSt_aE\u0660", k=randomness.randrange(20)))
        assert plain_name(text) in text
