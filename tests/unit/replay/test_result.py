"""The result's document: by its own schema, with what design's Result section asks for."""

from __future__ import annotations

import json

import msgspec
import pytest

from benchguard.replay.clocks import Clocks, Spread
from benchguard.replay.result import (
    STATUS,
    Different,
    Document,
    ReplayResult,
    SampleRow,
    Settings,
    document,
    schema,
)
from benchguard.replay.statistics import summarise
from benchguard.replay.subject import KernelUse
from tests.unit.replay.fake_engine import DEVICE, OVERHEAD, PREPARED

SETTINGS = Settings("remap", "warm", True, "ci=0.0025", 0, "/lib/libcuda.so.1", 1, 0, False)
ROWS = tuple(SampleRow(n, 10.0 + n, 15.0, 100.0, 1980.0, None, False, ()) for n in range(10))
KERNEL = KernelUse("saxpy", "ab" * 32, (8, 1, 1), (128, 1, 1), 12, 0, 3, 1.0)


def whole() -> ReplayResult:
    return ReplayResult(
        verdict="wrong",
        reason="memory differs",
        capture="cd" * 32,
        path="x.ncap",
        region="1",
        settings=SETTINGS,
        kernels=(KERNEL,),
        wall_s=0.7,
        time_us=summarise([row.device_us for row in ROWS]),
        half_width=0.001,
        half_width_wanted=0.0025,
        table=ROWS,
        warm_up_samples=20,
        overhead=OVERHEAD,
        device=DEVICE,
        prepared=PREPARED,
        clocks=Clocks("", 3, Spread(1.0, 2.0, 3.0), None, None, None, {"power cap": 1}, 2),
        verified=False,
        differences=(Different("cuMemAlloc_v2", 1 << 46, 64, 1, 16, False, "00", "01"),),
        difference_count=1,
        refusals=("a: b",),
        notes=("a note",),
        outputs={"y": b"bytes"},
    )


def bare() -> ReplayResult:
    return ReplayResult("timeout", "no result", "cd" * 32, "x.ncap", "", SETTINGS, (), 120.0)


@pytest.mark.parametrize("result", [whole(), bare()], ids=["whole", "bare"])
def test_result_document_fits_its_schema(result: ReplayResult) -> None:
    assert msgspec.json.decode(result.to_json(), type=Document) == document(result)


def test_result_document_has_the_required_fields() -> None:
    result = json.loads(whole().to_json())
    assert result["schema"] == "neutrino-bench/replay/1"
    assert (result["verdict"], result["reason"], result["trust"]) == ("wrong", "memory differs", "replayed")
    assert result.keys() >= {"cases", "kernels", "device", "clocks", "audit"}
    (case,) = result["cases"]
    assert case.keys() >= {"name", "params", "gflops", "gbytes_per_s", "max_abs_error", "max_rel_error"}
    assert case["time_us"].keys() >= {"median", "ci95", "mean", "min", "p5", "p95", "mad", "n"}
    assert case["samples"] == [10.0 + n for n in range(10)]
    fields = {"name", "image_sha256", "grid", "block", "registers", "shared_bytes", "launches", "share"}
    assert result["kernels"][0].keys() == fields
    assert "outputs" not in result


def test_schema_lists_every_field() -> None:
    result = schema()
    definition = result["$defs"]["Document"]
    assert set(definition["required"]) == set(json.loads(bare().to_json()))
    assert definition["additionalProperties"] is False


def test_altered_document_does_not_fit_the_schema() -> None:
    text = json.loads(whole().to_json())
    for name, value in (("verdict", "fine"), ("schema", "neutrino-bench/replay/2"), ("more", 1)):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(json.dumps({**text, name: value}), type=Document)


def test_every_verdict_has_an_exit_status() -> None:
    assert STATUS == {
        "pass": 0,
        "wrong": 1,
        "violation": 3,
        "unreplayable": 4,
        "unconverged": 5,
        "unproven": 8,
        "timeout": 124,
        "failed": 65,
        "error": 70,
    }
    assert whole().status == 1 and bare().status == 124
