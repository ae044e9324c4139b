"""Log lines in, tables out. Refresh with `python tests/unit/cli/test_observe_text.py` and read the difference."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run as a script too

from benchguard.audit.summary import Summary, summarise_lines
from benchguard.cli.observe_text import render

GOLDEN = Path(__file__).parent / "golden"
HEAD = "ab" * 32
LONG = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3>>"


def launch(name: str, demangled: str | None, image: str | None, **more: Any) -> dict[str, Any]:
    line = {"kind": "launch", "name": name, "demangled": demangled, "image": image, "grid": [4, 1, 1]}
    return {**line, "block": [256, 1, 1], "result": 0, "captured": False, **more}


def lines() -> Iterator[tuple[dict[str, Any], str]]:
    one, two = "1" * 64, "2" * 64
    image = {"kind": "image", "format": "fatbin", "bytes": 841600, "note": None}
    node = {"name": "scale", "demangled": None, "image": one, "grid": [2, 1, 1], "block": [32, 1, 1]}
    yield (
        {"kind": "session", "command": ["python", "a.py"], "driver": {"path": "/usr/lib/libcuda.so.1"}},
        HEAD,
    )
    yield {**image, "sha256": one, "origin": "/opt/torch/lib/libtorch_cuda.so"}, HEAD
    yield {**image, "sha256": None, "origin": "a.out", "note": "the image store is full"}, HEAD
    for _ in range(3):
        yield launch("_ZLONG", LONG, one), HEAD
    yield launch("scale", None, one, grid=[8, 1, 1]), HEAD
    yield launch("\x1b[2J[bold]evil\u202e", None, two), HEAD
    yield launch("scale", None, one, result=700), HEAD
    yield launch("scale", None, one, captured=True), HEAD
    yield {"kind": "graph", "process": 1, "graph": 1, "kernels": [node, node]}, HEAD
    yield {"kind": "graph_launch", "process": 1, "graph": 1, "result": 0}, HEAD
    yield {"kind": "unmapped", "name": "cuNew\n"}, HEAD
    yield {"kind": "in_flight", "call": "cuCtxSynchronize"}, HEAD
    yield {"kind": "call", "call": "cuGetExportTable"}, HEAD
    end = {"kind": "end", "status": 3, "calls": 7, "processes": 1, "dropped": 2, "images_dropped": 1}
    yield {**end, "unobserved": ["4711 ./clean \x1b[2J"], "complete": False}, HEAD


def text(summary: Summary) -> str:
    output = io.StringIO()
    render(summary, Path("run.audit.jsonl"), output)
    return "".join(line.rstrip() + "\n" for line in output.getvalue().splitlines())


def test_summary_tables_equal_golden_file() -> None:
    assert text(summarise_lines(lines())) == (GOLDEN / "summary.txt").read_text()


def test_summary_json_equals_golden_file() -> None:
    assert summarise_lines(lines()).to_json() + "\n" == (GOLDEN / "summary.json").read_text()


def test_control_characters_in_names_are_escaped() -> None:
    shown = text(summarise_lines(lines()))
    assert "\x1b" not in shown and "\u202e" not in shown
    assert "\\x1b[2J[bold]evil\\u202e" in shown


def test_kernels_beyond_limit_are_summed() -> None:
    many = [(launch(f"k{n}", None, "1" * 64), HEAD) for n in range(50)]
    shown = text(summarise_lines(many))
    assert "... 30 more kernels" in shown and "k49" not in shown


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    (GOLDEN / "summary.txt").write_text(text(summarise_lines(lines())))
    (GOLDEN / "summary.json").write_text(summarise_lines(lines()).to_json() + "\n")
