"""Code images for `inspect`: the tree of libraries, images and kernels, and the code of one kernel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from ..audit.demangle import Demangler
from ..audit.kernel_name import display_name, plain_name
from ..errors import BenchguardError, UsageError
from ..images.image import Code, read_image
from ..images.kernels import Kernel, ptx_of
from ..images.source import FoundImage, Images, LoggedKernel, codes_in
from ..units import size_text
from .output import notify, print_document
from .table import console_for, print_lines

KERNELS_MAX = 20
SHORT = 12
SUFFIXES = {"ptx": ".ptx", "cubin": ".cubin", "lto_ir": ".ltoir", "code_object": ".hsaco"}


def render(images: Images, output: TextIO, every: bool) -> None:
    """Print the tree: all kernels if `every`, else the first KERNELS_MAX of each entry."""
    with closing(Demangler()) as demangler:
        print_lines(console_for(output), list(_tree(images, demangler, every)))


def _tree(images: Images, demangler: Demangler, every: bool) -> Iterator[str]:
    for library in images.libraries:
        if library.path:
            yield library.path
        indent = "  " if library.path else ""
        for image in library.images:
            loads = f", {image.loads} loads" if image.loads > 1 else ""
            digest = image.sha256[:SHORT] if image.sha256 else "(not stored)"
            yield f"{indent}image {digest}: {_words(image.format)}, {size_text(image.bytes)}{loads}"
            if image.note:
                yield f"{indent}  note: {image.note}"
            yield from (f"{indent}  {line}" for line in _image(image, demangler, every))


def _image(image: FoundImage, demangler: Demangler, every: bool) -> Iterator[str]:
    logged = {each.kernel.name: each for each in image.kernels}
    if image.code is None:
        yield from _kernels([each.kernel for each in image.kernels], logged, demangler, every)
        return
    if image.code.problem:
        yield image.code.problem
    for code in image.code.codes:
        yield _code(code)
        if code.problem:
            yield f"  {code.problem}"
        yield from (f"  {line}" for line in _kernels(code.kernels, logged, demangler, every))


def _code(code: Code) -> str:
    size = size_text(code.raw_bytes) if code.raw_bytes else ""
    packed = f"{code.compression}, {size_text(code.stored_bytes)} of {size}" if code.compression else size
    count = f"{len(code.kernels)} kernels" if len(code.kernels) != 1 else "1 kernel"
    return ", ".join(
        filter(None, (f"{_words(code.format)} for {code.target or 'an unknown target'}", packed, count))
    )


def _kernels(
    kernels: Sequence[Kernel], logged: dict[str, LoggedKernel], demangler: Demangler, every: bool
) -> Iterator[str]:
    shown = kernels if every else kernels[:KERNELS_MAX]
    for kernel in shown:
        name = display_name(demangler.demangle(kernel.name) or kernel.name)
        yield f"{name}: {', '.join(_facts(kernel, logged.get(kernel.name)))}"
    if len(shown) < len(kernels):
        yield f"... {len(kernels) - len(shown)} more kernels; --all-kernels lists them"


def _facts(kernel: Kernel, logged: LoggedKernel | None) -> Iterator[str]:
    """Facts of the code; a log adds launches, and the registers and local bytes that PTX does not have."""
    if logged is not None:
        kernel = replace(
            kernel,
            registers=logged.kernel.registers if kernel.registers is None else kernel.registers,
            local_bytes=logged.kernel.local_bytes if kernel.local_bytes is None else kernel.local_bytes,
        )
        yield f"{logged.launches} launches" if logged.launches != 1 else "1 launch"
    if kernel.registers is not None:
        yield f"{kernel.registers} registers"
    if kernel.shared_bytes is not None:
        yield f"{kernel.shared_bytes} B shared"
    if kernel.local_bytes is not None:
        yield f"{kernel.local_bytes} B local"
    if kernel.max_threads is not None:
        yield f"at most {kernel.max_threads} threads"
    if kernel.parameters is None:
        yield "parameters unknown"
    else:
        sizes = " ".join(str(size) for _, size in kernel.parameters)
        yield f"parameters of {sizes} B" if sizes else "no parameters"


def _words(text: str) -> str:
    return text.replace("_", " ")


def print_ptx(images: Iterable[bytes], wanted: str) -> None:
    """Print the PTX of a kernel. Raises UsageError if no image has it."""
    names: list[str] = []
    for image in images:
        for kind, _, raw in codes_in(image):
            if kind == "ptx":
                text = raw.decode("utf-8", "replace").rstrip("\0")
                kernels = read_image(raw).codes[0].kernels
                names += [kernel.name for kernel in kernels]
                found = _named(kernels, wanted)
                if found is not None and (code := ptx_of(text, found.name)) is not None:
                    print_document(code)
                    return
    raise UsageError(_absent("PTX", wanted, names))


def print_sass(images: Iterable[bytes], wanted: str) -> None:
    """Print the machine code of a kernel, by nvdisasm in a sandbox, for the first target that has it.

    Raises UsageError if no image has the kernel or nvdisasm is not installed; BenchguardError if it fails.
    """
    from ..images.disassemble import disassemble

    names: list[str] = []
    for image in images:
        for kind, _, raw in codes_in(image):
            if kind == "cubin":
                kernels = read_image(raw).codes[0].kernels
                names += [kernel.name for kernel in kernels]
                found = _named(kernels, wanted)
                if found is not None and found.symbol is not None:
                    result = disassemble(raw, found.symbol)
                    if result.sandbox:
                        notify(f"sandbox of nvdisasm: partial ({result.sandbox})")
                    print_document(result.text)
                    return
    raise UsageError(_absent("machine code", wanted, names))


def _named(kernels: Sequence[Kernel], wanted: str) -> Kernel | None:
    exact = next((each for each in kernels if each.name == wanted), None)
    if exact is not None:
        return exact
    with closing(Demangler()) as demangler:
        for each in kernels:
            full = demangler.demangle(each.name)
            shown = display_name(full) if full is not None else ""
            if full is not None and wanted in (full, shown, shown.split("(")[0], plain_name(each.name)):
                return each
    return None


def _absent(what: str, wanted: str, names: list[str]) -> str:
    some = ", ".join(dict.fromkeys(names[:8]))
    return f"no image has {what} of a kernel {wanted!r}; " + (
        f"there are: {some}" if some else f"no image has {what}"
    )


def write_codes(images: Iterable[bytes], folder: Path) -> int:
    """Write the entries of all images, unpacked and named by image, place and target. Returns their number."""
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for image in images:
            digest = hashlib.sha256(image).hexdigest()[:SHORT]
            for place, (kind, target, raw) in enumerate(codes_in(image)):
                name = f"{digest}-{place}-{_safe(target)}{SUFFIXES.get(kind, '.image')}"
                (folder / name).write_bytes(raw)
                written += 1
    except OSError as error:
        raise BenchguardError(
            f"cannot write images to {folder}: {error.strerror}; free some space or name another folder"
        ) from error
    return written


def _safe(target: str) -> str:
    return (
        "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in target[:64])
        or "any"
    )
