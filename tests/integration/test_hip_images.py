"""Code as HIP programs bring it, through the shim: what the log says of each kind of image."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from tests.integration.support import PROGRAMS, Observe
from tests.support.code_objects import code_object, compressed, sim_bundle

PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry store(.param .u8 small, .param .u64 out, .param .align 8 .b8 large[24], .param .u32 value)
{
    .reg .u64 %rd<3>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


@pytest.mark.parametrize("api", ["hip"], indirect=True)
def test_kernel_parameters_are_read_from_every_kind_of_image(observe: Observe, tmp_path: Path) -> None:
    """HIP has no call that tells a kernel's parameters: they are read from the image, whatever it came in."""
    bundle = sim_bundle(PTX)
    images = {
        "ptx": PTX.encode() + b"\0",
        "code_object": code_object(PTX),
        "offload_bundle": bundle,
        "compressed_bundle": compressed(bundle, "zstd", 2),
        "zlib": compressed(bundle, "zlib", 3),
    }
    paths = []
    for name, image in images.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(image)
    result = observe([sys.executable, PROGRAMS / "hip_images.py", *paths], timeout=240)  # may build the shim
    assert result.status == 0, result.stderr
    assert result.launches == result.driver_launches
    items = [(line["format"], line["bytes"], line["sha256"]) for line in result.of_kind("image")]
    assert items == [
        ("compressed_bundle" if name == "zlib" else name, len(image), hashlib.sha256(image).hexdigest())
        for name, image in images.items()
    ]
    kernels = result.of_kind("kernel")
    assert [line["image"] for line in kernels] == [sha256 for _, _, sha256 in items]
    for line in kernels:
        assert line["layout"] == [[0, 1], [8, 8], [16, 24], [40, 4]] and line["layout_source"] == "image"
    assert [line["parameters"][3] for line in result.of_kind("launch")] == [
        number.to_bytes(4, "little").hex() for number in range(1, 6)
    ]
