"""The one error of code generation."""

from __future__ import annotations


class CodegenError(Exception):
    """Bad input. The message is one line: what is wrong, where, and what to do about it."""
