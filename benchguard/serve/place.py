"""The folder and the socket of a service."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from ..errors import BenchguardError, UsageError

SOCKET_NAME = "serve.sock"
SOCKET_PATH_MAX = 107
"""Limit of struct sockaddr_un, without the final zero."""
LOG_SUFFIX = ".audit.jsonl"


def socket_in(folder: Path) -> Path:
    """The socket of the service whose logs are in `folder`."""
    return folder.absolute() / SOCKET_NAME


def check_socket(path: Path) -> None:
    """Raises UsageError for a path that no socket can have. Folders that do not exist may be another machine's."""
    if len(os.fsencode(path)) > SOCKET_PATH_MAX:
        raise UsageError(
            f"the socket's path {path} is longer than {SOCKET_PATH_MAX} bytes; name a shorter one with --socket"
        )
    for each in (path, *path.parents):
        with contextlib.suppress(OSError):  # it does not exist, or cannot be seen
            mode = each.stat().st_mode
            if each == path and not stat.S_ISSOCK(mode):
                raise UsageError(f"{path} exists and is not a socket; name another path with --socket")
            if each != path and not stat.S_ISDIR(mode):
                raise UsageError(f"no socket can be at {path}: {each} is not a folder; name another folder")


@contextlib.contextmanager
def claimed(folder: Path, path: Path, any_user: bool) -> Iterator[socket.socket]:
    """A listening socket at `path`, whose folder no other service has. Removes it at the end.

    Raises BenchguardError if another service is there, or if the folder cannot be used.
    """
    check_socket(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {error.filename}: {error.strerror}; name another folder") from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise UsageError(f"cannot read and write {folder}, where logs go; name another folder with --log")
    with _locked(folder), _locked(path.parent) if path.parent != folder else contextlib.nullcontext():
        listener = _listen(path, any_user)
        try:
            yield listener
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
            listener.close()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, which ends with this process however it ends."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"cannot open {folder}: {error.strerror}; name another folder") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise BenchguardError(
            f"another service uses {folder}; end it, or name another folder with --log"
        ) from error
    except OSError:
        pass  # some network file systems have no locks; the socket is still exclusive
    try:
        yield
    finally:
        os.close(descriptor)


def _listen(path: Path, any_user: bool) -> socket.socket:
    """Bind the socket. A socket that an earlier service left behind is removed, any other file is not."""
    if path.is_socket():
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                _remove(path)
            except FileNotFoundError:  # its service has just ended
                pass
            except OSError as error:  # another user's may listen
                raise BenchguardError(
                    f"cannot use the socket {path}: {error.strerror}; name another with --socket"
                ) from error
            else:
                raise BenchguardError(f"another service listens at {path}; end it, or name another --socket")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    before = os.umask(0 if any_user else 0o077)
    try:
        listener.bind(str(path))
        listener.listen(128)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise BenchguardError(
            f"cannot listen at {path}: {error.strerror}; name another path with --socket"
        ) from error
    finally:
        os.umask(before)
    return listener


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BenchguardError(
            f"cannot remove the socket {path} of an earlier service: {error.strerror}; name another with --socket"
        ) from error
