"""An engine without our library: each thread stores 1 + its number."""

import re
import sys
from pathlib import Path

BODY = """
    .reg .b64 %nb_at<2>;
    .reg .b32 %nb_r<5>;
    ld.param.u64 %nb_at0, [nb_map];
    mov.u32 %nb_r0, %ctaid.x;
    mov.u32 %nb_r1, %ntid.x;
    mov.u32 %nb_r2, %tid.x;
    mad.lo.u32 %nb_r3, %nb_r0, %nb_r1, %nb_r2;
    mul.wide.u32 %nb_at1, %nb_r3, 4;
    add.u64 %nb_at0, %nb_at0, %nb_at1;
    add.u32 %nb_r4, %nb_r3, 1;
    st.global.u32 [%nb_at0], %nb_r4;
"""

folder, kernel = Path(sys.argv[1]), sys.argv[2]
text = (folder / "original.ptx").read_text()
head = re.search(r"\.entry\s+" + kernel + r"\s*\(([^)]*)\)", text)
parameters = [each for each in head.group(1).split(",") if each.strip()]
listed = ", ".join([*parameters, ".param .u64 nb_map"])
rest = text[head.end() :]
brace = rest.index("{") + 1
names = re.findall(r"\.(?:const|global)[^;=\[]*\s(\w+)\s*(?:=[^;]*)?;", text[: head.start()])
extern = "".join(f".visible .global .align 8 .u64 {name}_at;\n" for name in names)
body = rest[:brace] + BODY + rest[brace:]
for name in names:
    body = body.replace(
        f"ld.const.u32 %r6, [{name}]", f"ld.global.u64 %rd2, [{name}_at];\n ld.global.u32 %r6, [%rd2]"
    )
    body = body.replace(f"%r8, [{name}]", "%r8, [%rd2]").replace(
        "atom.global", f"ld.global.u64 %rd2, [{name}_at];\n atom.global" if name == "total" else "atom.global"
    )
version = text.index(".address_size 64") + len(".address_size 64")
start = text[version : head.start()] + f".entry {kernel}({listed})"
(folder / "probed.bin").write_text(text[:version] + "\n" + extern + start + body)
lines = [kernel, str(len(parameters)), "1", "0,4", *(f"address {name}_at {name}" for name in names)]
(folder / "kernel.info").write_text("\n".join(lines) + "\n")
