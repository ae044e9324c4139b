"""The addresses that each block loads from global memory, in a map of counted size. Option `bytes`: of an entry."""

from benchguard.probe.counted import new_entry
from benchguard.probe.engine import Map, Probed, Request, Unit, finish, main


def build(request: Request) -> Probed:
    request.allow_options("bytes")
    size = int(request.options.get("bytes", "8"))
    rewrite = request.rewrite()
    pointer = rewrite.add_pointer()
    for function in rewrite.functions:
        number = rewrite.new_register(function, ".u32")
        block = rewrite.new_register(function, ".u64")
        rewrite.at_entry(function, f"mov.u32 {number}, %ctaid.x; cvt.u64.u32 {block}, {number};")
        for one in function.instructions:
            if one.opcode == "ld" and one.space == "global":
                entry = new_entry(rewrite, function, pointer.register(function), block, size)
                compute, loaded = rewrite.effective_address(function, one)
                store = f"@{entry.fits} st.global.u64 [{entry.address}], {loaded};"
                rewrite.before(function, one, f"{compute} {entry.snippet} {store}")
    return finish(rewrite, [Map(Unit.BLOCK, size, is_counted=True)])


if __name__ == "__main__":
    raise SystemExit(main(build))
