"""The structs of benchguard.capture.layout are those of hook/core/wire/capture_format.h, field for field."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchguard.capture import codec, layout
from tests.conftest import ROOT

HOOK = ROOT / "hook"

CONSTANTS = {
    "NB_CAPTURE_VERSION": layout.VERSION,
    "NB_RAW_CAPTURE_VERSION": layout.RAW_VERSION,
    "NB_RAW_CAPTURE_MAGIC": layout.RAW_CAPTURE_MAGIC,
    "NB_CAPTURE_MAGIC": layout.CAPTURE_MAGIC,
    "NB_CAPTURE_PAGE": layout.PAGE,
    "NB_BLOB_MAX": layout.BLOB_MAX,
    "NB_BLOBS_MAX": layout.BLOBS_MAX,
    "NB_TABLE_MAX": layout.TABLE_MAX,
    "NB_CAPTURE_ARENA": layout.ARENA,
    "NB_NOTHING": layout.NOTHING,
    "NB_STRING_MAX": codec.TEXT_MAX,
    **{f"NB_CAPTURE_{kind.name}": kind for kind in layout.Kind},
    **{f"NB_OPERATION_{kind.name}": kind for kind in layout.OperationKind},
    **{f"NB_OPERATION_{flag.name}": flag for flag in layout.OperationFlag},
    **{f"NB_CAPTURE_ALLOCATED_{flag.name}": flag for flag in layout.AllocationFlag},
    **{f"NB_IMAGE_{kind.name}": kind for kind in layout.ImageFormat},
    **{f"NB_CAPTURE_MODULE_{kind.name}": kind for kind in layout.ModuleKind},
    **{f"NB_CAPTURE_STREAM_{kind.name}": kind for kind in layout.StreamKind},
    **{f"NB_CAPTURE_{role.name}": role for role in layout.Role},
    **{f"NB_CAPTURE_{vendor.name}": vendor for vendor in layout.Vendor},
}
LAYOUTS = [
    *(layout.RAW_CAPTURE, layout.ELEMENT, layout.CAPTURE, layout.BLOB, layout.SECTION),
    *(layout.PARAMETER, layout.ATTRIBUTE, layout.OPTION, layout.SETTING),
    *layout.ELEMENTS.values(),
    *layout.OPERATIONS.values(),
]


def expected() -> dict[str, int]:
    """C expression -> value."""
    by_name = {name: int(value) for name, value in CONSTANTS.items()}
    for struct in LAYOUTS:
        name = f"struct nb_{struct.name}"
        by_name[f"sizeof({name})"] = struct.size
        for field in struct.fields:
            if not field.name or field.bytes == 24:
                continue  # the rest of a union; three fields that an upload does not use
            by_name[f"offsetof({name}, {field.name})"] = struct.offsets[field.name]
            by_name[f"sizeof((({name} *)0)->{field.name})"] = field.bytes
    return by_name


def test_layout_offsets_match_the_header(tmp_path: Path) -> None:
    numbers = expected()
    lines = "".join(f'    printf("%llu\\n", (unsigned long long)({text}));\n' for text in numbers)
    included = ("stddef.h", "stdio.h", "core/wire/capture_format.h", "core/wire/record.h")
    headers = "".join(f"#include <{name}>\n" for name in included)
    source = tmp_path / "print_layout.c"
    source.write_text(f"{headers}int main(void)\n{{\n{lines}    return 0;\n}}\n")
    program = tmp_path / "print_layout"
    subprocess.run(["cc", f"-I{HOOK}", str(source), "-o", str(program)], check=True)
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert dict(zip(numbers, map(int, out.split()), strict=True)) == numbers


def test_layouts_have_no_undeclared_padding() -> None:
    for struct in LAYOUTS:
        at = 0
        for field in struct.fields:
            assert struct.offsets[field.name] == at, (struct.name, field.name)
            at += field.bytes
        assert at == struct.size


def test_layout_fields_are_in_the_model() -> None:
    models = [*codec.MODELS.items()]
    models += [(layout.OPERATIONS[kind], result) for kind, result in codec.OPERATION_MODELS.items()]
    models += [(each, codec.PARTS[each.name]) for each in LAYOUTS if each.name in codec.PARTS]
    assert (
        len(models) == 17 - 1 - 1 + 10 + 4
    )  # one layout for both kinds of runs, operations by their own kind
    for struct, result in models:
        words = {field.attribute for field in struct.fields if not field.reserved}
        if struct in layout.OPERATIONS.values():
            words.remove("kind")
        assert set(result.__struct_fields__) == words, result
