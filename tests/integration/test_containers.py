"""docs/containers.md: its commands run in bwrap, its files name commands and options that exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from benchguard import read_log
from benchguard.cli.main import cli
from tests.conftest import ROOT
from tests.integration.support import PROGRAMS, Compiler
from tests.support.service import running_service

PAGE = (ROOT / "docs" / "containers.md").read_text()
BLOCK = re.compile(r"```(sh|yaml|dockerfile)\n(.*?)```", re.DOTALL)
Program = Callable[[str], Path]


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(PAGE) if kind == language]


def check_command(words: list[str]) -> None:
    """Raises click.UsageError for a command or an option that does not exist."""
    assert words[0] == "neutrino-bench"
    name = words[1]
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    command.make_context(name, words[2:])


def commands_in(value: Any) -> Iterator[list[str]]:
    """The command lists of a YAML document."""
    if isinstance(value, dict):
        for each in value.values():
            yield from commands_in(each)
    elif isinstance(value, list) and value and value[0] == "neutrino-bench":
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from commands_in(each)


@pytest.mark.quick
def test_files_name_commands_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: True)  # the folders are the container's
    compose, pod = (yaml.safe_load(text) for text in blocks("yaml"))
    (dockerfile,) = blocks("dockerfile")
    entry = json.loads(re.findall(r"^ENTRYPOINT (.*)$", dockerfile, re.MULTILINE)[0])
    check_command([*entry, "python"])
    found = list(commands_in(pod))
    assert len(found) == 2
    for words in found:
        check_command(words)
    shell = pod["spec"]["initContainers"][1]["command"][2]
    check_command(shlex.split(shell.partition(" > ")[0]))
    for line in re.findall(r"^RUN (neutrino-bench .*)$", dockerfile, re.MULTILINE):
        check_command(shlex.split(line))
    assert compose["services"]["app"]["read_only"] is True


@pytest.mark.quick
def test_command_that_does_not_exist_is_found() -> None:
    with pytest.raises(click.UsageError, match="--nonsense"):
        check_command(["neutrino-bench", "serve", "--nonsense", "--", "true"])


@pytest.mark.quick
def test_shared_folders_are_the_same_in_every_container() -> None:
    """The program's container has the socket, and not the logs."""
    pod = yaml.safe_load(blocks("yaml")[1])["spec"]
    (app,) = pod["containers"]
    assert {mount["name"] for mount in app["volumeMounts"]} == {"neutrino"}
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert all(mount["name"] in volumes for each in pod["initContainers"] for mount in each["volumeMounts"])


@pytest.fixture
def bwrap() -> str:
    """A sandbox like a container's: other namespaces, another user, a root that is read-only."""
    program = shutil.which("bwrap")
    if program is None:
        pytest.skip("bwrap is not installed: apt-get install bubblewrap")
    probe = [program, "--unshare-all", "--ro-bind", "/", "/", "--uid", "10001", "true"]
    ran = subprocess.run(probe, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        pytest.skip(f"bwrap cannot make a sandbox here: {ran.stderr.strip()}")
    return program


def shell(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of the page on the CPU driver."""
    text = re.sub(r"neutrino-bench (serve|env)", r"neutrino-bench \1 --driver sim", text)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.run(
        ["sh", "-ec", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def text_of_check() -> str:
    line: str = re.findall(r"^for log in .*verify-log.*$", PAGE, re.MULTILINE)[0]
    return line


SCRIPT = """
set -e
grep -q '^CapEff:.*0000000000000000$' /proc/self/status
test "$(id -u)" = 10001
! touch /etc/written 2>/dev/null
./ends kill || true
./forks before
sh -c 'exec ./linked'
"""


def test_programs_of_a_container_have_verified_logs(bwrap: str, program: Program, tmp_path: Path) -> None:
    """The page's command: a program that is killed, one that forks, one that a shell executes."""
    assert bwrap
    (text,) = [text for text in blocks("sh") if "bwrap" in text]
    for name in ("ends", "forks", "linked"):
        shutil.copy(program(name), tmp_path / name)
    (tmp_path / "programs.sh").write_text(SCRIPT)
    ran = shell(text, tmp_path)
    assert ran.returncode == 0, ran.stderr
    logs = sorted((tmp_path / "logs").glob("*.audit.jsonl"))
    assert len(logs) == 4
    verified = shell(text_of_check(), tmp_path)
    assert (verified.returncode, verified.stdout.count("chain valid")) == (0, 4), verified.stderr
    ends = [list(read_log(log))[-1] for log in logs]
    assert sorted(end["launches"] for end in ends) == [2, 3, 3, 4]
    assert all(end["complete"] for end in ends)


def test_full_disk_is_reported(bwrap: str, program: Program, tmp_path: Path) -> None:
    """The program ends as ever; the service names the log, keeps the written lines, and exits with 70."""
    logs = tmp_path / "logs"
    logs.mkdir()
    words = [
        bwrap,
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--size",
        "16384",
        "--tmpfs",
        str(logs),
    ]
    service = [sys.executable, "-m", "benchguard", "serve", "--driver", "sim", "--log", str(logs), "--"]
    served = shlex.join([*service, str(program("linked")), "100"])
    script = f"{served}; status=$?; head -c 4096 {logs}/*.audit.jsonl >&2; exit $status"
    ran = subprocess.run(
        [*words, "sh", "-c", script], capture_output=True, text=True, check=False, timeout=100, cwd=ROOT
    )
    assert (ran.returncode, ran.stdout) == (70, "right\n"), ran.stderr
    assert "could not be written to its end: No space left on device" in ran.stderr
    assert '"kind":"launch"' in ran.stderr
    assert "Traceback" not in ran.stderr


def test_program_in_a_container_finds_a_service_outside(
    bwrap: str, compile_c: Compiler, native: Path, tmp_path: Path
) -> None:
    """The page's last section: one folder, read-only, has the socket and the two libraries."""
    (text,) = [text for text in blocks("sh") if "--copy" in text]
    folder = native / "sim"
    links = (f"-L{folder}", "-l:libcuda.so.1", f"-Wl,-rpath,{folder}")
    program = compile_c("linked", PROGRAMS / "linked.c", links=links)
    (tmp_path / "run").mkdir()
    socket = tmp_path / "run" / "serve.sock"
    environment = shell(text.splitlines()[-1].partition(" > ")[0], tmp_path)
    assert environment.returncode == 0, environment.stderr
    variables = dict(line.split("=", 1) for line in environment.stdout.splitlines())
    assert variables["NEUTRINO_SHIM"] == str(tmp_path / "run" / "libcuda.so.1")
    with running_service(tmp_path / "logs", "--socket", str(socket)) as service:
        inside = [
            bwrap,
            "--unshare-all",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
        ]
        inside += [
            "--ro-bind",
            str(tmp_path / "run"),
            str(tmp_path / "run"),
            "--ro-bind",
            str(program),
            str(program),
        ]
        ran = subprocess.run(
            [*inside, str(program)], env=variables, capture_output=True, text=True, check=False, timeout=60
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        assert service.end() == 0, service.text
        (log,) = service.logs
        assert service.verified(log)[-1]["launches"] == 3
        assert service.verified(log)[0]["served"]["process"] > 0


def test_shell_gets_the_variables_of_the_page(program: Program, tmp_path: Path) -> None:
    """`eval "$(neutrino-bench env)"`, then the list and the check."""
    variables, listing = (text for text in blocks("sh") if "bwrap" not in text and "--copy" not in text)
    shutil.copy(program("linked"), tmp_path / "program")
    with running_service(tmp_path / "logs") as service:
        ran = shell(variables, tmp_path)
        assert ran.returncode == 0, ran.stderr
        service.wait_for_programs(0)
        ran = shell(listing, tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert "chain valid" in ran.stdout
