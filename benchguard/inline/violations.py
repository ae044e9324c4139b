"""System calls that the arena's filter refused, as the kernel hands them on (seccomp_unotify(2)).

The filter has decided; here they are written down and answered with EPERM. None is ever let through: what a call's
pointers point to may change meanwhile.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import struct
import threading

_NOTIFICATION = struct.Struct("<QII iI Q 6Q")
"""id, pid, flags; then struct seccomp_data: nr, arch, instruction_pointer, args."""

_RESPONSE = struct.Struct("<QqiI")
_RECEIVE = 0xC0502100
_SEND = 0xC0182101
"""SECCOMP_IOCTL_NOTIF_RECV and _SEND of linux/seccomp.h."""

ATTEMPTS_MAX = 64
POLL_MS = 100
_NAMES = {9: "mmap", 10: "mprotect", 11: "munmap", 25: "mremap", 28: "madvise", 30: "shmat", 216: "remap_file_pages",
          329: "pkey_mprotect"}  # fmt: skip


class Violations(threading.Thread):
    """Answers until told to stop, or until the process is gone. `attempts` are for people."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(name="inline-violations", daemon=True)
        self._descriptor = descriptor
        self._over = threading.Event()
        self.attempts: list[str] = []

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        try:
            while not self._over.is_set():
                for _, events in poll.poll(POLL_MS):
                    if not events & select.POLLIN or not self._answer():
                        return
        finally:
            os.close(self._descriptor)

    def stop(self) -> tuple[str, ...]:
        self._over.set()
        self.join()
        return tuple(self.attempts)

    def _answer(self) -> bool:
        """False if the process that made the call has ended."""
        data = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._descriptor, _RECEIVE, data)
        except OSError as error:
            return error.errno in (errno.ENOENT, errno.EINTR)  # it was killed before we looked
        number, _, _, call, _, pointer, first, second, third, *_ = _NOTIFICATION.unpack(data)
        if len(self.attempts) < ATTEMPTS_MAX:
            name = _NAMES.get(call, f"system call {call}")
            self.attempts.append(f"{name}({first:#x}, {second:#x}, {third:#x}) at {pointer:#x}")
        try:
            fcntl.ioctl(self._descriptor, _SEND, bytearray(_RESPONSE.pack(number, 0, -errno.EPERM, 0)))
        except OSError as error:
            return error.errno in (errno.ENOENT, errno.EINTR)
        return True
