"""A submission that lies where the judge imports modules never runs in the judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.attacks.catalogue import KIT
from tests.attacks.running import PYTHONPATH, Machine

SIM = Machine("sim", seconds=200)
PROBLEM = """
import statistics
{imports}
from tests.attacks import problems

assert statistics.median([1, 2, 3]) == 2

class Mine(problems.Mix):
    pass
"""


@dataclass(frozen=True)
class Place:
    """A problem's folder, and the file that a submission leaves where it runs unconfined."""

    folder: Path

    @property
    def mark(self) -> Path:
        return self.folder / "ran-unconfined"

    def submission(self, path: Path) -> Path:
        """An honest submission in one file, which also leaves the mark if it can."""
        ptx = repr((KIT / "kernels.ptx").read_bytes())
        kit = (KIT / "kit.py").read_text()
        whole = kit.replace('(Path(__file__).parent / "kernels.ptx").read_bytes()', ptx)
        assert whole != kit
        future, _, rest = whole.partition("import ctypes")
        leave = f"try:\n    open({str(self.mark)!r}, 'w').close()\nexcept OSError:\n    pass\n"
        call = "\n\ndef solution(x, y, n, rounds):\n    mix(x.data_ptr(), y.data_ptr(), n, rounds)\n"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{future}{leave}import ctypes{rest}{call}")
        return path

    def verdict(self, imports: str, submission: Path, current: Path | None = None) -> tuple[str, str]:
        """`current`: the folder in which the command is started, if not the problem's."""
        problem, document = self.folder / "problem.py", self.folder / "result.json"
        problem.write_text(PROBLEM.format(imports=imports))
        current = current or self.folder
        command = [
            sys.executable, "-m", "benchguard", "grade", os.path.relpath(problem, current), str(submission),
            "--driver", "sim", "--case", "small", *SIM.options(()), "--json", str(document), "-q",
        ]  # fmt: skip
        result = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": PYTHONPATH}, cwd=current, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SIM.seconds, check=False,
        )  # fmt: skip
        if not document.is_file():
            return "none", result.stderr
        whole = json.loads(document.read_text())
        return whole["verdict"], whole["reason"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    tmp_path.chmod(0o777)  # or the mark could be missing because of the sandbox's other user
    return Place(tmp_path)


def test_submission_named_as_standard_library_module_never_runs_in_judge(place: Place) -> None:
    """The control is the module beside the problem that the problem does import."""
    (place.folder / "helper.py").write_text("NUMBER = 7\n")
    helper = "from helper import NUMBER\nassert NUMBER == 7"
    verdict = place.verdict(helper, place.submission(place.folder / "statistics.py"))
    assert not place.mark.exists()
    assert verdict == ("pass", "")


def test_submission_that_is_package_beside_problem_never_runs_in_judge(place: Place) -> None:
    package = place.submission(place.folder / "fast_library" / "submission.py").parent
    place.submission(package / "__init__.py")
    optional = "try:\n    import fast_library\nexcept ImportError:\n    fast_library = None"
    verdict = place.verdict(optional, package)
    assert not place.mark.exists()
    assert verdict == ("pass", "")


@pytest.mark.parametrize("inside", [True, False], ids=["in the submission", "control"])
def test_settings_in_submission_never_reach_judge(place: Place, inside: bool) -> None:
    """Libraries such as numba read settings from the current folder. The control's problem has some of its own."""
    submission = place.submission(place.folder / "fast" / "submission.py").parent
    settings = (submission if inside else place.folder) / ".numba_config.yaml"
    settings.write_text("cache_dir: somewhere\n")
    reads = f"import pathlib\nassert pathlib.Path('.numba_config.yaml').exists() == {not inside}"
    assert place.verdict(reads, submission, submission if inside else None) == ("pass", "")
