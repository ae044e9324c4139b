"""A store writes whole parts only, and equal parts once."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import pytest

from benchguard.archive import Part, Store, StoredCase, capture_pieces, open_bundle
from benchguard.archive.cut import PIECE_MAX, SHARED_MIN
from benchguard.errors import BenchguardError
from tests.unit.archive.bundles import CAPTURE, archive_in, manifest_in


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_bundle_that_was_written_is_read_back(tmp_path: Path) -> None:
    bundle = open_bundle(archive_in(tmp_path))
    [case] = bundle.manifest.cases
    bundle.write(case.captures[0], tmp_path / "x.ncap")
    assert (tmp_path / "x.ncap").read_bytes() == b"".join(CAPTURE)
    assert bundle.read(bundle.manifest.submission.files["a.cu"]) == b"code"


def test_equal_parts_of_two_bundles_are_stored_once(tmp_path: Path) -> None:
    archive_in(tmp_path)
    before = files_in(tmp_path)
    archive_in(tmp_path, options={"samples": 6})
    after = files_in(tmp_path)
    assert before.items() <= after.items() and len(after) == len(before) + 1


def test_damaged_part_is_written_again(tmp_path: Path) -> None:
    archive_in(tmp_path)
    before = files_in(tmp_path)
    for path in (tmp_path / "parts").glob("*/*"):
        path.write_bytes(b"\0" * path.stat().st_size)
    archive_in(tmp_path)
    assert files_in(tmp_path) == before


def test_full_disk_is_an_error_and_leaves_no_part(tmp_path: Path) -> None:
    """A limit on the size of files cuts a write as a full disk does."""
    store = Store(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(BenchguardError, match="make room"):
            store.put(b"x" * 101)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert files_in(tmp_path) == {}


def test_file_of_a_killed_writer_is_removed_a_day_later(tmp_path: Path) -> None:
    store = Store(tmp_path)
    place = tmp_path / "parts" / "ab"
    place.mkdir()
    for name, age in (("old", 2 * 86400), ("young", 60)):
        path = place / f".new-{name}"
        path.write_bytes(b"torn")
        os.utime(path, (time.time() - age,) * 2)
    store = Store(store.folder)
    assert [path.name for path in place.iterdir()] == [".new-young"]


def test_bundle_larger_than_readers_accept_is_not_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    huge = (Part("0" * 64, 256 << 20),) * 200
    with pytest.raises(BenchguardError, match="at most"):
        store.seal(manifest_in(store, cases=(StoredCase("case", (huge, huge)),)))
    assert not list((tmp_path / "bundles").iterdir())


@pytest.mark.parametrize(
    "blobs",
    [
        [],
        [(152, SHARED_MIN), (152 + SHARED_MIN, 10), (20_000, 60_000)],
        [(0, 50_000), (10, 50_000), (90_000, 50_000)],  # these overlap, or leave the file
        [(100_000, 1 << 62)],
    ],
)
def test_pieces_of_a_capture_are_the_capture(blobs: list[tuple[int, int]]) -> None:
    size = 100_000
    pieces = [*capture_pieces(blobs, size)]
    assert [begin for begin, _ in pieces] == [0, *(end for _, end in pieces[:-1])] and pieces[-1][1] == size
    assert all(begin < end for begin, end in pieces)


def test_large_blob_is_a_piece_of_its_own_and_a_small_one_is_not() -> None:
    pieces = [*capture_pieces([(200, SHARED_MIN), (30_000, SHARED_MIN - 1)], 3 * PIECE_MAX)]
    assert (200, 200 + SHARED_MIN) in pieces and len(pieces) == 5
