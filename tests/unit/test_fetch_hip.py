"""tests/support/fetch_hip.py: all of HIP's packages or none, once, and one line where they cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "support" / "fetch_hip.py"

APT = """\
#!/bin/sh
echo "$*" >> {log}
case "$*" in *update*) exit 0;; esac
{then}
"""
PACKAGES_COME = """\
while [ "$1" != download ]; do shift; done
shift
for name; do : > "$name.deb"; done
"""
UNPACK = """\
#!/bin/sh
mkdir -p "$3/usr/include" && : > "$3/usr/include/$(basename "$2" .deb)"
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for programs that stand for apt-get and dpkg-deb, beside a shell's own."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("sh", "mkdir", "basename"):
        (folder / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    return folder


def pretend(programs: Path, then: str = PACKAGES_COME) -> Path:
    """Put the two programs there; the file that tells what apt-get was asked."""
    log = programs / "asked"
    for name, text in (("apt-get", APT.format(log=log, then=then)), ("dpkg-deb", UNPACK)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return log


def fetch(folder: Path, programs: Path, ci: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(programs), "CI": ci}
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_packages_are_unpacked_once(tmp_path: Path, programs: Path) -> None:
    request = pretend(programs)
    folder = tmp_path / "hip"
    (folder / "of-before").mkdir(parents=True)
    assert fetch(folder, programs).returncode == 0
    assert (folder / "usr" / "include" / "libamdhip64-dev").is_file()
    assert not (folder / "of-before").exists()
    assert fetch(folder, programs).returncode == 0
    assert len(request.read_text().splitlines()) == 2  # update and download, the first time alone
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".hip-")] == []


def test_fetch_checks_signatures_and_leaves_the_system_alone(tmp_path: Path, programs: Path) -> None:
    request = pretend(programs)
    assert fetch(tmp_path / "hip", programs).returncode == 0
    for line in request.read_text().splitlines():
        assert "APT::Get::AllowUnauthenticated=false" in line
        assert f"Dir::State::lists={tmp_path}/" in line
        assert f"Dir::Cache={tmp_path}/" in line


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("echo 'E: Unable to locate package libamdhip64-5' >&2; exit 100", "Unable to locate package"),
        ("exit 0", "apt-get gave 0 of"),
    ],
)
def test_failed_fetch_is_reported_in_one_line(tmp_path: Path, programs: Path, then: str, said: str) -> None:
    pretend(programs, then)
    result = fetch(tmp_path / "hip", programs)
    assert result.returncode == 0
    assert said in result.stdout and result.stdout.count("\n") == 1 and result.stderr == ""
    assert not (tmp_path / "hip").exists()


def test_failed_fetch_in_ci_is_an_error_with_apt(tmp_path: Path, programs: Path) -> None:
    assert fetch(tmp_path / "hip", programs, ci="true").returncode == 0  # no apt-get: nothing to be done
    pretend(programs, "exit 100")
    result = fetch(tmp_path / "hip", programs, ci="true")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1 and "apt-get: status 100" in result.stderr
