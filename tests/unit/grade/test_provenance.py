"""Sources of kernels, and kernels that may run."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from benchguard.errors import BenchguardError
from benchguard.grade import libraries
from benchguard.grade.evidence import KernelEvidence
from benchguard.grade.provenance import SUBMISSION, attributed, refusal_of
from tests.support.libraries import KIT_PTX, code_of, library_of

KERNEL = KernelEvidence(
    "ampere_sgemm_128x64", "0" * 64, "/usr/lib/libcublasLt.so.13", (1, 1, 1), (1, 1, 1), 8, 0, 1, 1.0
)
BY_CTYPES = msgspec.structs.replace(
    KERNEL, name="own", origin="/usr/lib/libffi.so.8", code_sha256=(code_of(KIT_PTX, "product"),)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of installed libraries."""
    found = tmp_path / "installed"
    found.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(libraries, "_folders", lambda: ([], [found]))
    libraries._shared_libraries.cache_clear()
    return found


@pytest.mark.parametrize("pattern", ["libcublas*", "*sgemm*", "/usr/lib/*"])
def test_forbidden_kernel_or_loader_is_named(pattern: str) -> None:
    assert refusal_of(attributed([KERNEL], [pattern], ()), ["libcudnn*", pattern], ()) == (
        f"kernel ampere_sgemm_128x64 of {SUBMISSION} is forbidden by {pattern!r}"
    )


def test_other_library_is_allowed() -> None:
    assert refusal_of([KERNEL], ["libcudnn*", "cublas"], ()) == ""
    assert refusal_of([KERNEL], (), ()) == ""


def test_code_of_library_loaded_from_memory_is_named_after_library(folder: Path) -> None:
    place = library_of(folder / "libvendor.so.1", KIT_PTX)
    (found,) = attributed([BY_CTYPES], ["libvendor*"], ())
    assert (found.source, found.source_by) == (str(place), "content")
    assert (
        refusal_of([found], ["libvendor*"], ()) == "kernel own of libvendor.so.1 is forbidden by 'libvendor*'"
    )


def test_code_loaded_by_ctypes_is_of_submission(folder: Path) -> None:
    library_of(folder / "libvendor.so.1", KIT_PTX.replace(b"fma.rn.f32", b"fma.rz.f32"))
    (found,) = attributed([BY_CTYPES], ["libvendor*"], ())
    assert (found.source, found.source_by) == (SUBMISSION, "loader")
    assert refusal_of([found], ["libvendor*"], ()) == ""


def test_code_that_library_loads_is_of_library(folder: Path) -> None:
    place = library_of(folder / "libvendor.so.1", KIT_PTX)
    generated = msgspec.structs.replace(BY_CTYPES, code_sha256=("1" * 64,), origin=str(place))
    (found,) = attributed([generated], (), ())
    assert (found.source, found.source_by) == (str(place), "loader")
    elsewhere = msgspec.structs.replace(generated, origin=f"{folder}/../libvendor.so.1")
    assert attributed([elsewhere], (), ())[0].source == SUBMISSION


def test_code_of_two_libraries_is_of_its_loader(folder: Path) -> None:
    library_of(folder / "libother.so.1", KIT_PTX)
    place = library_of(folder / "libvendor.so.1", KIT_PTX)
    (found,) = attributed([msgspec.structs.replace(BY_CTYPES, origin=str(place))], (), ["x"])
    assert (found.source, found.source_by) == (str(place), "content")


def test_only_allowed_code_may_run(folder: Path) -> None:
    place = library_of(folder / "libvendor.so.1", KIT_PTX)
    vendors = attributed([BY_CTYPES], (), ["x"])
    own = attributed([msgspec.structs.replace(BY_CTYPES, code_sha256=("1" * 64,))], (), ["x"])
    forged = attributed([msgspec.structs.replace(own[0], origin=str(place))], (), ["x"])
    assert refusal_of(vendors, (), ["libvendor*"]) == "" == refusal_of(own, (), ["submission"])
    assert "kernel own of libvendor.so.1 is not allowed" in refusal_of(vendors, (), ["submission"])
    assert "kernel own of submission is not allowed" in refusal_of(own, (), ["libvendor*"])
    assert "is not allowed" in refusal_of(forged, (), ["libvendor*", "submission"])
    assert refusal_of(forged, (), ["0" * 64]) == ""


def test_unreadable_code_is_not_allowed_as_submission() -> None:
    (found,) = attributed([msgspec.structs.replace(KERNEL, code_sha256=())], (), ["x"])
    assert "is not allowed" in refusal_of([found], (), ["submission"])


def test_index_computed_again_for_changed_library(folder: Path, tmp_path: Path) -> None:
    place = library_of(folder / "libvendor.so.1", KIT_PTX)
    first = libraries.index_of(place)
    assert len(first) == 8 * len({first[at : at + 8] for at in range(0, len(first), 8)}) > 0
    place.unlink()
    assert libraries.index_of(library_of(place, b"no code")) == b""
    assert len(list((tmp_path / "cache/neutrino-bench/device-code").iterdir())) == 2


def test_damaged_library_has_no_code(folder: Path) -> None:
    place = folder / "libvendor.so.1"
    place.write_bytes(b"\x7fELF" + os.urandom(200))
    assert libraries.index_of(place) == b""


def test_unwritable_cache_reported(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(BenchguardError, match="set XDG_CACHE_HOME to a folder that can be written"):
        libraries.index_of(library_of(folder / "libvendor.so.1", KIT_PTX))


def test_cache_that_cannot_be_written_costs_the_index_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only or a full disk: the next grade computes the digests again, and no part of a file is left."""

    def replace(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", replace)
    assert libraries.index_of(library_of(folder / "libvendor.so.1", KIT_PTX))
    assert list((tmp_path / "cache/neutrino-bench/device-code").iterdir()) == []
