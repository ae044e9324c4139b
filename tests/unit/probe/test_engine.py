"""The frame of an engine: files in, files out, one line on a failure; and the example of the documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.probe import engine
from benchguard.probe.engines.block_times.build import build as block_times
from benchguard.probe.engines.count.build import build as count
from benchguard.probe.pipeline.worker import Request, _run_engine

ROOT = Path(__file__).parents[3]
PTX = """.version 7.8
.target sm_75
.address_size 64
.global .align 4 .u32 total;
.visible .entry add(.param .u64 in)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [in];
    ld.global.u32 %r1, [%rd1];
    red.global.add.u32 [total], %r1;
    ret;
}
"""


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    (tmp_path / "original.ptx").write_text(PTX)
    (tmp_path / "request.json").write_text(json.dumps({"contract": 3, "kernel": "add", "options": {}}))
    return tmp_path


def test_engine_writes_the_map_table_addresses_and_image(workdir: Path) -> None:
    assert engine.main(block_times, [str(workdir), "add"]) == 0
    info = (workdir / "kernel.info").read_text().splitlines()
    assert info[:4] == ["add", "1", "1", "2,24"]
    assert re.fullmatch(r"address \S+ total", info[4]) and len(info) == 5
    assert "%globaltimer" in (workdir / "probed.bin").read_text()


def test_kernel_without_probes_uses_the_variables_of_the_original(workdir: Path) -> None:
    document = {"contract": 3, "kernel": "add", "options": {}, "benchmark": True}
    (workdir / "request.json").write_text(json.dumps(document))
    assert engine.main(block_times, [str(workdir), "add"]) == 0
    symbol, variable = (workdir / "kernel.info").read_text().splitlines()[4].split()[1:]
    pruned, probed = ((workdir / name).read_text() for name in ("pruned.bin", "probed.bin"))
    assert variable == "total" and f"[{symbol}]" in pruned and f"[{symbol}]" in probed
    assert pruned.count(".param") == PTX.count(".param") and "%globaltimer" not in pruned


def test_documented_example_is_an_engine(workdir: Path) -> None:
    page = (ROOT / "docs" / "writing-a-probe.md").read_text()
    source = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert source is not None
    script = workdir / "loads.py"
    script.write_text(source[1])
    done = subprocess.run(
        [sys.executable, str(script), str(workdir), "add"],
        capture_output=True,
        text=True,
        cwd=workdir,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (workdir / "kernel.info").read_text().startswith("add\n1\n1\n2,8\n")
    assert re.search(r"red\.global\.add\.u64 \[%\S+\], 4;", (workdir / "probed.bin").read_text())


def test_engine_finds_the_package_where_it_is_not_installed(tmp_path: Path) -> None:
    find = "import importlib.util as util; raise SystemExit(util.find_spec('benchguard.probe') is None)"
    words = [sys.executable, "-S", "-c", find]  # -S: without site-packages, where this package is installed
    folder = tmp_path / "work"
    folder.mkdir()
    request = Request(words, "add", -1, "", "nvidia", 90, {}, 10.0, False)
    assert _run_engine(request, folder, has_ptx=True).problem == ""


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("original.ptx", None, "machine code only"),
        ("original.ptx", "no PTX", "line 1"),
        ("original.ptx", PTX.replace("add(", "other("), "no kernel 'add'"),
        ("request.json", None, "missing"),
        ("request.json", "{", "not JSON"),
        ("request.json", '{"contract": 1}', "contract 3"),
        ("request.json", '{"contract": 3, "options": {"depth": "3"}}', "no option 'depth'"),
    ],
)
def test_engine_that_fails_prints_one_line_and_writes_no_image(
    workdir: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, reason: str
) -> None:
    if content is None:
        (workdir / name).unlink()
    else:
        (workdir / name).write_text(content)
    assert engine.main(count, [str(workdir), "add"]) == 1
    written = capsys.readouterr().err
    assert reason in written and len(written.splitlines()) == 1
    assert not (workdir / "probed.bin").exists()
