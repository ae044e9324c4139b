"""Requests from hostile programs, and answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.serve import layout
from benchguard.serve.layout import RequestKind, Status
from benchguard.serve.messages import (
    REQUEST_MAX,
    Request,
    RequestError,
    granted,
    list_request,
    parse_answer,
    parse_request,
    refused,
)

HEAD = layout.REQUEST.pack(layout.MAGIC, layout.VERSION, RequestKind.ATTACH, bytes(range(32)), 1, 7, 0)


def request(command: bytes) -> bytes:
    return (
        layout.REQUEST.pack(layout.MAGIC, layout.VERSION, RequestKind.ATTACH, bytes(32), 1, 7, len(command))
        + command
    )


@given(st.binary(max_size=REQUEST_MAX + 10))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    with pytest.raises(RequestError):
        parse_request(data)


@given(st.binary(max_size=layout.COMMAND_MAX))
def test_any_command_gives_a_safe_file_name(command: bytes) -> None:
    name = parse_request(request(command)).program
    assert name
    assert len(name) <= 32
    assert all(each.isascii() and (each.isalnum() or each in "._-") for each in name)
    assert not name.startswith(".")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (b"/usr/bin/python3\0a.py\0", "python3"),
        (b"../../etc/passwd\0", "passwd"),
        (b"..\0", "unknown"),
        (b"/bin/\0", "unknown"),
        (b"", "unknown"),
        (b"a b\x1b[1m\n/x\xff\0", "x_xff"),
    ],
)
def test_program_is_named_by_its_command(command: bytes, name: str) -> None:
    assert parse_request(request(command)).program == name


def test_request_round_trip() -> None:
    parsed = parse_request(HEAD)
    assert parsed == Request(RequestKind.ATTACH, bytes(range(32)).hex(), ())
    assert parse_request(list_request()).kind == RequestKind.LIST


@given(st.text(max_size=2000))
def test_refusal_is_short_and_visible(reason: str) -> None:
    status, text = parse_answer(refused(reason))
    assert status == Status.REFUSED
    assert len(text) <= layout.TEXT_MAX
    assert text.isprintable()


def test_list_may_be_long() -> None:
    assert parse_answer(granted("é" * 40_000)) == (Status.GRANTED, "é" * 40_000)
