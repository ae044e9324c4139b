"""Attacks on the quarantine's protections: each succeeds as an ordinary program and fails in a quarantine."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchguard.audit.log import LogWriter
from benchguard.errors import BenchguardError
from benchguard.ipc.processes import process_start, with_descendants
from benchguard.quarantine import quarantine as quarantine_module
from benchguard.quarantine.sandbox import environment
from tests.integration.quarantining import GOT, HEAD, confined, program_of, unconfined, victim


@pytest.fixture(scope="module")
def features(tmp_path_factory: pytest.TempPathFactory, native: Path) -> dict[str, str]:
    assert (native / "sim").is_dir()
    result = confined(tmp_path_factory.mktemp("features"), HEAD)
    assert result.trouble == "", result
    return result.confinement


def need(features: dict[str, str], name: str) -> None:
    if features[name] != "on":
        pytest.skip(f"{name}: {features[name]}")


def assert_refused(folder: Path, program: str, **options: object) -> None:
    """An attack works without a quarantine, or cannot work on this machine; a quarantine stops it."""
    outside = unconfined(program)
    if GOT not in outside:
        pytest.skip(f"not even an ordinary program may do it here: {outside.strip()[-200:]}")
    result = confined(folder / "run", program, **options)
    assert result.trouble == "" and result.broke is None, result
    assert GOT not in result.output and "REFUSED" in result.output, result.output


@pytest.mark.quick
def test_sandbox_lists_every_feature(features: dict[str, str]) -> None:
    assert list(features) == [
        "identity",
        "privileges",
        "filesystem",
        "system calls",
        "limits",
        "environment",
        "network",
        "processes",
    ]
    assert features["environment"] == features["privileges"] == "on"


@pytest.mark.parametrize(
    "attack",
    [
        "open(place + '/new', 'w').write('x')",
        "open(place + '/there', 'a').write('x')",
        "os.truncate(place + '/there', 1)",
        "os.rename(place + '/there', place + '/moved'); os.rename(place + '/moved', place + '/there')",
        "os.mkdir(place + '/folder'); os.rmdir(place + '/folder')",
        "os.symlink('/', place + '/link'); os.unlink(place + '/link')",
        "open('/tmp/neutrino-test', 'w'); os.unlink('/tmp/neutrino-test')",
    ],
)
def test_write_outside_scratch_is_refused(tmp_path: Path, features: dict[str, str], attack: str) -> None:
    need(features, "filesystem")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there").write_text("some text")
    tmp_path.chmod(0o755)
    outside.chmod(0o777)
    (outside / "there").chmod(0o666)
    program = program_of(attack, place=str(outside))
    assert_refused(tmp_path, program)


def test_shared_memory_of_the_machine_is_out_of_reach(tmp_path: Path, features: dict[str, str]) -> None:
    """Without a /dev/shm of its own, the submission has none; a file that it leaves in its own one is nowhere else."""
    need(features, "filesystem")
    place = Path("/dev/shm", f"neutrino-test-{os.getpid()}")
    place.write_text("a message")
    try:
        place.chmod(0o666)
        attack = "open(place).read(); open(place + '-new', 'w').write('x')"
        assert_refused(tmp_path, program_of(attack, place=str(place)))
        left = program_of("open(place + '-left', 'w').write('x')", place=str(place))
        result = confined(tmp_path / "left", left)
        assert (GOT in result.output) == _can_mount(), result.output
        assert not Path(f"{place}-left").exists() and place.read_text() == "a message"
        assert GOT not in confined(tmp_path / "next", left.replace("'w'", "'r'")).output
    finally:
        for each in place.parent.glob(f"{place.name}*"):
            each.unlink()


def _can_mount() -> bool:
    words = ["unshare", "--mount", "mount", "--bind", "/var", "/dev/shm"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_processes_of_a_submission_share_memory_and_semaphores(tmp_path: Path) -> None:
    if not _can_mount():
        pytest.skip("this machine does not let its root mount")
    attack = """
import multiprocessing, multiprocessing.pool, multiprocessing.shared_memory
fork = multiprocessing.get_context("fork")
with fork.Pool(2) as pool, multiprocessing.pool.ThreadPool(2) as threads:
    if pool.map(abs, [-1, 2]) + threads.map(abs, [-3]) != [1, 2, 3]: raise OSError
memory = multiprocessing.shared_memory.SharedMemory(create=True, size=100)
def write():
    same = multiprocessing.shared_memory.SharedMemory(memory.name); same.buf[0] = 7; same.close()
child = fork.Process(target=write); child.start(); child.join()
if memory.buf[0] != 7: raise OSError
memory.close(); memory.unlink()
"""
    result = confined(tmp_path, program_of(attack))
    assert GOT in result.output, result


def test_hidden_folder_is_unreadable(tmp_path: Path, features: dict[str, str]) -> None:
    """Programs that the submission starts cannot read the folder either. A submission inside the folder is readable."""
    need(features, "filesystem")
    (tmp_path / "reference.py").write_text("the answer")
    attack = """
try:
    found = open(place).read()
except OSError:
    found = subprocess.run(["cat", place], capture_output=True, text=True).stdout
if found != "the answer":
    raise OSError(found)
"""
    program = program_of(attack, place=str(tmp_path / "reference.py"))
    assert_refused(tmp_path, program, hidden=[str(tmp_path)])


def test_hidden_folder_in_an_allowed_one_is_unreadable(tmp_path: Path, features: dict[str, str]) -> None:
    """Python's own `json` package stands for the folder: the packages beside it stay readable."""
    need(features, "filesystem")
    import json as hidden

    place = Path(str(hidden.__file__)).parent
    attack = "open(place + '/__init__.py').read()"
    assert_refused(tmp_path, program_of(attack, place=str(place)), hidden=[str(place)])


@pytest.mark.parametrize("what", ["environ", "fd", "maps", "cmdline", "mem", "cwd/."])
def test_supervisor_is_unreadable(tmp_path: Path, features: dict[str, str], what: str) -> None:
    need(features, "filesystem")
    attack = "os.listdir(place) if place.endswith(('fd', '.')) else open(place, 'rb')"
    assert_refused(tmp_path, program_of(attack, place=f"/proc/{os.getpid()}/{what}"))


@pytest.mark.parametrize(
    "attack",
    [
        "call(libc.ptrace(16, pid, None, None)); os.waitpid(pid, 0x40000000); libc.ptrace(17, pid, None, None)",
        "call(libc.ptrace(0x4206, pid, None, None)); libc.ptrace(17, pid, None, None)",
        "data = ctypes.create_string_buffer(b'X'); own = (ctypes.c_uint64 * 2)(ctypes.addressof(data), 1); "
        "other = (ctypes.c_uint64 * 2)(address, 1); call(libc.process_vm_writev(pid, own, 1, other, 1, 0))",
        "open(f'/proc/{pid}/mem', 'r+b', buffering=0)",
    ],
    ids=["attach", "seize", "process_vm_writev", "mem"],
)
def test_other_processes_cannot_be_altered(tmp_path: Path, features: dict[str, str], attack: str) -> None:
    need(features, "system calls")
    with victim() as other:
        assert_refused(tmp_path, program_of(attack, pid=other.pid, address=other.address))


def test_other_processes_cannot_be_killed(tmp_path: Path, features: dict[str, str]) -> None:
    need(features, "processes")
    attack = "os.kill(pid, 0)\nfor each in {pid, *others}:\n    os.kill(each, signal.SIGCONT)"
    with victim() as other:
        assert_refused(tmp_path, program_of(attack, pid=other.pid, others=[os.getpid()]))


def test_keeper_cannot_be_killed(tmp_path: Path, features: dict[str, str]) -> None:
    need(features, "processes")
    program = program_of("os.kill(os.getppid(), signal.SIGKILL)")
    result = confined(tmp_path, program)
    assert "REFUSED PermissionError" in result.output and result.trouble == ""


@pytest.mark.parametrize(
    "attack",
    [
        "call(libc.prlimit(pid, 7, (ctypes.c_uint64 * 2)(64, 64), None))",
        "os.setpriority(os.PRIO_PROCESS, pid, 5)",
        "os.sched_setaffinity(pid, {0})",
    ],
    ids=["prlimit", "setpriority", "sched_setaffinity"],
)
def test_other_processes_cannot_be_slowed(tmp_path: Path, features: dict[str, str], attack: str) -> None:
    need(features, "system calls")
    with victim() as other:
        assert_refused(tmp_path, program_of(attack, pid=other.pid))


def test_modes_of_outside_files_are_unchanged(tmp_path: Path, features: dict[str, str]) -> None:
    """Landlock does not restrict chmod. If the sandbox shares the user, the call returns success without effect."""
    need(features, "system calls")
    path = tmp_path / "private"
    path.write_text("")
    path.chmod(0o600)
    tmp_path.chmod(0o755)
    program = program_of("os.chmod(place, 0o777)", place=str(path))
    assert GOT in unconfined(program) and stat.S_IMODE(path.stat().st_mode) == 0o777
    path.chmod(0o600)
    confined(tmp_path / "run", program)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.fixture
def listening(request: pytest.FixtureRequest) -> Iterator[tuple[int, object]]:
    """A socket's family and address."""
    family, address = {
        "tcp": (socket.AF_INET, ("127.0.0.1", 0)),
        "abstract": (socket.AF_UNIX, f"\0neutrino-{os.getpid()}"),
        "path": (socket.AF_UNIX, f"/tmp/neutrino-test-{os.getpid()}"),
    }[request.param]
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        yield int(family), server.getsockname()
    Path(f"/tmp/neutrino-test-{os.getpid()}").unlink(missing_ok=True)


@pytest.mark.parametrize("listening", ["tcp", "abstract", "path"], indirect=True)
def test_network_connection_is_refused(
    tmp_path: Path, features: dict[str, str], listening: tuple[int, object]
) -> None:
    need(features, "network")
    family, address = listening
    attack = "socket.socket(family).connect(address)"
    assert_refused(tmp_path, program_of(attack, family=family, address=address))


def test_allowed_network_connection_works(tmp_path: Path, features: dict[str, str]) -> None:
    need(features, "network")
    with socket.create_server(("127.0.0.1", 0)) as server:
        attack = "socket.create_connection(address)"
        result = confined(tmp_path, program_of(attack, address=server.getsockname()), network=True)
    assert GOT in result.output, result
    assert result.confinement["network"] != "on" and not result.confined


@pytest.mark.parametrize(
    "attack",
    [
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "call(libc.syscall(425, 8, ctypes.create_string_buffer(120)))",
        "call(libc.syscall(323, 1))",
        "call(libc.unshare(0x10000000))",
        "call(libc.unshare(0x20000))",
        "call(libc.syscall(250, 0, -3, 1))",
        "call(libc.syscall(29, 0, 4096, 0o1600))",
        "call(libc.syscall(321, 0, (ctypes.c_uint32 * 32)(2, 4, 4, 1), 128))",
        "call(libc.syscall(434, pid, 0)); call(libc.syscall(438, libc.syscall(434, pid, 0), 0, 0))",
        "call(libc.personality(0x40000))",
    ],
    ids=[
        "netlink", "datagrams", "io_uring", "userfaultfd", "user namespace", "mount namespace", "keyctl", "shmget",
        "bpf", "pidfd_getfd", "personality",
    ],
)  # fmt: skip
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")
def test_forbidden_system_call_is_refused(tmp_path: Path, features: dict[str, str], attack: str) -> None:
    need(features, "system calls")
    with victim() as other:
        assert_refused(tmp_path, program_of(attack, pid=other.pid))


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="there it is another instruction")
def test_system_call_of_another_architecture_kills_the_process(
    tmp_path: Path, features: dict[str, str]
) -> None:
    need(features, "system calls")
    attack = """
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))() != os.getpid():
    raise OSError("no such interface")
"""
    program = program_of(attack)
    if GOT not in unconfined(program):
        pytest.skip("this kernel has no 32-bit system calls")
    result = confined(tmp_path, program)
    assert "killed by SIGSYS" in result.trouble


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has these privileges to lose")
@pytest.mark.parametrize(
    "attack",
    [
        "os.setuid(12345)",
        "os.setgroups([0])",
        "os.chroot('/')",
        "os.mknod(os.environ.get('TMPDIR', '/tmp') + f'/device{os.getpid()}', 0o020600, 0x103)",
        "call(libc.mount(b'none', b'/mnt', b'tmpfs', 0, None)); libc.umount(b'/mnt')",
        "if subprocess.run(['setpriv', '--reuid=4711', 'true'], capture_output=True).returncode: raise OSError",
    ],
)
def test_privileged_operation_is_refused(tmp_path: Path, features: dict[str, str], attack: str) -> None:
    need(features, "privileges")
    assert_refused(tmp_path, program_of(attack))


@pytest.mark.quick
def test_submission_file_cannot_be_written(tmp_path: Path, features: dict[str, str]) -> None:
    need(features, "filesystem")
    attack = "open(__file__, 'a')"
    result = confined(tmp_path, program_of(attack))
    assert "REFUSED" in result.output and not result.altered


def test_environment_of_the_supervisor_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "secret-4711")
    program = program_of("print(sorted(os.environ)); assert 'secret-4711' in os.environ.values()")
    program = program.replace("(OSError", "(AssertionError, OSError")
    assert GOT in unconfined(program)
    assert GOT not in confined(tmp_path, program).output


def test_partial_sandbox_is_refused_on_request(
    tmp_path: Path, features: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if all(why == "on" for why in features.values()):
        result = confined(tmp_path / "full", "print('ran')\n" + HEAD, require_full=True)
        assert "ran" in result.output and result.confined
    monkeypatch.setenv("API_TOKEN", "x")
    monkeypatch.setattr(environment, "KEPT", environment.KEPT | {"API_TOKEN"})
    result = confined(tmp_path / "not", "print('ran')\n" + HEAD, require_full=True)
    assert "environment: unexpected variables: API_TOKEN" in result.trouble and "ran" not in result.output


@pytest.mark.quick
def test_honest_program_is_not_hindered(tmp_path: Path) -> None:
    """Compilers, threads, child processes, caches, temporary files, a pool of processes."""
    attack = """
import tempfile, threading, pathlib, shutil
thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "one.c")
    source.write_text("int one(void) { return 1; }")
    library = pathlib.Path(folder, "one.so")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    if ctypes.CDLL(str(library)).one() != 1: raise OSError
    shutil.copy2(source, pathlib.Path.home() / "kept.c")
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, b"child"); os._exit(0)
os.wait()
left, right = socket.socketpair()
left.send(os.read(reading, 5))
if right.recv(5) != b"child": raise OSError
open("/proc/self/maps").read(); open("/proc/cpuinfo").read(); os.cpu_count()
for stream in "stdout", "stderr": open(f"/dev/{stream}", "w").write("words")
subprocess.run(["git", "init", "--quiet", "repository"], check=True)
"""
    result = confined(tmp_path, program_of(attack))
    assert GOT in result.output, result
    assert (result.trouble, result.broke, result.status, result.altered) == ("", None, 0, False)


LAST_THREAD = """
def in_last_thread(work):
    '''Run `work` in a process whose first thread has ended: /proc shows such a process as a zombie.'''
    threading.Thread(target=work).start()
    ctypes.CDLL(None).syscall(60, 0)  # exit, of this thread only
"""


@pytest.mark.parametrize("thread", ["first", "last"])
def test_daemon_is_killed_at_the_end(tmp_path: Path, thread: str) -> None:
    attack = f"""
import threading
{LAST_THREAD}
reading, writing = os.pipe()
def stay():
    time.sleep(0.3)
    os.write(writing, str(os.getpid()).encode())
    for each in range(3): os.close(each)
    time.sleep(50)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stay() if {thread == "first"} else in_last_thread(stay)
    os._exit(0)
print("daemon", os.read(reading, 10).decode(), flush=True)
"""
    program = program_of(attack)

    def daemon(text: str) -> int:
        return int(text.partition("daemon ")[2].split()[0])

    outside = daemon(unconfined(program))
    assert process_start(outside) is not None
    os.kill(outside, 9)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as ours:
        result = confined(tmp_path, program)
        assert ours.poll() is None  # other processes of the test keep running
        ours.kill()
    assert GOT in result.output and result.trouble == ""
    assert process_start(daemon(result.output)) is None


def test_process_limit_stops_a_fork_loop(tmp_path: Path) -> None:
    attack = """
for each in range(400):
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
time.sleep(1)
"""
    before = set(with_descendants(os.getpid()))
    result = confined(tmp_path, program_of(attack), processes=64)
    assert GOT not in result.output
    assert "more than 64 processes" in result.trouble or "REFUSED BlockingIOError" in result.output
    assert set(with_descendants(os.getpid())) <= before


@pytest.mark.parametrize("allowed", [64, 4000])
def test_fork_bomb_is_killed(tmp_path: Path, allowed: int) -> None:
    """Each process starts another and exits, so that no list of processes is complete."""
    attack = """
until = time.monotonic() + 30
while time.monotonic() < until:
    try:
        if os.fork() == 0 and os.fork() == 0: os.setsid()
        elif os.getpid() != first: os._exit(0)
        else: os.waitpid(-1, os.WNOHANG)
    except OSError: pass
    time.sleep(0.001 if os.getpid() == first else 0.01)
"""
    before = set(with_descendants(os.getpid()))
    result = confined(
        tmp_path, program_of("global first\nfirst = os.getpid()\n" + attack), processes=allowed, timeout=3
    )
    assert result.timed_out or "processes" in result.trouble
    assert "survived SIGKILL" not in result.trouble
    assert set(with_descendants(os.getpid())) <= before  # no process and no zombie is left


def test_memory_limit_stops_the_submission(tmp_path: Path) -> None:
    attack = (
        "hold = bytearray(400 << 20)\nfor each in range(0, len(hold), 4096): hold[each] = 1\ntime.sleep(5)"
    )
    program = program_of(attack)
    result = confined(tmp_path / "less", program, memory_bytes=256 << 20, timeout=30)
    assert "memory, 0.2 GiB are allowed" in result.trouble and GOT not in result.output
    shared = program.replace("bytearray(400 << 20)", "mmap.mmap(-1, 400 << 20)")
    result = confined(tmp_path / "shared", shared, memory_bytes=256 << 20, timeout=30)
    assert "are allowed" in result.trouble
    child = "if os.fork() == 0: in_last_thread(lambda: exec(attack))\ntime.sleep(5)"
    hidden = program_of(f"import threading\n{LAST_THREAD}\nattack = {attack!r}\n{child}")
    result = confined(tmp_path / "hidden", hidden, memory_bytes=256 << 20, timeout=30)
    assert "memory, 0.2 GiB are allowed" in result.trouble and GOT not in result.output


def test_giant_file_is_refused(tmp_path: Path) -> None:
    attack = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open(os.environ.get("TMPDIR", "/tmp") + f"/giant{os.getpid()}", "wb") as stream:
    os.unlink(stream.name)
    os.truncate(stream.fileno(), 65 << 30)
"""
    assert_refused(tmp_path, program_of(attack))


@pytest.mark.full
def test_log_that_cannot_be_written_is_the_fault_of_a_submission_over_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have filled the disk of the log. Without such a limit the machine is at fault."""

    class Full(LogWriter):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.error = "no space left"

    monkeypatch.setattr(quarantine_module, "LogWriter", Full)
    over = confined(
        tmp_path / "over", program_of("hold = b'x' * (1 << 29)\ntime.sleep(30)"), memory_bytes=256 << 20
    )
    assert "are allowed" in over.trouble
    with pytest.raises(BenchguardError, match="no space left"):
        confined(tmp_path / "within", "def solution(): pass")
