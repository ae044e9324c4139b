"""Captures: what a program's region did on the device, as a file (docs/formats.md)."""

from __future__ import annotations

from .errors import CaptureError
from .pack import PackSummary, pack
from .reader import Capture
from .validate import Limits
from .writer import CaptureWriter

__all__ = ["Capture", "CaptureError", "CaptureWriter", "Limits", "PackSummary", "pack"]
