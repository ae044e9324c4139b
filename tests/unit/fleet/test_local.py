"""The local engine has a place for each GPU that it may use."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchguard.fleet import local
from benchguard.fleet.local import local_places
from benchguard.grade.options import GradeOptions


@pytest.mark.parametrize(
    ("gpus", "device", "one_gpu", "is_sim", "api", "expected"),
    [
        (("GPU-a", "GPU-b"), 0, False, False, "cuda", ["GPU-a", "GPU-b"]),
        (("GPU-a", "GPU-b"), 0, True, False, "cuda", [None]),
        (("GPU-a", "GPU-b"), 1, False, False, "cuda", [None]),
        (("GPU-a", "GPU-b"), 0, False, True, "cuda", [None]),
        (("GPU-a",), 0, False, False, "cuda", [None]),
        (("GPU-a", "GPU-b"), 0, False, False, "hip", [None]),
        ((), 0, False, False, "cuda", [None]),
    ],
)
def test_places_are_the_gpus_unless_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
    gpus: tuple[str, ...],
    device: int,
    one_gpu: bool,
    is_sim: bool,
    api: str,
    expected: list[str | None],
) -> None:
    monkeypatch.setattr(local, "discover", lambda *_, **__: SimpleNamespace(is_sim=is_sim, api=api))
    monkeypatch.setattr(local, "visible_gpus", lambda _: gpus)
    places = local_places(GradeOptions(device=device), 3, one_gpu)
    assert [each.environment.get("CUDA_VISIBLE_DEVICES") for each in places] == expected
    assert {each.slots for each in places} == {3}
    assert len({each.name for each in places}) == len(places)
