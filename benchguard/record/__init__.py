"""Capture regions of a program: benchguard.record(command, "x.ncap") -> RecordResult."""

from ..callable_package import make_callable

make_callable(__name__)
