"""Bundles: graded submissions with their captures, kept so that others can verify them later (docs/archive.md)."""

from .bundle import Bundle, find_bundles, open_bundle
from .cut import capture_pieces
from .errors import BundleError
from .manifest import SCHEMA, Manifest, Part, ProblemIdentity, StoredCase, StoredSource
from .store import Store

__all__ = [
    "SCHEMA",
    "Bundle",
    "BundleError",
    "Manifest",
    "Part",
    "ProblemIdentity",
    "Store",
    "StoredCase",
    "StoredSource",
    "capture_pieces",
    "find_bundles",
    "open_bundle",
]
