"""Headers to generate from: the tiny golden one, and every CUDA header this machine has."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from pathlib import Path

import pytest

from benchguard.codegen.headers import Headers, headers_in
from benchguard.codegen.model import Api
from benchguard.codegen.parse import parse_headers

GOLDEN = Path(__file__).parent / "golden"
WHEELS = ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")


def installed_headers() -> list[Headers]:
    """The toolkit's and each wheel's, one of each CUDA version."""
    folders = [Path("/usr/local/cuda/include")]
    for wheel in WHEELS:
        try:
            files = importlib.metadata.files(wheel) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        folders += [Path(str(file.locate())).parent for file in files if file.name == "cuda.h"]
    items = [headers_in(folder) for folder in folders if (folder / "cudaTypedefs.h").is_file()]
    return list({headers.version: headers for headers in items}.values())


@cache
def api_of(headers: Headers) -> Api:
    return parse_headers(headers)


@pytest.fixture(params=installed_headers(), ids=lambda headers: str(headers.version))
def headers(request: pytest.FixtureRequest) -> Headers:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def api(headers: Headers) -> Api:
    return api_of(headers)
