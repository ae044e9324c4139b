"""Generate docs/sim-support.md from the sources of the CPU driver: python docs/make_sim_support.py"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIM = ROOT / "sim"
EXPORTS = ROOT / "tests" / "data" / "libcuda-580.159.04-exports.txt"
PAGE = ROOT / "docs" / "sim-support.md"
HEAD = """\
# Support table of the CPU driver

Generated from the sources of `sim/` by `python docs/make_sim_support.py`; a test compares the two.
[sim/README.md](../sim/README.md) describes the driver and its limits.

"""

_FORM = re.compile(r"(_v\d+)?(_ptsz|_ptds)?$")
_DEFINED = re.compile(r"^CUresult (cu\w+)\(", re.MULTILINE)
_REFUSING = ("core/undeclared.c", "memory/ipc.c")
"""Files of `sim/driver` whose functions check their arguments at most, and then refuse."""
_INVOKED = re.compile(r"^([A-Z][A-Z_]+)\(([^;{]*?)\)$", re.MULTILINE)
_MACRO = re.compile(r"^#define ([A-Z_]+)\((\w+)[^)]*\)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_PASTED = re.compile(r"\bCUresult (cu\w+)##(\w+?)(?:##(\w+))?\(")
_RUNTIME = re.compile(
    r"^(?:cudaError_t|const char \*) ?(cuda\w+)\(|^FORWARD(?:_STREAM|_BARE)?\((cuda\w+)", re.MULTILINE
)
_UNSUPPORTED = re.compile(r"^UNSUPPORTED\((\w+)\)", re.MULTILINE)
_OPCODE = re.compile(r'^    \{"(\w+)", ptx_decode_', re.MULTILINE)


def read(paths: Iterable[Path]) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


def plain(name: str) -> str:
    """The name that the documentation uses: without the version of the ABI and the form of the default stream."""
    return _FORM.sub("", name)


def names(found: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(set(found)))


def driver_names(source: str) -> set[str]:
    """The functions that the driver's sources define, by themselves or through macros."""
    found = set(_DEFINED.findall(source))
    pasted = {
        name: [(before, after) for before, parameter, after in _PASTED.findall(body) if parameter == first]
        for name, first, body in _MACRO.findall(source)
    }
    for name, arguments in _INVOKED.findall(source):
        words = [word.strip() for word in arguments.split(",")]
        found.update(word for word in words if re.fullmatch(r"cu[A-Z]\w+", word))
        found.update(f"{before}{words[0]}{after}" for before, after in pasted.get(name, []))
    return {plain(name) for name in found}


def text() -> str:
    """The text of the page."""
    runtime = {plain(one or other) for one, other in _RUNTIME.findall(read((SIM / "runtime").glob("*.c")))}
    missing_runtime = {
        plain(name) for name in _UNSUPPORTED.findall(read([SIM / "runtime" / "unsupported.c"]))
    }
    refusing = {SIM / "driver" / name for name in _REFUSING}
    source = read(set((SIM / "driver").rglob("*.c")) - refusing)
    driver = driver_names(
        "\n}\n".join(part for part in source.split("\n}\n") if "sim_not_supported(__func__)" not in part)
    )
    exports = {plain(name) for name in EXPORTS.read_text(encoding="utf-8").split() if name.startswith("cu")}
    missing_driver = {name for name in exports - driver if name.startswith("cu") and name[2:3].isupper()}
    opcodes = _OPCODE.findall(read([SIM / "ptx" / "instruction.c"]))
    rows = [
        ("CUDA runtime 13.0", len(runtime - missing_runtime), len(missing_runtime)),
        ("driver 580.159.04", len(exports & driver), len(missing_driver)),
        ("PTX opcodes", len(set(opcodes)), None),
    ]
    table = "| interface | supported | missing |\n| --- | --- | --- |\n" + "".join(
        f"| {name} | {there} | {'' if missing is None else missing} |\n" for name, there, missing in rows
    )
    return (
        f"{HEAD}{table}\n"
        "Each function counts once, in all of its forms. A missing function can be linked and called: it\n"
        "returns *not supported*, and its first call writes its name to stderr.\n\n"
        f"## Missing runtime functions\n\n{names(missing_runtime)}\n\n"
        f"## Missing driver functions\n\n{names(missing_driver)}\n\n"
        f"## PTX opcodes that are there\n\n{names(opcodes)}\n\n"
        "An opcode may lack some of its forms; the diagnostic of a refused text names the line and the form.\n"
    )


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
