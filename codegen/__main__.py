"""The generator's command line: python -m benchguard.codegen."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .emit import emit_shim
from .emit.sim import emit_sim
from .errors import CodegenError
from .exports import read_exports
from .generate import generic_surface, shim_surface, write_files
from .headers import Headers, find_headers, headers_in, newest_headers
from .parse import parse_headers
from .semantics import load_semantics
from .vendor import CUDA

_DESCRIPTION = """\
Generate C from cuda.h and cudaTypedefs.h.

  shim   the sources of a shim driver: one tail jump or typed wrapper for every export
  sim    the CPU driver's stubs and its cuGetProcAddress table
  table  what the shim does with each function of the header

The headers are those of the CUDA toolkit, else of the wheel nvidia-cuda-runtime; sim and
--all-header-functions take the newer of the two. --include names others.
"""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        headers = headers_in(options.include) if options.include else _default_headers(options)
        {"shim": _shim, "sim": _sim, "table": _table}[options.command](options, headers)
    except CodegenError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1
    return 0


def _default_headers(options: argparse.Namespace) -> Headers:
    """What stands for every driver at once is made from the newest header there is."""
    every = options.command == "sim" or getattr(options, "all_header_functions", False)
    return newest_headers() if every else find_headers()


def _shim(options: argparse.Namespace, headers: Headers) -> None:
    if options.driver:
        surface = shim_surface(headers, read_exports(options.driver), options.semantics)
    else:
        surface = generic_surface(headers, options.semantics)
    write_files(emit_shim(surface), options.out)
    kinds = [export.kind for export in surface.exports]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("recorded", "pass", "untyped"))
    print(f"{options.out}: {len(kinds)} exports ({counts}) from {headers.origin}")


def _sim(options: argparse.Namespace, headers: Headers) -> None:
    api = parse_headers(headers)
    write_files(emit_sim(api), options.out)
    counts = f"{len(api.functions)} stubs, {len(api.entry_points)} entry points"
    print(f"{options.out}: {counts} from {headers.origin}")


def _table(options: argparse.Namespace, headers: Headers) -> None:
    api = parse_headers(headers)
    recordings = load_semantics(options.semantics, api)
    written = {symbol: name for name, symbol in api.source_names.items() if name != symbol}
    for function in api.functions:
        recording = recordings.get(function.name)
        group = recording.group if recording else None
        kind = "recorded" if group else "pass"
        hook = ", ".join(recording.hooks if recording else ()) or "-"
        source = f"  (written {written[function.name]})" if function.name in written else ""
        print(f"{function.name:48} {kind:9} {group or '-':16} {hook}{source}".rstrip())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchguard.codegen",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--include", type=Path, metavar="FOLDER", help="take cuda.h and cudaTypedefs.h from here"
    )
    meaning = argparse.ArgumentParser(add_help=False)
    meaning.add_argument(
        "--semantics",
        type=Path,
        default=CUDA.semantics,
        metavar="FILE",
        help="what is recorded (default: semantics/cuda.toml)",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="shim|sim|table")
    shim = commands.add_parser("shim", parents=[common, meaning], help="the sources of a shim driver")
    surface = shim.add_mutually_exclusive_group(required=True)
    surface.add_argument(
        "--driver", type=Path, metavar="PATH", help="export what this driver library exports"
    )
    surface.add_argument(
        "--all-header-functions", action="store_true", help="export what the header declares"
    )
    shim.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write the files")
    sim = commands.add_parser("sim", parents=[common], help="the generated part of the CPU driver")
    sim.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write the files")
    commands.add_parser("table", parents=[common, meaning], help="functions, kinds, groups and hooks")
    return parser


if __name__ == "__main__":
    sys.exit(main())
