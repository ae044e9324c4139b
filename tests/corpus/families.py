"""Families of kernels, one per source file, and the images that each family is compiled to."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.corpus.case import Case

HERE = Path(__file__).parent
FAMILIES = tuple(sorted(source.stem for source in (HERE / "kernels").glob("*.cu")))


@cache
def cases_of(family: str) -> tuple[Case, ...]:
    items = tuple(import_module(f"tests.corpus.cases.{family}").cases())
    assert len({case.name for case in items}) == len(items)
    return items


def images_of(family: str) -> dict[str, Path]:
    """The file of each image: 75, 80, 90, and 90g for unoptimised code with debugging symbols.

    A file's name lists its images: their texts are equal but for the target. text_of() gives the text of one.
    """
    result: dict[str, Path] = {}
    for path in sorted((HERE / "ptx").glob(f"{family}_*.ptx")):
        listed = path.stem.removeprefix(f"{family}_")
        if re.fullmatch(r"\d+g?(_\d+)*", listed):  # not a family whose name begins the same
            result.update(dict.fromkeys(listed.split("_"), path))
    return dict(sorted(result.items()))


def text_of(family: str, image: str) -> str:
    return for_target(images_of(family)[image].read_text(), target_of(image))


def for_target(text: str, target: int) -> str:
    """PTX with another target in its header."""
    replaced, count = re.subn(r"^\.target sm_\d+", f".target sm_{target}", text, count=1, flags=re.MULTILINE)
    assert count == 1
    return replaced


def target_of(image: str) -> int:
    """The compute capability in an image's name."""
    return int("".join(filter(str.isdigit, image)))
