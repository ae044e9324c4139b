"""Completion in real shells: words are typed into them, followed by a Tab."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.conftest import ROOT

SECONDS = 300
PROMPT = "ready> "
TYPED = {
    "neutrino-bench verif": "verify-log",
    "neutrino-bench serve --log-s": "serve --log-size",
    "neutrino-bench serve --policy gra": "serve --policy grading",
    "neutrino-bench report --html x.html run.au": "report --html x.html run.audit.jsonl",
}
"""The words before a Tab, and the arguments after it."""

PROGRAM = """\
#!/bin/sh
if [ -n "$_NEUTRINO_BENCH_COMPLETE" ]; then
    exec "{python}" -c "from benchguard.cli.main import main; main()" "$@"
fi
echo "ran[$*]"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with neutrino-bench, which prints its arguments, and with a file to complete."""
    program = tmp_path / "bin" / "neutrino-bench"
    program.parent.mkdir()
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "run.audit.jsonl").touch()
    return tmp_path


def script(shell: str, path: Path) -> None:
    """Write what `neutrino-bench completion SHELL` prints."""
    command = [sys.executable, "-m", "benchguard", "completion", shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)


def variables(folder: Path) -> dict[str, str]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "TERM": "dumb", "HOME": str(folder)}


def needs(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed, so its completion is not tested")
    return found


class Terminal:
    """An interactive shell in a terminal of its own."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._deadline = time.monotonic() + SECONDS
        self._unread = ""
        self._process, self._end = pty.fork()
        if self._process == 0:
            os.chdir(folder)
            os.execve(command[0], list(command), environment)

    def read_until(self, text: str) -> str:
        """Return what is written up to this text. Later text stays for the next call."""
        while text not in self._unread:
            left = self._deadline - time.monotonic()
            assert left > 0 and select.select([self._end], [], [], left)[0], (
                f"no {text!r} in {self._unread!r}"
            )
            self._unread += os.read(self._end, 4096).decode(errors="replace")
        before, _, self._unread = self._unread.partition(text)
        return before + text

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def close(self) -> None:
        os.close(self._end)  # the shell gets a hang-up
        os.waitpid(self._process, 0)


def arguments_after_tab(terminal: Terminal, typed: str, arguments: str) -> str:
    """Type words and a Tab, wait for the rest of the arguments, type Enter; return what the program got."""
    terminal.read_until(PROMPT)
    terminal.type(typed)
    terminal.read_until(typed[-4:])
    terminal.type("\t")
    terminal.read_until(arguments.removeprefix(typed.removeprefix("neutrino-bench ")))
    terminal.type("\r")
    seen = terminal.read_until("]").replace("\r\n", "\n")
    return seen[seen.index("ran[") + 4 : seen.rindex("]")]


def completed(command: Sequence[str], folder: Path, **more: str) -> dict[str, str]:
    terminal = Terminal(command, folder, {**variables(folder), **more})
    try:
        return {
            typed: arguments_after_tab(terminal, typed, arguments).strip()
            for typed, arguments in TYPED.items()
        }
    finally:
        terminal.close()


def test_bash_completes_commands_options_values_and_files(folder: Path) -> None:
    bash = needs("bash")
    script("bash", folder / "completion.bash")
    (folder / "rc").write_text(f"PS1={PROMPT!r}\nsource {folder}/completion.bash\n")
    assert completed((bash, "--noprofile", "--rcfile", str(folder / "rc"), "-i"), folder) == TYPED


def test_zsh_completes_commands_options_values_and_files(folder: Path) -> None:
    zsh = needs("zsh")
    script("zsh", folder / "functions" / "_neutrino-bench")
    lines = (
        f"PS1={PROMPT!r}",
        f"fpath=({folder}/functions $fpath)",
        "autoload -Uz compinit",
        "compinit -u -D",
    )
    (folder / ".zshrc").write_text("\n".join(lines) + "\n")
    assert completed((zsh, "-d", "-i"), folder, ZDOTDIR=str(folder)) == TYPED


def test_fish_completes_commands_options_values_and_files(folder: Path) -> None:
    """`complete -C` prints what a Tab offers."""
    fish = needs("fish")
    script("fish", folder / "config" / "fish" / "completions" / "neutrino-bench.fish")
    environment = {
        **variables(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder),
    }
    for typed, arguments in TYPED.items():
        ran = subprocess.run(
            [fish, "-c", f"complete -C {typed!r}"],
            capture_output=True, text=True, check=True, cwd=folder, env=environment, timeout=SECONDS,
        )  # fmt: skip
        offered = [line.split("\t")[0] for line in ran.stdout.splitlines()]
        assert arguments.split()[-1] in offered, (typed, ran.stdout, ran.stderr)
