"""Real programs on a shim, a preload library and a CPU driver that are all built with a sanitizer.

`python build.py sanitize` builds them and says where they are; without it these tests are skipped.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.audit.log import LogWriter
from benchguard.audit.probe_area import ProbeOptions
from benchguard.audit.selection import parse_selection
from benchguard.audit.session import Session
from benchguard.audit.summary import summarise
from benchguard.audit.supervise import Recorded, supervise
from benchguard.probe.pipeline.engine import find_engine
from benchguard.probe.pipeline.service import ProbeService
from benchguard.shim.interposer import Interposer
from benchguard.shim.surface import read_surface
from tests.integration.raw_capture import read_raw_captures
from tests.integration.support import PROGRAMS, Compiler, read_driver_launches

FOLDER = os.environ.get("NEUTRINO_SANITIZED")
REPORTED = 99
"""The exit status of a program after a sanitizer report."""

pytestmark = pytest.mark.skipif(not FOLDER, reason="run by `python build.py sanitize`")

OPTIONS = {
    # The libraries are loaded by LD_PRELOAD, so no sanitizer's own library can come first. Memory that the shim
    # keeps for the life of the process is not a leak.
    "ASAN_OPTIONS": f"verify_asan_link_order=0:detect_leaks=0:exitcode={REPORTED}:abort_on_error=0",
    "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:exitcode={REPORTED}",
    "TSAN_OPTIONS": f"halt_on_error=1:exitcode={REPORTED}",
}


@pytest.fixture(params=["address,undefined", "thread"])
def sanitizer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in OPTIONS.items():
        monkeypatch.setenv(name, value)
    return str(request.param)


@pytest.fixture
def libraries(sanitizer: str) -> Path:
    return Path(str(FOLDER)) / sanitizer.replace(",", "-")


@pytest.fixture
def program(compile_c: Compiler, sanitizer: str, libraries: Path) -> Callable[[str], Path]:
    """A program of tests/integration, with the sanitizer and linked to the sanitized CPU driver."""
    driver = libraries / "sim"

    def build(name: str) -> Path:
        links = (f"-L{driver}", "-l:libcuda.so.1", f"-Wl,-rpath,{driver}")
        flags = (f"-fsanitize={sanitizer}",)
        return compile_c(f"{name}-{libraries.name}", PROGRAMS / f"{name}.c", flags=flags, links=links)

    return build


def interposer_of(libraries: Path) -> Interposer:
    return Interposer(
        driver=libraries / "sim" / "libcuda.so.1",
        shim=libraries / "shim" / "libcuda.so.1",
        surface=read_surface(libraries / "shim" / "surface.json"),
        preload=libraries / "preload" / "libneutrino_preload.so",
        facts={},
        on_loader_path=False,
    )


@pytest.mark.parametrize(
    ("name", "mistake"),
    [("address,undefined", "address"), ("address,undefined", "undefined"), ("thread", "race")],
)
def test_sanitizer_reports_a_mistake(
    compile_c: Compiler, monkeypatch: pytest.MonkeyPatch, name: str, mistake: str
) -> None:
    """The control: with these options each sanitizer ends a faulty program."""
    for option, value in OPTIONS.items():
        monkeypatch.setenv(option, value)
    source = Path(__file__).parent / "programs" / "broken.c"
    broken = compile_c(f"broken-{name.replace(',', '-')}", source, flags=(f"-fsanitize={name}",))
    result = subprocess.run([broken, mistake], capture_output=True, text=True, check=False)
    assert result.returncode == REPORTED, result.stderr


@pytest.mark.parametrize(
    ("name", "arguments", "launches"),
    [
        ("linked", ["3"], 3),
        ("opened", ["soname"], 3),
        ("threads", ["8", "20"], 160),
        ("forks", ["before"], 5),
        ("forks", ["after"], 4),
        ("ends", ["return"], 4),
        ("errno_kept", [], None),
    ],
    ids=["linked", "opened", "threads", "fork before", "fork after", "destructors", "errno"],
)
def test_program_has_no_reports(
    program: Callable[[str], Path],
    libraries: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    arguments: list[str],
    launches: int | None,
) -> None:
    """A report would end the program with status 99. The log is complete."""
    monkeypatch.setenv("SIM_LAUNCH_LOG", str(tmp_path / "launches"))
    log = LogWriter(tmp_path / "run.audit.jsonl")
    command = [str(program(name)), *arguments]
    run = supervise(command, interposer_of(libraries), log, version="sanitize", timeout=120)
    output = capfd.readouterr()
    assert run.status == 0, output.out + output.err
    assert run.complete
    counted = read_driver_launches(tmp_path / "launches").total()
    if launches is not None:
        assert summarise(log.path).launches == counted == launches


PROBED_MODES = [
    *(
        "plain",
        "captured",
        "graphs",
        "children",
        "cooperative-node",
        "threads",
        "reloaded",
        "graphs",
        "children",
    ),
    *("refused", "reset", "plain"),
]


@pytest.mark.parametrize("engine", ["loads.py", "entries.py", "bounds"])
def test_probed_program_has_no_reports(
    program: Callable[[str], Path],
    libraries: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    engine: str,
) -> None:
    """Launches of every kind, nodes of graphs, maps of counted size and of fixed size."""
    own = PROGRAMS / "engines" / engine
    session = Session(probe=ProbeOptions(120.0))
    out = tmp_path / "out"
    out.mkdir()
    service = ProbeService(
        session,
        find_engine(str(own) if own.exists() else engine, {}),
        out,
        vendor="cuda",
        seconds=60,
        cache=None,
    )
    log = LogWriter(out / "audit.jsonl")
    command = [str(program("probed")), *PROBED_MODES]
    try:
        run = supervise(
            command,
            interposer_of(libraries),
            log,
            version="sanitize",
            timeout=300,
            session=session,
            probes=service,
        )
    finally:
        service.close()
    output = capfd.readouterr()
    assert run.status == 0, output.out + output.err
    assert service.counts.traces > 20 and not service.counts.lost_traces


REGIONS = [
    "captured",
    "contexts",
    "copies",
    "extents",
    "graph_captured",
    "graph_children",
    "graph_nodes",
    "graph_refused",
    "graph_updates",
    "handles",
    "last_read",
    "reads",
    "refused",
    "sets",
    "streams",
    "textures",
    "threads",
    "uploads",
    "globals",
    "globals_refused",
]


@pytest.mark.parametrize("name", REGIONS)
def test_program_with_a_region_has_no_reports(
    program: Callable[[str], Path],
    libraries: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    sanitizer: str,
    name: str,
) -> None:
    """Programs with captured regions. tests/integration/test_regions.py checks the captures."""
    if sanitizer == "thread":
        pytest.skip("device memory is to be where this sanitizer keeps its own (0x300000000000)")
    recorded = Recorded(tmp_path, parse_selection(None, None, None))
    log = LogWriter(tmp_path / "run.audit.jsonl")
    run = supervise(
        [str(program(f"region_{name}"))],
        interposer_of(libraries),
        log,
        version="sanitize",
        timeout=120,
        recorded=recorded,
    )
    output = capfd.readouterr()
    assert run.status == 0, output.out + output.err
    assert run.complete
    assert read_raw_captures(tmp_path)


def test_forked_children_have_no_reports(
    program: Callable[[str], Path],
    libraries: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    sanitizer: str,
) -> None:
    """Children forked while other threads hold the shim's locks."""
    if sanitizer == "thread":
        pytest.skip("ThreadSanitizer keeps its own memory at the arena's address (0x300000000000)")
    recorded = Recorded(tmp_path, parse_selection(None, None, None))
    run = supervise(
        [str(program("region_forks")), "30"],
        interposer_of(libraries),
        LogWriter(tmp_path / "run.audit.jsonl"),
        version="sanitize",
        timeout=120,
        recorded=recorded,
    )
    output = capfd.readouterr()
    assert run.status == 0, output.out + output.err


STRESS = Path(__file__).parent / "programs" / "stress"


@pytest.fixture
def stress(compile_c: Compiler, sanitizer: str, libraries: Path) -> Path:
    driver = libraries / "sim"
    links = (f"-L{driver}", "-l:libcuda.so.1", f"-Wl,-rpath,{driver}")
    sources = sorted(STRESS.glob("*.c"))
    return compile_c(f"stress-{libraries.name}", *sources, flags=(f"-fsanitize={sanitizer}",), links=links)


@pytest.mark.parametrize("seed", ["1", "2", "3", "4"])
def test_threads_on_one_device_have_no_reports(stress: Path, seed: str) -> None:
    """Streams, events, graphs, pools, modules, contexts and faults at once: each thread checks what it computed."""
    result = subprocess.run(
        [stress, seed, "10", "150"], capture_output=True, text=True, timeout=200, check=False
    )
    assert result.returncode == 0, result.stderr[-8000:]
    assert result.stdout == "held\n"
