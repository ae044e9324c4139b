"""The surface: what the real driver 580.159.04 exports is forwarded, and lookups are answered as it would."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchguard.codegen.emit import shim_map
from benchguard.codegen.headers import find_headers
from benchguard.codegen.model import Api
from benchguard.codegen.parse import parse_headers
from benchguard.shim.build import shim_for
from benchguard.shim.driver import discover
from tests.conftest import DATA
from tests.integration.support import PROGRAMS, Compiler

EXPORTS = (DATA / "libcuda-580.159.04-exports.txt").read_text().split()
CLIENTS = ["torch", "triton", "cupy"]
LOOKUP = re.compile(r"GPA2 (?P<name>\w*) v=(?P<version>\d+) f=(?P<flags>\d+) -> (?P<result>\d+)")


@dataclass(frozen=True)
class Shimmed:
    """A driver with just the names of the real one, and the shim that was generated for it."""

    driver: Path
    shim: Path
    surface: dict[str, object]

    def run(self, client: Path, lines: list[str]) -> list[str]:
        environment = {**os.environ, "LD_PRELOAD": str(self.shim), "NEUTRINO_DRIVER": str(self.driver)}
        outcome = subprocess.run(
            [client, self.driver],
            input="\n".join(lines) + "\n",
            text=True,
            capture_output=True,
            check=False,
            env=environment,
            timeout=240,
        )
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stdout.splitlines()


@pytest.fixture(scope="module")
def api() -> Api:
    return parse_headers(find_headers())


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory, compile_c: Callable[..., Path], api: Api) -> Shimmed:
    folder = tmp_path_factory.mktemp("echo")
    plain = [name for name in EXPORTS if name not in {"cuGetProcAddress", "cuGetProcAddress_v2"}]
    source = folder / "echo_driver.c"
    rows = [
        f'    {{"{entry.base}", {entry.version}, {int(entry.per_thread)}, (void *){entry.symbol}}},'
        for entry in api.entry_points
        if entry.symbol in EXPORTS
    ]
    source.write_text(
        '#include "echo_driver.h"\n\nstruct echo echo_last;\n\n'
        + "".join(f"ECHO({name}, {number})\n" for number, name in enumerate(plain))
        + '\n#include "echo_lookup.h"\n\nconst struct entry entries[] = {\n'
        + "\n".join(rows)
        + "\n};\n"
        + "const unsigned entry_count = sizeof entries / sizeof *entries;\n"
    )
    driver = compile_c(
        "echo/echo_driver.so",
        source,
        flags=(f"-I{PROGRAMS}",),
        links=("-Wl,-soname,libcuda.so.1", "-Wl,-Bsymbolic"),
    )
    shim = shim_for(discover(str(driver)))
    return Shimmed(driver, shim.path, json.loads(shim.surface_path.read_text()))


def exports_of(echo: Shimmed) -> list[dict[str, object]]:
    return echo.surface["exports"]  # type: ignore[return-value]


def test_shim_exports_exactly_the_drivers_symbols(echo: Shimmed) -> None:
    """Not one name more, not one less, but for our own: clients test features by looking names up."""
    out = subprocess.run(
        ["nm", "-D", "--defined-only", str(echo.shim)], capture_output=True, text=True, check=True
    )
    names = {line.split()[2].split("@")[0] for line in out.stdout.splitlines() if line.split()[1] == "T"}
    assert names == {*EXPORTS, *shim_map.OWN}
    assert {export["name"] for export in exports_of(echo)} == set(EXPORTS)


WITHOUT_RECORD = {"cuPointerGetAttribute", "cuPointerGetAttributes"}
"""Have a typed hook, for the arena's sake, but no record."""


def test_every_export_is_forwarded(echo: Shimmed, compile_c: Compiler, api: Api) -> None:
    """Each of the 707 names reaches the driver's function of that name, with every argument and its result.

    A passed call delivers all fourteen words and the vector register; a recorded one its declared parameters.
    """
    client = compile_c("echo_client", PROGRAMS / "echo_client.c", flags=(f"-I{PROGRAMS}",))
    kinds = {str(export["name"]): export["kind"] for export in exports_of(echo)}
    names = [name for name in EXPORTS if not name.startswith("cuGetProcAddress")]
    launches = {name for name in names if re.match(r"cuLaunch(?!HostFunc)", name)}
    lines = echo.run(client, [f"{name} null" if name in launches else name for name in names])
    assert len(lines) == len(names)
    counts = {"pass": 0, "untyped": 0, "recorded": 0}
    for number, (name, line) in enumerate(zip(names, lines, strict=True)):
        output, result, called, *words = line.split()
        assert (output, int(result), int(called)) == (name, 100000 + number, number), line
        kind = str(kinds[name])
        counts[kind] += 1
        sent = [0] * 14 if name in launches else list(range(1, 15))
        if kind == "recorded" or name in WITHOUT_RECORD:
            function = api.by_name[name]
            if any(
                parameter.type.shape.value in {"float", "double", "struct or union"}
                for parameter in function.parameters
            ):
                continue  # not passed as words: hooks.c is compiled against the header's own prototype
            declared = len(function.parameters)
            assert [int(word) for word in words[:declared]] == sent[:declared], line
        else:
            assert [int(word) for word in words[:14]] == sent, line
            assert float(words[14]) == 0.5, line
    assert counts["recorded"] > 300
    assert counts["pass"] > 200


@pytest.mark.parametrize("client", CLIENTS)
def test_lookup_results_match_the_driver(echo: Shimmed, compile_c: Compiler, client: str) -> None:
    """Lookups by torch, Triton and CuPy, recorded on a real driver: same result, same status, and the address is the
    shim's own for the very export that the driver chose."""
    text = (DATA / f"entry-points-{client}.txt").read_text()
    lookups = [match.group("name", "version", "flags") for match in LOOKUP.finditer(text)]
    assert len(lookups) > 400 or client != "torch"
    program = compile_c("lookup_client", PROGRAMS / "lookup_client.c")
    lines = echo.run(program, [f"{name or '-'} {version} {flags}" for name, version, flags in lookups])
    assert len(lines) == len(lookups)
    for lookup, line in zip(lookups, lines, strict=True):
        assert line.endswith(" same"), f"{lookup}: {line}"


@pytest.mark.parametrize("client", CLIENTS)
def test_dlsym_finds_exactly_the_drivers_symbols(echo: Shimmed, compile_c: Compiler, client: str) -> None:
    """dlsym finds a name in the shim exactly if the driver has it."""
    text = (DATA / f"entry-points-{client}.txt").read_text()
    names = sorted({line.split()[1] for line in text.splitlines() if line.startswith("DLSYM cu")})
    program = compile_c("echo_client", PROGRAMS / "echo_client.c", flags=(f"-I{PROGRAMS}",))
    lines = echo.run(
        program, [f"{name} null" for name in names if not name.startswith(("cuGetProc", "cuLaunch"))]
    )
    missing = {line.split()[0] for line in lines if line.endswith("missing")}
    assert missing == {name for name in names if name not in EXPORTS and not name.startswith("cuGetProc")}
