"""The generator's command line: python -m benchguard.codegen."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .emit import emit_shim
from .emit.sim import emit_sim
from .errors import CodegenError
from .exports import DriverExports, read_exports
from .exports_file import exports_text
from .generate import (
    generic_hip_surface,
    generic_surface,
    hip_sim_files,
    hip_surface,
    layout_files,
    names_file,
    shim_surface,
    write_files,
)
from .headers import Headers, find_headers, headers_in, newest_headers
from .hip import HipHeaders, find_hip_headers, hip_headers_in
from .parse import parse_headers
from .semantics import load_semantics
from .surface import Surface
from .vendor import CUDA, HIP

_HERE = Path(__file__).resolve().parent
_SOURCE = next(
    (folder for folder in (_HERE.parent, _HERE.parent / "source") if (folder / "sim").is_dir()), Path()
)
"""The C sources: beside this folder in a clone, in `source` in an installed package."""

_DESCRIPTION = """\
Generate C from a driver's headers: cuda.h and cudaTypedefs.h, or with --api hip HIP's.

  shim     the sources of a shim driver: one tail jump or typed wrapper for every export
  sim      the CPU driver's stubs and its cuGetProcAddress table; with --api hip those of its HIP face, too
  table    what the shim does with each function of the header
  exports  a driver's exports as text, to build from on a machine without the driver
  layouts  the Python modules of the wire formats, from the C headers in hook/core/wire
  names    names of errors, enums and arguments for readers of audit logs, of both vendors

CUDA's headers are those of the toolkit, else of the wheel nvidia-cuda-runtime; sim and
--all-header-functions take the newer of the two. HIP's are those of ROCm, else the system's.
--include names others. A HIP shim needs both.
"""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        _COMMANDS[options.command](options)
    except CodegenError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1
    return 0


def _headers(options: argparse.Namespace) -> Headers:
    if options.api == HIP.name:
        return _hip_headers(options)
    return headers_in(options.include) if options.include else _cuda_headers(options)


def _cuda_headers(options: argparse.Namespace) -> Headers:
    """The newest headers for output that must fit every driver."""
    every = options.command == "sim" or getattr(options, "all_header_functions", False)
    return newest_headers() if every else find_headers()


def _hip_headers(options: argparse.Namespace) -> HipHeaders:
    return hip_headers_in(options.include) if options.include else find_hip_headers()


def _semantics(options: argparse.Namespace) -> Path:
    path: Path | None = options.semantics
    return path or (HIP if options.api == HIP.name else CUDA).semantics


def _shim(options: argparse.Namespace) -> None:
    surface = _surface(options, read_exports(options.driver) if options.driver else None)
    write_files(emit_shim(surface), options.out)
    kinds = [export.kind for export in surface.exports]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("recorded", "pass", "untyped"))
    print(f"{options.out}: {len(kinds)} exports ({counts}) from {surface.origin}")


def _surface(options: argparse.Namespace, driver: DriverExports | None) -> Surface:
    semantics = _semantics(options)
    if options.api == HIP.name:
        headers, cuda = _hip_headers(options), _cuda_headers(options)
        if driver is None:
            return generic_hip_surface(headers, cuda, semantics)
        return hip_surface(headers, cuda, driver, semantics)
    if driver is None:
        return generic_surface(_headers(options), semantics)
    return shim_surface(_headers(options), driver, semantics)


def _sim(options: argparse.Namespace) -> None:
    if options.api == HIP.name:
        hip = _hip_headers(options)
        files = hip_sim_files(hip, _cuda_headers(options), _SOURCE / "sim" / "hip" / "exports.txt")
        write_files(files, options.out)
        print(f"{options.out}: {', '.join(files)} from {hip.origin}")
        return
    headers = _headers(options)
    api = parse_headers(headers)
    write_files(emit_sim(api), options.out)
    counts = f"{len(api.functions)} stubs, {len(api.entry_points)} entry points"
    print(f"{options.out}: {counts} from {headers.origin}")


def _exports(options: argparse.Namespace) -> None:
    driver = read_exports(options.driver)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_files({options.out.name: exports_text(driver)}, options.out.parent)
    print(f"{options.out}: {len(driver.names)} exports of {len(driver.versions)} versions")


def _table(options: argparse.Namespace) -> None:
    api = parse_headers(_headers(options))
    interceptions = load_semantics(_semantics(options), api)
    names = {symbol: name for name, symbol in api.source_names.items() if name != symbol}
    for function in api.functions:
        interception = interceptions.get(function.name)
        group = interception.group if interception else None
        kind = "recorded" if group else "pass"
        hook = ", ".join(interception.hooks if interception else ()) or "-"
        source = f"  (written {names[function.name]})" if function.name in names else ""
        print(f"{function.name:48} {kind:9} {group or '-':16} {hook}{source}".rstrip())


def _layouts(options: argparse.Namespace) -> None:
    files = layout_files(_SOURCE / "hook" / "core" / "wire")
    write_files(files, options.out)
    print(f"{options.out}: {', '.join(files)}")


def _names(options: argparse.Namespace) -> None:
    cuda, hip = newest_headers(), find_hip_headers()
    files = names_file((cuda, hip))
    write_files(files, options.out)
    print(f"{options.out}: {', '.join(files)} from {cuda.origin} and {hip.origin}")


_COMMANDS = {
    "shim": _shim,
    "sim": _sim,
    "table": _table,
    "exports": _exports,
    "layouts": _layouts,
    "names": _names,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchguard.codegen",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--api", choices=(CUDA.name, HIP.name), default=CUDA.name, help="the driver's API (default: cuda)"
    )
    common.add_argument("--include", type=Path, metavar="FOLDER", help="folder with the API's headers")
    meaning = argparse.ArgumentParser(add_help=False)
    meaning.add_argument(
        "--semantics",
        type=Path,
        metavar="FILE",
        help="table of recorded functions (default: semantics/cuda.toml or hip.toml)",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="|".join(_COMMANDS))
    shim = commands.add_parser("shim", parents=[common, meaning], help="write the sources of a shim driver")
    surface = shim.add_mutually_exclusive_group(required=True)
    surface.add_argument(
        "--driver", type=Path, metavar="PATH", help="export the functions of this driver library"
    )
    surface.add_argument(
        "--all-header-functions", action="store_true", help="export the functions of the header"
    )
    shim.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write the files")
    sim = commands.add_parser("sim", parents=[common], help="write the generated part of the CPU driver")
    sim.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write the files")
    commands.add_parser(
        "table", parents=[common, meaning], help="list functions with their kinds, groups and hooks"
    )
    exports = commands.add_parser("exports", help="write a driver's exports and their versions")
    exports.add_argument("--driver", type=Path, metavar="PATH", required=True, help="the driver library")
    exports.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    layouts = commands.add_parser("layouts", help="write the Python modules of the wire formats")
    names = commands.add_parser("names", help="write the names that readers of audit logs use")
    for package in (layouts, names):
        package.add_argument(
            "--out",
            type=Path,
            metavar="FOLDER",
            default=_SOURCE / "benchguard",
            help="the package's folder (default: this clone's)",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
