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
    "io_setup", "iopl", "ioperm", "modify_ldt", "vhangup", "settimeofday", "clock_settime", "clock_settime64",
    "adjtimex", "clock_adjtime", "clock_adjtime64", "stime", "sethostname", "setdomainname", "lsm_set_self_attr",
    "uretprobe",
)  # fmt: skip
"""io_setup: the number of asynchronous requests is limited for the machine as a whole (fs.aio-max-nr)."""
_MOUNTS = (
    "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "fsopen", "fsmount", "fsconfig", "fspick",
    "move_mount", "open_tree", "open_tree_attr", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
)  # fmt: skip
_KEYS = ("add_key", "request_key", "keyctl")
_LASTING = (
    "shmget", "shmat", "shmctl", "semget", "semctl", "semop", "semtimedop", "msgget", "msgctl", "msgsnd", "msgrcv",
    "mq_open", "mq_unlink", "memfd_secret",
)  # fmt: skip
"""Objects that outlive the process, which landlock does not restrict. memfd_secret hides memory from the watch."""
_ATTRIBUTES = (
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat",
    "file_setattr",
)  # fmt: skip
"""Extended attributes, which landlock does not restrict. Programs such as `cp -p` go on if they are not supported."""

DENIED = (*_TRACING, *_KERNEL, *_MOUNTS, *_KEYS, *_LASTING)

_WHICH = (("setpriority", 0), ("ioprio_set", 1))
"""Calls whose first argument is a kind of target, and the value for one process. The other kinds are a process group
and a user."""

# Landlock does not restrict the calls below, and a filter cannot see which file a descriptor or a path means. A
# quarantine that shares its user could change the modes and times of that user's files, and lock files that it can
# read. The calls return success without effect, because compilers' caches and tools that copy files fail if they return
# an error: torch.compile locks its cache with flock.
_ON_FILES = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
    "flock",
)  # fmt: skip
_TIMES = (("utime", 1), ("utimes", 1), ("futimesat", 2), ("utimensat", 2))
"""Calls that set a file's times, and the argument with the times: a null pointer means the present."""
_LOCKS = (6, 7, 37, 38)
"""Commands of fcntl: F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
_COUNTED_BY_USER = ("inotify_init", "inotify_init1")
"""A user has 128 inotify instances (fs.inotify.max_user_instances)."""
# Calls on a process by its number, and the number's argument. 0 is the caller.
_OF_OTHERS = (
    ("sched_setaffinity", 0), ("sched_setscheduler", 0), ("sched_setparam", 0), ("sched_setattr", 0),
    ("setpriority", 1), ("ioprio_set", 1), ("migrate_pages", 0), ("move_pages", 0),
)  # fmt: skip

_HUGE = (("mmap", 3, 0x40000), ("memfd_create", 1, 0x4))
"""Calls, the argument with their flags, and MAP_HUGETLB and MFD_HUGETLB. The machine has one pool of such pages for all
programs, and a process's resident memory does not contain them, so the watch would not see them. Where the pool is
empty, as by default, programs get ENOMEM, too."""

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
_COMMANDS = (8, 10, 15, 1024, 1026, 1036, 1038, 1040)
"""Commands of fcntl: F_SETOWN, F_SETSIG and F_SETOWN_EX, by which the kernel signals another process; F_SETLEASE,
F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT and F_SETDELEG, which need no descriptor that is open for writing."""
_REQUESTS = (
    0x5412, 0x541C, 0x8901, 0x8902, 0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40047602,
)  # fmt: skip
"""Requests of ioctl: TIOCSTI and TIOCLINUX, input of a terminal; FIOSETOWN and SIOCSPGRP, as F_SETOWN; FS_IOC_SETFLAGS,
FS_IOC_FSSETXATTR and FS_IOC_SETVERSION (and their 32-bit forms), which change a file that is open for reading."""
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


_NOT_EQUAL, _EQUAL, _MASKED = 1, 4, 7
"""enum scmp_compare of seccomp.h. "Equal" is for pointers alone: the kernel reads 32 bits of an int but a filter
compares 64, so a caller could bypass the rule by setting the upper half (CVE-2019-7303)."""
_WORD = 0xFFFFFFFF


def _deny_all(rules: _Rules, shares_user: bool) -> None:
    for name in DENIED:
        rules.deny(name)
    for name in _ATTRIBUTES:
        rules.deny(name, number=errno.ENOTSUP)
    rules.deny("clone3", number=errno.ENOSYS)
    for name, argument, flag in _HUGE:
        rules.deny(name, (argument, _MASKED, flag, flag), number=errno.ENOMEM)
    for flag in _NAMESPACES:
        rules.deny("clone", (0, _MASKED, flag, flag))
    rules.deny("personality", (0, _NOT_EQUAL, _QUERY_PERSONALITY, 0))
    for request in _REQUESTS:
        rules.deny("ioctl", (1, _MASKED, _WORD, request))
    for command in _COMMANDS:
        rules.deny("fcntl", (1, _MASKED, _WORD, command))
    for name, process in _WHICH:
        rules.deny(name, (0, _NOT_EQUAL, process, 0))
    rules.deny("prlimit64", (0, _NOT_EQUAL, 0, 0))
    if shares_user:
        for name in _ON_FILES:
            rules.deny(name, number=0)
        _deny_times(rules)
        for command in _LOCKS:
            rules.deny("fcntl", (1, _MASKED, _WORD, command), number=0)
        for name in _COUNTED_BY_USER:
            rules.deny(name)
        for name, argument in _OF_OTHERS:
            rules.deny(name, (argument, _NOT_EQUAL, 0, 0))


def _deny_times(rules: _Rules) -> None:
    """Setting given times returns success without effect. Setting the present by path fails.

    Python's Path.touch() creates a file only if that fails; `touch` sets the present by descriptor.
    """
    for name, times in _TIMES:
        rules.deny(name, (times, _NOT_EQUAL, 0, 0), number=0)
    rules.deny("utimensat", (1, _EQUAL, 0, 0), (2, _EQUAL, 0, 0), number=0)
    rules.deny("utimensat", (1, _NOT_EQUAL, 0, 0), (2, _EQUAL, 0, 0))
    for name, times in _TIMES[:-1]:
        rules.deny(name, (times, _EQUAL, 0, 0))


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
