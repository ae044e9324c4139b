"""A running `neutrino-bench serve` for tests."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchguard import read_log, verify_log
from benchguard.serve.client import list_programs
from benchguard.serve.place import socket_in
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class Service:
    process: subprocess.Popen[bytes]
    folder: Path
    said: Path
    """Its standard error."""

    @property
    def socket(self) -> Path:
        return socket_in(self.folder)

    @property
    def text(self) -> str:
        return self.said.read_text()

    @property
    def logs(self) -> list[Path]:
        return sorted(self.folder.glob("*.audit.jsonl"))

    @property
    def programs(self) -> list[dict[str, Any]]:
        """The programs that it records now."""
        document: list[dict[str, Any]] = list_programs(self.socket)["programs"]
        return document

    def wait_for_programs(self, count: int) -> None:
        wait_until(lambda: len(self.programs) == count)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit status after a signal."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def verified(self, log: Path) -> list[dict[str, Any]]:
        """The lines of a log whose chain is whole."""
        assert verify_log(log).lines >= 2
        return list(read_log(log))


@contextlib.contextmanager
def running_service(
    folder: Path, *options: str, driver: str = "sim", said: Path | None = None
) -> Iterator[Service]:
    """A service that listens already. It is killed at the end if it still runs."""
    said = said or folder.with_suffix(".said")
    words = [sys.executable, "-m", "benchguard", "serve", "--log", str(folder), "--driver", driver, *options]
    with said.open("wb") as errors:
        process = subprocess.Popen(words, stderr=errors, stdin=subprocess.DEVNULL)
    service = Service(process, folder, said)
    try:
        deadline = time.monotonic() + 120
        while "serving at" not in service.text:
            assert process.poll() is None, service.text
            assert time.monotonic() < deadline, "the service does not listen"
            time.sleep(0.02)
        yield service
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(60)


def environment_for(folder: Path, *options: str, driver: str = "sim") -> dict[str, str]:
    """This process's environment with the variables that `env` prints."""
    words = [sys.executable, "-m", "benchguard", "env", "--log", str(folder), "--driver", driver]
    result = subprocess.run(
        [*words, "--format", "json", *options], capture_output=True, text=True, check=True, timeout=120
    )
    variables: dict[str, str] = msgspec.json.decode(result.stdout)
    return {**os.environ, **variables}
