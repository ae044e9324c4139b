"""AMD's own compiler, on a machine without a GPU: hiprtc of Debian's libamdhip64, in a process of its own.

    python amd_compiler.py LIBRARY SOURCE OUTPUT OPTION...

It needs no device if the architecture is given.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(sys.prefix) / "hip" / "usr" / "lib" / "x86_64-linux-gnu"
LIBRARY = FOLDER / "libamdhip64.so.5"


def compile_for_amd(source: Path, output: Path, *options: str) -> bytes:
    """Compile to a code object. Skips the test without this compiler; fails it if the source does not compile."""
    if not LIBRARY.is_file():
        pytest.skip(f"{LIBRARY} is missing; `python build.py test --all` fetches Debian's")
    result = subprocess.run(
        [sys.executable, __file__, str(LIBRARY), str(source), str(output), *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"LD_LIBRARY_PATH": str(FOLDER), "HOME": "/nowhere"},
    )
    if result.returncode == NO_COMPILER:
        pytest.skip(f"AMD's compiler does not load here: {result.stderr.strip()}; apt-get install libllvm15")
    assert result.returncode == 0, result.stderr
    return output.read_bytes()


NO_COMPILER, NO_CODE = 3, 4


def _compile(library: ctypes.CDLL, source: bytes, options: list[bytes]) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.hiprtcCreateProgram(ctypes.byref(program), source, b"kernels.hip", 0, None, None) == 0
    words = (ctypes.c_char_p * len(options))(*options)
    if library.hiprtcCompileProgram(program, len(options), words) != 0:
        assert library.hiprtcGetProgramLogSize(program, ctypes.byref(size)) == 0
        log = ctypes.create_string_buffer(size.value + 1)
        assert library.hiprtcGetProgramLog(program, log) == 0
        sys.stderr.write(log.value.decode(errors="replace"))
        raise SystemExit(NO_CODE)
    assert library.hiprtcGetCodeSize(program, ctypes.byref(size)) == 0
    code = ctypes.create_string_buffer(size.value)
    assert library.hiprtcGetCode(program, code) == 0
    return code.raw


def main() -> None:
    path, source, output, *options = sys.argv[1:]
    try:
        ctypes.CDLL(
            str(Path(path).with_name("libamd_comgr.so.2"))
        )  # opened late by the library, which then aborts
        library = ctypes.CDLL(path)
    except OSError as error:
        sys.stderr.write(str(error))
        raise SystemExit(NO_COMPILER) from error
    Path(output).write_bytes(
        _compile(library, Path(source).read_bytes(), [word.encode() for word in options])
    )


if __name__ == "__main__":
    main()
