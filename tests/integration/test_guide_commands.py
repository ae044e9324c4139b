"""The commands of the guides and of the examples' pages end with status 0 on the CPU driver, or with that of the page.

The tutorials have a stricter test (test_docs_commands.py). Here the output is not compared, and the files that a
page only names are stand-ins (tests/support/readers_folder.py).
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path

import pytest

from benchguard.quarantine.runner.compilers import find_nvcc
from tests.conftest import ROOT
from tests.support.page_commands import commands_of, pages
from tests.support.readers_folder import copy_checkout, environment, write_stand_ins

COMMAND_SECONDS = 280
WRITTEN = ("--log", "-o", "--json", "--html", "--results", "--sarif", "--parquet", "--csv", "--perfetto", "--out",
           "--summary", "--keep-images", "--dump-images")  # fmt: skip
"""Options with a path that the command writes; two commands of a page may write the same."""

NAMES = {"PROBLEM": "problem.py", "SUBMISSION": "submission.cu", "CAPTURE": "x.ncap", "A": "before.cu", "B": "after.cu",
         "NAME": "leaky_relu"}  # fmt: skip
"""Names in capital letters for which a reader puts their own."""

NOT_RUN = {
    "* serve *": "tests/integration/test_serve.py and test_containers.py run the service",
    "* env *": "tests/integration/test_containers.py uses the variables",
    "* --driver hip -- *": "needs an AMD GPU",
    "* --driver hip-sim -- ./program": "examples/hip/README.md has the same with a program",
    "* -d 4711": "needs a running process; tests/integration/test_trace.py has one",
    "* ./my_engine.py *": "docs/writing-a-probe.md has such an engine; tests/integration/test_probe.py runs it",
    "*grade --inline *": "needs a GPU",
    "*grade problem.py model_new.py": "needs torch on a GPU; tests/integration/test_adapters.py grades such problems",
    "*grade challenge.py *": "needs torch on a GPU; tests/unit/adapters opens such problems",
    "*grade tests.py:generate *": "examples/pygpubench/README.md has the same with files",
    "*grade TASK_FOLDER *": "examples/gpumode/README.md has the same with files",
    "*fast-p results": "needs a folder of results; tests/integration/option_runs.py makes one",
    "* rowscale submission.py": "every case takes an hour on the CPU driver; the next command runs one",
    "*regrade archive/bundles/SHA256.json *": "tests/integration/test_regrade.py regrades bundles",
    "*regrade result.json *": "tests/integration/option_runs.py has the same with files",
    "*export result.json *": "tests/integration/option_runs.py has the same with files",
    "* --sass *": "needs nvdisasm",
    "* --lines 8123450:8123460*": "the pages' logs have fewer lines",
    "*softmax.py my_softmax.py *": "needs triton on a GPU",
    "*kept/audit.jsonl *": "the log is that of `grade --keep`; the leaderboard's tutorial keeps one",
}
"""Commands that this test leaves out, and the reason."""

STATUS = {"* --require-evidence full *": 8, "*/NAME.py NAME.cu *": 1}
"""Exit statuses of commands that do not end with 0: the CPU driver has no evidence, a template's outputs are wrong."""

BEFORE = {
    "docs/grading.md": ("record -o x.ncap -- python program.py", "record -o before.ncap -- python program.py",
                        "record -o after.ncap -- python program.py"),
    "docs/tracing.md": ("--log run.audit.jsonl -- python program.py",),
    "docs/reports.md": ("record -o x.ncap -- python program.py",),
}  # fmt: skip
"""Commands that make the files of a page which the page does not make."""

GUIDES = [
    page for page in pages() if "tutorials" not in page.parts and list(commands_of((ROOT / page).read_text()))
]


def reason_not_to_run(command: str) -> str | None:
    return next((reason for pattern, reason in NOT_RUN.items() if fnmatch(command, pattern)), None)


def remove_written(command: str, folder: Path) -> None:
    for option, value in pairwise(shlex.split(command)):
        path = folder / value
        if option in WRITTEN and path.is_dir():
            shutil.rmtree(path)
        elif option in WRITTEN:
            path.unlink(missing_ok=True)


@pytest.mark.quick
def test_commands_that_are_left_out_exist() -> None:
    commands = [each for page in GUIDES for each in commands_of((ROOT / page).read_text())]
    for pattern in (*NOT_RUN, *STATUS):
        assert any(fnmatch(each, pattern) for each in commands), pattern
    assert sum(reason_not_to_run(each) is None for each in commands) > 60


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", GUIDES, ids=str)
def test_guide_commands_end_with_their_status(native: Path, tmp_path: Path, page: Path) -> None:
    assert (native / "sim").is_dir()
    pytest.importorskip("cuda.core", reason="the extra `examples` is not installed")
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("there is no nvcc")
    copy_checkout(tmp_path)
    write_stand_ins(tmp_path, nvcc)
    variables = environment(tmp_path)
    folder = (
        tmp_path / page.parent
        if page.parts[:2] in (("examples", "gpumode"), ("examples", "pygpubench"))
        else tmp_path
    )
    before = [f"neutrino-bench {command}" for command in BEFORE.get(str(page), ())]
    for command in [*before, *commands_of((ROOT / page).read_text())]:
        if reason_not_to_run(command):
            continue
        words = re.sub(rf"\b({'|'.join(NAMES)})\b", lambda found: NAMES[found[0]], command)
        remove_written(words, folder)
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=folder, env=variables, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip
        expected = next((status for pattern, status in STATUS.items() if fnmatch(command, pattern)), 0)
        assert done.returncode == expected, f"$ {words}\n{done.stdout}{done.stderr}"
