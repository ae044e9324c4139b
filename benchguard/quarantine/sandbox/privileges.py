"""Drop all privileges for good, so that neither a setuid program nor user 0 brings them back."""

from __future__ import annotations

import os
import platform
import struct
from pathlib import Path

from ...ipc import libc

_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522
_HEADER = struct.Struct("<Ii")
_NONE = bytes(24)

# NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, NO_CAP_AMBIENT_RAISE, each locked: capabilities(7).
_SECUREBITS = 0x01 | 0x02 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80


def bound() -> None:
    """Keep an exec as root from giving capabilities. Call it before become(), which takes the permission away.

    Failures are not reported here; drop() checks the result.
    """
    if os.geteuid() != 0:
        return
    for capability in range(64):
        try:
            if libc.prctl(libc.PR_CAPBSET_READ, capability):
                libc.prctl(libc.PR_CAPBSET_DROP, capability)
        except OSError:
            break  # beyond the last one, or not allowed
    try:
        libc.prctl(libc.PR_SET_SECUREBITS, _SECUREBITS)
    except OSError:
        return


def drop() -> str:
    """Drop all privileges; return "on", or the reason why the protection is off.

    Call it after become(), which resets two of these settings.
    """
    try:
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.prctl(libc.PR_CAP_AMBIENT, libc.PR_CAP_AMBIENT_CLEAR_ALL)
        _drop_capabilities()
        # Other processes of the same user, such as another quarantine, must not trace this one or read its /proc files.
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
    except OSError as error:
        return f"cannot drop privileges: {error.strerror}"
    remaining = _left()
    return "on" if not remaining else f"the process keeps {remaining}"


def _drop_capabilities() -> None:
    number = _CAPSET.get(platform.machine())
    if number is None:
        return  # _left() checks the result
    libc.syscall(number, _HEADER.pack(_CAPABILITY_VERSION_3, 0), _NONE)


def _left() -> str:
    """The remaining privileges, according to the kernel; empty after a complete drop."""
    fields = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line
    )
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        if int(fields.get(name, "0"), 16):
            return f"capabilities ({name} {fields[name]})"
    if os.geteuid() == 0 and int(fields.get("CapBnd", "0"), 16):
        return f"root's capabilities on exec (CapBnd {fields['CapBnd']})"
    # gVisor's status lacks this line; the prctl succeeded.
    return "" if fields.get("NoNewPrivs", "1") == "1" else "the privileges of setuid programs"
