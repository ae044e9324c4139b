"""A seccomp filter against system calls that no author of a kernel needs.

Calls are listed by name, as libseccomp knows them for this architecture. Calls of other architectures and of x32 kill
the process. A filter cannot read memory behind pointers, so clone3 fails with ENOSYS: C libraries then use clone, whose
flags are in a register.
"""

from __future__ import annotations

import errno
import socket

_TRACING = (
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "kcmp",
    "pidfd_getfd",
)
_KERNEL = (
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "uselib",
    "init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "syslog", "acct", "quotactl", "quotactl_fd", "nfsservctl", "lookup_dcookie", "fanotify_init",
    "iopl", "ioperm", "modify_ldt", "vhangup", "settimeofday", "clock_settime", "clock_settime64", "adjtimex",
    "clock_adjtime", "clock_adjtime64", "stime", "sethostname", "setdomainname", "lsm_set_self_attr", "uretprobe",
)  # fmt: skip
_MOUNTS = (
    "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "fsopen", "fsmount", "fsconfig", "fspick",
    "move_mount", "open_tree", "open_tree_attr", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
)  # fmt: skip
_KEYS = ("add_key", "request_key", "keyctl")
_LASTING = (
    "shmget", "shmat", "shmctl", "semget", "semctl", "semop", "semtimedop", "msgget", "msgctl", "msgsnd", "msgrcv",
    "mq_open", "mq_unlink", "memfd_secret", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr",
    "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
)  # fmt: skip
"""Objects that outlive the process, which landlock does not restrict. memfd_secret hides memory from the watch."""

DENIED = (*_TRACING, *_KERNEL, *_MOUNTS, *_KEYS, *_LASTING)

# Landlock does not restrict these calls. A quarantine that shares its user could change the modes of that user's files.
# The calls return success without effect, because tools that copy files to scratch fail if they return an error.
_MODES = ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat")
# Calls on a process by its number, and the number's argument. 0 is the caller.
_OF_OTHERS = (
    ("sched_setaffinity", 0), ("sched_setscheduler", 0), ("sched_setparam", 0), ("sched_setattr", 0),
    ("setpriority", 1), ("ioprio_set", 1), ("migrate_pages", 0), ("move_pages", 0),
)  # fmt: skip

# Older versions of libseccomp lack these names. Since Linux 5.1 numbers are the same on all architectures.
NUMBERS = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "process_mrelease": 448,
    "fchmodat2": 452, "lsm_set_self_attr": 460, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467,
    "file_setattr": 469,
}  # fmt: skip

_NAMESPACES = (0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00020000)
"""CLONE_NEWCGROUP, UTS, IPC, USER, PID, NET, NS."""
_QUERY_PERSONALITY = 0xFFFFFFFF
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI, TIOCLINUX."""
_PACKET_FAMILIES = (15, 17, 21, 30, 31, 38, 40, 44)
"""Families denied even with a network: AF_KEY, PACKET, RDS, TIPC, BLUETOOTH, ALG, VSOCK, XDP."""
_SOCKET_TYPE = 0xF


def confine(network: bool, shares_user: bool) -> tuple[str, str]:
    """Load the filter, for good; return the features "system calls" and "network": "on", or the reason why not.

    Call it last; it needs no_new_privs. `shares_user`: the user has other processes and files.
    """
    try:
        import pyseccomp  # noqa: F401, PLC0415 - looks for libseccomp.so.2 when it is imported
    except (ImportError, RuntimeError, OSError) as error:
        why = f"libseccomp is missing: {error}"
        return why, why
    try:
        rules = _Rules()
        _deny_all(rules, shares_user)
        _deny_network(rules, network)
        rules.load()
    except OSError as error:
        why = f"the kernel refused the filter: {error.strerror}"
        return why, why
    return "on", "allowed by --network" if network else "on"


class _Rules:
    """A typed wrapper for pyseccomp, which has no type hints."""

    def __init__(self) -> None:
        from pyseccomp import ALLOW, ERRNO, KILL_PROCESS, Arg, Attr, SyscallFilter  # noqa: PLC0415

        self._filter = SyscallFilter(ALLOW)
        self._filter.set_attr(Attr.ACT_BADARCH, KILL_PROCESS)
        self._errno, self._argument = ERRNO, Arg

    def deny(self, name: str, *conditions: tuple[int, int, int, int], number: int = errno.EPERM) -> None:
        """Deny a call if all conditions hold. A condition is (argument, comparison, value, value)."""
        arguments = [self._argument(*each) for each in conditions]
        call = self._resolved(name)
        if call is not None:
            self._filter.add_rule(self._errno(number), call, *arguments)

    def load(self) -> None:
        self._filter.load()

    @staticmethod
    def _resolved(name: str) -> int | None:
        from pyseccomp import Arch, resolve_syscall  # noqa: PLC0415

        try:
            call = int(resolve_syscall(Arch.NATIVE, name))
        except (ValueError, OSError):
            call = -1
        if call == -1:
            return NUMBERS.get(name)  # None: this architecture has no such call
        return call


_NOT_EQUAL, _MASKED = 1, 7
"""enum scmp_compare of seccomp.h. "Equal" is not used: the kernel reads 32 bits of an int but a filter compares 64, so
a caller could bypass the rule by setting the upper half (CVE-2019-7303)."""
_WORD = 0xFFFFFFFF


def _deny_all(rules: _Rules, shares_user: bool) -> None:
    for name in DENIED:
        rules.deny(name)
    rules.deny("clone3", number=errno.ENOSYS)
    for flag in _NAMESPACES:
        rules.deny("clone", (0, _MASKED, flag, flag))
    rules.deny("personality", (0, _NOT_EQUAL, _QUERY_PERSONALITY, 0))
    for request in _TERMINAL_INPUT:
        rules.deny("ioctl", (1, _MASKED, _WORD, request))
    rules.deny("prlimit64", (0, _NOT_EQUAL, 0, 0))
    if shares_user:
        for name in _MODES:
            rules.deny(name, number=0)
        for name, argument in _OF_OTHERS:
            rules.deny(name, (argument, _NOT_EQUAL, 0, 0))


def _deny_network(rules: _Rules, allowed: bool) -> None:
    """Without a network, socket pairs and listening sockets still work, for drivers and process pools.

    Connecting by name is denied, because landlock does not restrict socket files of other processes (docker.sock).
    """
    if allowed:
        for family in _PACKET_FAMILIES:
            rules.deny("socket", (0, _MASKED, _WORD, family))
        return
    rules.deny("connect")
    rules.deny("socket", (0, _NOT_EQUAL, socket.AF_UNIX, 0))
    for name in ("socket", "socketpair"):
        # Datagrams are sent to a name without connect(). AF_UNIX treats raw sockets as datagram sockets.
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
            rules.deny(name, (1, _MASKED, _SOCKET_TYPE, kind))
