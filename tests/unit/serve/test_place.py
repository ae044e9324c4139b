"""A service's folder and socket: one service, and no file of others harmed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.serve.place import check_socket, claimed, socket_in
from benchguard.serve.program import fork_recorder
from tests.conftest import ROOT


def test_socket_is_the_users_alone(tmp_path: Path) -> None:
    path = socket_in(tmp_path)
    with claimed(tmp_path, path, any_user=False):
        assert path.stat().st_mode & 0o777 == 0o700
    assert not path.exists()
    with claimed(tmp_path, path, any_user=True):
        assert path.stat().st_mode & 0o777 == 0o777


def test_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = socket_in(tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left_behind:
        left_behind.bind(str(path))
    with claimed(tmp_path, path, any_user=False) as listener:
        assert listener.getsockname() == str(path)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to be another user")
def test_socket_of_another_users_service_is_kept(tmp_path: Path) -> None:
    """The folder lets everybody write, so the other user could replace it."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        folder.chmod(0o777)
        with claimed(tmp_path, folder / "serve.sock", any_user=False):
            program = (
                "import os, sys\n"
                "from pathlib import Path\n"
                "from benchguard.serve.place import _listen\n"
                "os.setgid(23456); os.setuid(23456)\n"
                "try: _listen(Path(sys.argv[1]), False)\n"
                "except Exception as error: print(error)\n"
            )
            words = [sys.executable, "-c", program, str(folder / "serve.sock")]
            said = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout
            assert "cannot use the socket" in said and "Permission denied" in said
            assert (folder / "serve.sock").stat().st_uid == 0
    finally:
        shutil.rmtree(folder)


def test_second_service_is_refused(tmp_path: Path) -> None:
    """Also one with another folder and the same socket."""
    path = socket_in(tmp_path)
    with claimed(tmp_path, path, any_user=False):
        for folder in (tmp_path, tmp_path / "other"):
            with (
                pytest.raises(BenchguardError, match="another service"),
                claimed(folder, path, any_user=False),
            ):
                pass
        assert path.is_socket()


def test_other_file_at_the_sockets_path_is_kept(tmp_path: Path) -> None:
    path = socket_in(tmp_path)
    path.write_text("mine")
    with pytest.raises(UsageError, match="is not a socket"), claimed(tmp_path, path, any_user=False):
        pass
    assert path.read_text() == "mine"


def test_socket_below_a_file_is_a_usage_error() -> None:
    """A folder that does not exist is accepted: it may be the folder of a container."""
    with pytest.raises(UsageError, match="/dev/null is not a folder"):
        check_socket(Path("/dev/null/x/serve.sock"))
    check_socket(Path("/nonexistent/x/serve.sock"))


def test_long_path_is_a_usage_error(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="longer than 107 bytes"),
        claimed(tmp_path, tmp_path / ("x" * 120), False),
    ):
        pass


def test_folder_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make"), claimed(tmp_path / "file", tmp_path / "s", False):
        pass


def test_failed_fork_leaves_signals_and_descriptors_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """With SIGTERM blocked only SIGKILL would end the service."""

    def fork() -> int:
        raise BlockingIOError("no process")

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ()), len(list(Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(BlockingIOError):
        fork_recorder(Mock(), Mock(), "0")
    assert (
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        len(list(Path("/proc/self/fd").iterdir())),
    ) == before
