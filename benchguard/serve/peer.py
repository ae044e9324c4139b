"""The process at the other end of a connection, as the kernel knows it."""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from .messages import RequestError

_SO_PEERPIDFD = 77
"""Linux 6.5. Python has no constant for it."""
_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True)
class Peer:
    """`process` is its number here, or 0 if it is in another pid namespace. `handle` becomes readable when it ends."""

    process: int
    user: int
    group: int
    handle: int

    def close(self) -> None:
        os.close(self.handle)

    @property
    def executable(self) -> str:
        """The path of its program; empty if this user may not know."""
        try:
            return str(Path(f"/proc/{self.process}/exe").readlink()) if self.process else ""
        except OSError:
            return ""

    def maps(self, inode: int) -> bool:
        """Whether its memory has a mapping of the file with this inode; True if this user may not know."""
        try:
            lines = Path(f"/proc/{self.process}/maps").read_bytes().splitlines()
        except OSError:
            return True
        return any(len(fields) > 4 and fields[4] == b"%d" % inode for fields in map(bytes.split, lines))


def peer_of(connection: socket.socket) -> Peer:
    """Raises RequestError if the end of the process could not be noticed."""
    process, user, group = _CREDENTIALS.unpack(
        connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    try:
        return Peer(process, user, group, connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD))
    except OSError:  # an older kernel, or the process has ended
        pass
    if process == 0:
        raise RequestError(
            "the program is in another pid namespace, which needs Linux 6.5; share the namespace with the service"
        )
    try:
        return Peer(process, user, group, os.pidfd_open(process))
    except OSError as error:
        raise RequestError(f"the program cannot be watched: {error.strerror}") from error
