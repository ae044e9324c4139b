"""A small archive, written by Store as a grade writes it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from benchguard.archive import SCHEMA, Manifest, ProblemIdentity, Store, StoredCase, StoredSource
from tests.support.results import graded_result

CAPTURE = (b"head", b"image" * 1000, b"tail")


def manifest_in(store: Store, **changes: Any) -> Manifest:
    capture = tuple(store.put(piece) for piece in CAPTURE)
    values: dict[str, Any] = {
        "schema": SCHEMA,
        "result": store.put(graded_result().to_json().encode()),
        "problem": ProblemIdentity("p.py", "0" * 64),
        "submission": StoredSource("a.cu", False, {"a.cu": store.put(b"code")}),
        "cases": (StoredCase("case 0", (capture, capture)),),
        "options": {"samples": 5},
    }
    return Manifest(**{**values, **changes})


def archive_in(folder: Path, **changes: Any) -> Path:
    """The path of the archive's only manifest."""
    store = Store(folder)
    return folder / "bundles" / f"{store.seal(manifest_in(store, **changes))}.json"


def rewritten(manifest: Path, change: Any) -> Path:
    """A manifest that was edited, under the name of its new content."""
    document = json.loads(manifest.read_bytes())
    change(document)
    data = json.dumps(document).encode()
    path = manifest.with_name(f"{hashlib.sha256(data).hexdigest()}.json")
    path.write_bytes(data)
    return path


def part_of(manifest: Path, *place: Any) -> Path:
    """The file of a part, by its place in the manifest."""
    part = json.loads(manifest.read_bytes())
    for each in place:
        part = part[each]
    return manifest.parents[1] / "parts" / part[0][:2] / part[0]
