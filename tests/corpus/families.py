"""The families of kernels, by the name of their source, and the images each is compiled to."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from tests.corpus.case import Case

HERE = Path(__file__).parent
FAMILIES = tuple(sorted(source.stem for source in (HERE / "kernels").glob("*.cu")))


@cache
def cases_of(family: str) -> tuple[Case, ...]:
    found = tuple(import_module(f"tests.corpus.cases.{family}").cases())
    assert len({case.name for case in found}) == len(found)
    return found


def images_of(family: str) -> dict[str, Path]:
    """PTX by what it was compiled for: 75, 80, 90, and 90g for the unoptimised one with debugging symbols."""
    split = {path: path.stem.rpartition("_") for path in sorted((HERE / "ptx").glob("*.ptx"))}
    return {image: path for path, (name, _, image) in split.items() if name == family}


def target_of(image: str) -> int:
    """The compute capability that an image's name says."""
    return int("".join(filter(str.isdigit, image)))
