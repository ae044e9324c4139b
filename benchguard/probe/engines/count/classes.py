"""The classes that executed instructions are counted in."""

from __future__ import annotations

from benchguard.probe.ptx import Instruction

CLASSES = (
    "integer", "logic", "float", "half", "double", "convert", "move", "compare",
    "load_global", "load_shared", "load_local", "load_const", "load_param", "load_generic",
    "store_global", "store_shared", "store_local", "store_param", "store_generic",
    "atomic", "copy", "texture", "tensor", "warp", "barrier", "branch", "call", "end", "other",
)  # fmt: skip
"""The order of the counters in a trace."""

_BY_OPCODE = {
    **dict.fromkeys(("bra", "brx"), "branch"),
    **dict.fromkeys(("call",), "call"),
    **dict.fromkeys(("ret", "exit", "trap"), "end"),
    **dict.fromkeys(("bar", "barrier", "mbarrier", "membar", "fence", "griddepcontrol"), "barrier"),
    **dict.fromkeys(("atom", "red", "multimem"), "atomic"),
    **dict.fromkeys(("mma", "wmma", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "movmatrix"), "tensor"),
    **dict.fromkeys(("shfl", "vote", "match", "redux", "activemask", "elect"), "warp"),
    **dict.fromkeys(("tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"), "texture"),
    **dict.fromkeys(("cp", "prefetch", "prefetchu", "discard", "applypriority", "createpolicy"), "copy"),
    **dict.fromkeys(("mov", "cvta", "isspacep", "mapa", "getctarank", "alloca", "stacksave", "stackrestore"), "move"),
    **dict.fromkeys(("cvt", "szext"), "convert"),
    **dict.fromkeys(("setp", "set", "selp", "slct", "testp"), "compare"),
    **dict.fromkeys(("and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf", "prmt"), "logic"),
}  # fmt: skip
_ARITHMETIC = frozenset(
    {
        "add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max", "popc", "clz",
        "bfind", "fns", "brev", "bfe", "bfi", "bmsk", "dp4a", "dp2a", "addc", "subc", "madc", "fma", "rcp", "sqrt",
        "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign",
    }
)  # fmt: skip


def class_of(instruction: Instruction) -> str:
    """The class of an instruction: one of `CLASSES`. Arithmetic is classed by its first type, so a multiply of 32 bits
    into 64 is "integer", and `fma.rn.f16x2` is "half"."""
    opcode = instruction.opcode
    if opcode in {"ld", "ldu", "st"}:
        kind = "store" if opcode == "st" else "load"
        name = f"{kind}_{instruction.space or 'generic'}"
        return name if name in CLASSES else "other"
    if opcode in _ARITHMETIC:
        return _arithmetic(instruction)
    return _BY_OPCODE.get(opcode, "other")


def _arithmetic(instruction: Instruction) -> str:
    for modifier in instruction.modifiers:
        if modifier in {".f32", ".f32x2", ".tf32"}:
            return "float"
        if modifier == ".f64":
            return "double"
        if modifier in {".f16", ".f16x2", ".bf16", ".bf16x2"}:
            return "half"
    return "integer"
