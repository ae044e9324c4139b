"""The summary of a program that makes mistakes: each of them is in it, with its error's name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.apis import Api, both_apis
from tests.integration.support import Observe

MISTAKES = {"launch", "load", "function", "double free", "invalid free", "too much"}

FAILURES = {
    "cuda": {
        ("cuLaunchKernel", "CUDA_ERROR_INVALID_VALUE"): 1,
        ("cuModuleLoadData", "CUDA_ERROR_INVALID_PTX"): 1,
        ("cuModuleGetFunction", "CUDA_ERROR_NOT_FOUND"): 1,
        ("cuMemFree_v2", "CUDA_ERROR_INVALID_VALUE"): 2,
        ("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY"): 1,
    },
    "hip": {
        ("hipModuleLaunchKernel", "hipErrorInvalidValue"): 1,
        ("hipModuleLoadDataEx", "hipErrorInvalidKernelFile"): 1,
        ("hipModuleGetFunction", "hipErrorNotFound"): 1,
        ("hipFree", "hipErrorInvalidValue"): 2,
        ("hipMalloc", "hipErrorOutOfMemory"): 1,
    },
}


@pytest.fixture
def summary(
    observe: Observe, program: Callable[[str], Path], tmp_path: Path
) -> Callable[[str], tuple[dict[str, Any], str]]:
    """Run a program and return its summary as a document and as text."""

    def run(name: str) -> tuple[dict[str, Any], str]:
        document = tmp_path / "summary.json"
        result = observe([program(name)], "--summary", str(document))
        assert result.status == 0, result.stderr
        for line in result.stdout.splitlines():
            mistake, _, code = line.rpartition(" ")
            assert mistake in MISTAKES and code != "0", line
        return json.loads(document.read_text()), result.stderr

    return run


@both_apis
def test_summary_shows_every_mistake(api: Api, summary: Callable[[str], tuple[dict[str, Any], str]]) -> None:
    document, text = summary("mistakes")
    failures = {(row["call"], row["error"]): row["count"] for row in document["failures"]}
    assert failures == FAILURES[api.name]
    assert [row["fault"] for row in document["bad_frees"]] == ["double free", "invalid free"]
    assert document["bad_frees"][0]["bytes"] == 4096
    assert document["bad_frees"][1]["address"] == 0x12345600
    alive = {row["kind"]: row["bytes"] for row in document["alive"]}
    assert alive == {"device": 8192, "pinned host": 12288, "managed": 20480}
    assert {row["kind"]: row["peak_bytes"] for row in document["memory"]}["device"] == 8192 + 4096 + 28672
    assert document["kernels"][0]["failed"] == 1 and document["kernels"][0]["launches"] == 1
    assert document["complete"] and all(error in text for _, error in failures)


@both_apis
def test_summary_knows_the_directions_of_copies(
    api: Api,  # noqa: ARG001  # the fixtures use it
    summary: Callable[[str], tuple[dict[str, Any], str]],
) -> None:
    document, _ = summary("mistakes")
    copies = {(row["direction"], row["asynchronous"]): row["bytes"] for row in document["copies"]}
    assert copies == {
        ("host to device", False): 2 * 4096,
        ("device to host", False): 4096,
        ("device to device", False): 4096,
        ("device to host", True): 4096,
        ("device to device", True): 64,
    }


@both_apis
def test_honest_program_has_neither_leaks_nor_failures(
    api: Api,  # noqa: ARG001
    summary: Callable[[str], tuple[dict[str, Any], str]],
) -> None:
    document, text = summary("honest")
    assert document["failures"] == document["bad_frees"] == document["alive"] == []
    assert document["failed_calls"] == 0 and "failed calls" not in text and "never freed:" not in text
    assert {row["kind"] for row in document["memory"]} == {"device", "managed", "pinned host"}
