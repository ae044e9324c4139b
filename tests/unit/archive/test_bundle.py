"""Bundles that were changed are refused with one line. Each attack is made on a bundle that is accepted without it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchguard.archive import BundleError, find_bundles, open_bundle
from benchguard.archive.manifest import MANIFEST_MAX, parse_manifest, refusal_of
from benchguard.errors import BenchguardError, UsageError
from tests.unit.archive.bundles import archive_in, part_of, rewritten

OTHER = ["f" * 64, 4]
HUGE = ["f" * 64, 256 << 20]


def read_all(path: Path, folder: Path) -> None:
    """Read as regrade does: each part, and each capture into a file."""
    bundle = open_bundle(path)
    for part in (bundle.manifest.result, *bundle.manifest.submission.files.values()):
        bundle.read(part)
    for case in bundle.manifest.cases:
        for number, capture in enumerate(case.captures):
            target = folder / f"{number}.ncap"
            target.unlink(missing_ok=True)
            bundle.write(capture, target)


def edit(document: Any) -> None:
    document["result"] = OTHER


def traverse(document: Any) -> None:
    document["submission"] = {"name": "a", "is_folder": True, "files": {"../../etc/passwd": OTHER}}


def climb(document: Any) -> None:
    document["submission"]["name"] = ".."


def absolute(document: Any) -> None:
    document["submission"] = {"name": "a", "is_folder": True, "files": {"/etc/passwd": OTHER}}


def other_digest(document: Any) -> None:
    document["result"][0] = "../../../../etc/passwd".ljust(64, "0")


def newline_digest(document: Any) -> None:
    document["result"][0] = "f" * 63 + "\n"


def swell(document: Any) -> None:
    """Each of the parts may be read, but all of them are 128 GiB."""
    document["cases"][0]["captures"] = [[HUGE] * 256, [HUGE] * 256]


def lie_about_size(document: Any) -> None:
    document["result"][1] = 60 << 20


def oversize_part(document: Any) -> None:
    document["result"][1] = 1 << 40


def repeat(document: Any) -> None:
    document["cases"] *= 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit, "cannot be read"),
        (traverse, "is not the path of a file"),
        (climb, "is not the path of a file"),
        (absolute, "is not the path of a file"),
        (other_digest, "not a bundle's manifest"),
        (newline_digest, "not a bundle's manifest"),
        (swell, "at most"),
        (lie_about_size, "bytes instead of"),
        (oversize_part, "not a bundle's manifest"),
        (repeat, "there twice"),
    ],
)
def test_changed_manifest_is_refused_in_one_line(
    tmp_path: Path, change: Callable[[Any], None], said: str
) -> None:
    honest = archive_in(tmp_path)
    read_all(rewritten(honest, lambda _: None), tmp_path)
    with pytest.raises(BundleError, match=said) as refused:
        read_all(rewritten(honest, change), tmp_path)
    assert "\n" not in str(refused.value) and refused.value.status == 1


def test_edited_manifest_under_its_old_name_is_refused(tmp_path: Path) -> None:
    path = archive_in(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"p.py", b"q.py"))
    with pytest.raises(BundleError, match="other bytes than the SHA-256 in its name"):
        open_bundle(path)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def grow(path: Path) -> None:
    os.truncate(path, 1 << 40)  # sparse: it needs no room on the disk


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def link(path: Path) -> None:
    """A link to the same bytes elsewhere."""
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def link_folder(path: Path) -> None:
    folder = path.parent
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    "place", [("result",), ("submission", "files", "a.cu"), ("cases", 0, "captures", 1, 1)]
)
@pytest.mark.parametrize("attack", [flip, grow, cut, link, link_folder, pipe, remove])
def test_changed_part_is_refused_in_one_line(
    tmp_path: Path, place: tuple[Any, ...], attack: Callable[[Path], None]
) -> None:
    path = archive_in(tmp_path)
    read_all(path, tmp_path)
    attack(part_of(path, *place))
    with pytest.raises(BundleError, match="get the bundle again") as refused:
        read_all(path, tmp_path)
    assert "\n" not in str(refused.value)


def test_manifest_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    data = archive_in(tmp_path).read_bytes()
    assert parse_manifest(data).cases
    with pytest.raises(BundleError, match="the name 'result' twice"):
        parse_manifest(data.replace(b'"result":', b'"result":["0",1],"result":', 1))


def test_swapped_capture_of_equal_size_is_refused(tmp_path: Path) -> None:
    path = archive_in(tmp_path)
    part = part_of(path, "cases", 0, "captures", 0, 1)
    part.write_bytes(bytes(part.stat().st_size))
    with pytest.raises(BundleError, match="other bytes than its SHA-256"):
        read_all(path, tmp_path)


@pytest.mark.parametrize("attack", [link, pipe])
def test_manifest_that_is_no_plain_file_is_refused(tmp_path: Path, attack: Callable[[Path], None]) -> None:
    path = archive_in(tmp_path)
    attack(path)
    with pytest.raises((BundleError, UsageError)):
        open_bundle(path)


def test_huge_manifest_is_refused_unread(tmp_path: Path) -> None:
    path = archive_in(tmp_path)
    os.truncate(path, MANIFEST_MAX + 1)
    with pytest.raises(BundleError, match="at most"):
        open_bundle(path)


def test_capture_leaves_a_quarter_of_the_free_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One part, named again and again, makes a capture of any size from a small bundle."""
    bundle = open_bundle(archive_in(tmp_path / "archive"))
    (capture, _) = bundle.manifest.cases[0].captures
    size = sum(part.bytes for part in capture)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=size * 5 // 4))
    with pytest.raises(BundleError, match="has room for"):
        bundle.write(capture, tmp_path / "a.ncap")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=size * 3 // 2))
    bundle.write(capture, tmp_path / "b.ncap")
    assert (tmp_path / "b.ncap").stat().st_size == size


@pytest.mark.parametrize(
    "name", ["x.json", "bundles/x.json", f"bundles/{'0' * 64}.json", f"other/{'0' * 64}.json"]
)
def test_path_that_is_no_bundle_is_a_usage_error(tmp_path: Path, name: str) -> None:
    archive_in(tmp_path)
    with pytest.raises(UsageError):
        open_bundle(tmp_path / name)


def test_fuzzed_manifests_are_read_or_refused(tmp_path: Path) -> None:
    """Seeded changes of bytes and of values: each manifest is refused by one line, or all of its names are safe."""
    honest = archive_in(tmp_path)
    document, draw = json.loads(honest.read_bytes()), random.Random(18)
    values = [None, -1, 1 << 63, 1e300, "", "..", "/", "\0", "é\ud800", [], {}, [[]] * 3, "a/../b", "f" * 64]
    accepted = 0
    for number in range(600):
        if number % 2:
            data = bytearray(honest.read_bytes())
            for _ in range(draw.randint(1, 4)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            made = bytes(data)
        else:
            copy = json.loads(json.dumps(document))
            place: Any = copy
            while True:
                key = draw.choice([*(place if isinstance(place, dict) else range(len(place)))])
                if not isinstance(place[key], dict | list) or not place[key] or draw.random() < 0.2:
                    break
                place = place[key]
            place[key] = draw.choice(values)
            made = json.dumps(copy).encode()
        accepted += is_read(honest, made)
    assert 0 < accepted < 600


def is_read(honest: Path, data: bytes) -> bool:
    path = honest.with_name(f"{hashlib.sha256(data).hexdigest()}.json")
    path.write_bytes(data)
    try:
        bundle = open_bundle(path)
    except BenchguardError as error:
        assert "\n" not in str(error)
        return False
    assert not refusal_of(bundle.manifest)
    assert not any(
        ".." in name.split("/") or name.startswith("/") for name in bundle.manifest.submission.files
    )
    return True


def test_damaged_bundle_in_an_archive_does_not_hide_that_of_a_result(tmp_path: Path) -> None:
    manifest = archive_in(tmp_path)
    result = part_of(manifest, "result").read_bytes()
    manifest.with_name(f"{'0' * 64}.json").write_bytes(b"{}")
    manifest.with_name(f"{'1' * 64}.json").symlink_to("/dev/zero")
    assert [each.path for each in find_bundles(tmp_path, result)] == [manifest]
    with pytest.raises(BundleError, match="other bytes than the SHA-256"):
        find_bundles(tmp_path, b"another result")
    manifest.with_name(f"{'0' * 64}.json").unlink()
    manifest.with_name(f"{'1' * 64}.json").unlink()
    with pytest.raises(UsageError, match="no bundle in"):
        find_bundles(tmp_path, b"another result")
