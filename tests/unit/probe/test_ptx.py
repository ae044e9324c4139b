"""PTX as structure: untouched text stays, edits land at their places, hostile text is refused."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from benchguard.probe import ptx
from benchguard.probe.ptx.lexer import TEXT_LIMIT

ROOT = Path(__file__).parents[3]
HEADER = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
MODULE = (
    HEADER
    + """
.const .align 4 .b8 table[16] = {1, 2};
.global .align 8 .u64 cell[2] = {generic(table), 7}; /* } in a comment { */
.global .u64 operation = helper;
.extern .shared .align 16 .b8 scratch[];
.func (.param .b32 result) helper(.param .b32 value) { ret; }
.func leaf() { .reg .pred %p; @%p exit; ret; }
.visible .entry foo_bar(.param .u64 a) .maxntid 128, 1, 1 .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry foo .pragma "nounroll"; .minnctapersm 2
{
    .reg .pred %p<3>; .reg .b64 %rd<5>; .reg .b32 %r<4>;
    .loc 1 17 3
    mov.u64 %rd1, cell+8;
    mov.u64 %rd2, table;
    cvta.const.u64 %rd3, %rd2; // cvta.const.u64 %rd9, table;
    ld.const.v2.u32 {%r1, %r2}, [table+8];
    .loc 1 18 5, function_name $L__info_string0, inlined_at 1 16 3
$again:
    @!%p1 ld.global.u32 %r3, [%rd1+-4];
    @%p2 bra $again;
    { .reg .b32 cell; mov.b32 cell, 1; }
    call leaf;
    @%p1 exit;
}
.section .debug_str { $L__info_string0: .b8 102, 0 }
"""
)


def instruction(function: ptx.Function, name: str) -> ptx.Instruction:
    return next(one for one in function.instructions if one.name == name)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_instruction_fields_equal_its_text() -> None:
    kernel = ptx.parse(MODULE).entry("foo")
    load = instruction(kernel, "ld.global.u32")
    assert (load.guard, load.negated, load.space, load.access_bytes) == ("%p1", True, "global", 4)
    assert load.address is not None and (load.address.base, load.address.offset) == ("%rd1", -4)
    assert load.source == (1, 16)  # the place of the call
    assert instruction(kernel, "ld.const.v2.u32").access_bytes == 8
    assert load.scope.type_of("%rd4") == ".b64"


def test_backslash_in_a_string_is_a_character_as_to_ptxas() -> None:
    text = MODULE.replace("@%p1 exit;", '.pragma "\\"; st.global.u32 [%rd2], %r3; .pragma "\\"; // "')
    assert instruction(ptx.parse(text).entry("foo"), "st.global.u32").access_bytes == 4


def test_kernel_name_that_begins_another_selects_only_its_own_kernel() -> None:
    text = ptx.Rewrite(ptx.parse(MODULE), "foo").text()
    assert "foo_bar" not in text and ".entry foo " in text
    with pytest.raises(ptx.PtxError, match="no kernel 'fo'"):
        ptx.Rewrite(ptx.parse(MODULE), "fo")


@pytest.mark.parametrize("name", ["spaces_90g", "calls_75_80_90", "copies_80_90", "tensor_75"])
def test_rewrite_without_edits_keeps_every_byte_of_the_kernel(name: str) -> None:
    module = ptx.parse((ROOT / f"tests/corpus/ptx/{name}.ptx").read_text())
    for kernel in module.entries():
        text = ptx.Rewrite(module, kernel.name).text()
        assert module.text[slice(*kernel.span)] in text
        assert text.startswith(module.text[: module.target_span[0]])


@pytest.mark.parametrize(
    "header", [".entry zero", ".entry zero()", ".entry zero( // none\n )", ".entry zero(.param .u32 x)"]
)
def test_added_parameter_needs_no_other_parameter(header: str) -> None:
    rewrite = ptx.Rewrite(ptx.parse(HEADER + header + "{ ret; }"), "zero")
    register = rewrite.add_pointer().register(rewrite.kernel)
    again = ptx.parse(rewrite.text()).entry("zero")
    assert len(again.parameters) == (2 if "x" in header else 1)
    assert again.instructions[0].operands[0].text == register


def test_new_names_clash_with_no_name_of_the_module() -> None:
    text = HEADER + ".entry k { .reg .u32 %nb_r<9>, $nb1_L1; nb2_x: ret; }"
    rewrite = ptx.Rewrite(ptx.parse(text), "k")
    names = {rewrite.new_register(rewrite.kernel, ".u32"), rewrite.new_label(), rewrite.new_name("x")}
    assert all(name.lstrip("%$").startswith("nb3_") for name in names)


def test_thread_end_snippet_precedes_each_end_under_its_guard() -> None:
    rewrite = ptx.Rewrite(ptx.parse(MODULE), "foo")
    pointer = rewrite.add_pointer()
    for function in rewrite.functions:
        rewrite.at_thread_end(function, f"red.global.add.u64 [{pointer.register(function)}], 1;")
    text = rewrite.text()
    assert [one.name for one in rewrite.functions] == ["foo", "leaf"]
    assert len(re.findall(r"@%p red.global.add.u64 \S+ 1;\n@%p exit;", text)) == 1
    assert len(re.findall(r"@%p1 red.global.add.u64 \S+ 1;\n@%p1 exit;", text)) == 1
    assert len(re.findall(r"\n\s*red.global.add.u64 \S+ 1;\s*}", text)) == 1  # the last brace of the kernel
    assert re.search(r"st.param.b64 \[(\S+)], %\S+;\ncall leaf, \(\1\); }", text)
    assert re.search(r"\.func leaf\(\.param \.u64 \S+\)", text)


def test_snippet_after_an_instruction_that_changes_its_guard_uses_the_old_guard() -> None:
    text = HEADER + ".entry k { .reg .pred %p; @%p setp.eq.u32 %p, 1, 2; ret; }"
    rewrite = ptx.Rewrite(ptx.parse(text), "k")
    rewrite.after(rewrite.kernel, rewrite.kernel.instructions[0], "membar.gl;")
    assert re.search(r"mov.pred (%\S+), %p;\n@%p setp.eq.u32 %p, 1, 2;\n@\1 membar.gl;", rewrite.text())


def test_functions_without_the_pointer_are_named_with_the_reason() -> None:
    text = HEADER + (
        ".func used() { ret; } .func taken() { call used; ret; } .extern .func outside();"
        ".entry k { .reg .b64 %rd; mov.u64 %rd, taken; call %rd, (), p; call outside; ret; }"
    )
    rewrite = ptx.Rewrite(ptx.parse(text), "k")
    assert [one.name for one in rewrite.functions] == ["k"]
    assert "its address is taken" in rewrite.unprobed["taken"]
    assert rewrite.unprobed["used"].startswith("taken, which cannot be probed")
    assert "no body" in rewrite.unprobed["outside"]
    assert any("register" in reason for reason in rewrite.unprobed.values())


def test_shared_variables_are_reached_through_addresses_of_the_original() -> None:
    rewrite = ptx.Rewrite(ptx.parse(MODULE), "foo")
    addresses = rewrite.share_globals()
    text = rewrite.text()
    assert {variable for _, variable in addresses} == {"cell", "table"}
    for symbol, _ in addresses:
        assert f".visible .global .align 8 .u64 {symbol};" in text
    assert "mov.b32 cell, 1;" in text  # a register of this name, in a scope of its own
    assert "operation" not in text  # a variable that the kernel does not use
    assert "ld.global.v2.u32 {%r1, %r2}, [%nb_" in text
    assert re.search(r"mov\.u64 %rd3, %rd2;", text)
    assert re.search(r"add\.s64 (%\S+), %\S+, 8;\nmov\.u64 %rd1, \1;", text)
    ptx.parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".global .texref t; .entry k { tex.1d.v4.s32.s32 {a,b,c,d}, [t, {x}]; }", "texture objects"),
        (".extern .global .u32 e; .entry k { ld.global.u32 r, [e]; }", "defined in another module"),
        (".const .u32 c; .entry k { ld.const.u32 r, [c]; isspacep.const p, r; }", "in constant memory"),
    ],
)
def test_variable_that_cannot_be_shared_is_refused_with_the_reason(text: str, reason: str) -> None:
    rewrite = ptx.Rewrite(ptx.parse(HEADER + text), "k")
    with pytest.raises(ptx.PtxError, match=reason):
        rewrite.share_globals()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".entry k {", "the text ends inside k"),
        (".entry k { ld.u32 a, [b }", "brackets|semicolon"),
        (".entry k { add.u32 a,,b; }", "operand is missing"),
        ("/* never closed", "has no end"),
        (".global .u32 x = {1, {2;", "not closed"),
        (".entry k " + "{" * 300, "nest deeper"),
        ("\x01", "not valid in PTX"),
        (".file 99999999999999999999999 ", "expected|stands"),
        (".address_size " + "9" * 5000, "not an integer"),
    ],
)
def test_broken_text_is_refused_in_one_line(text: str, reason: str) -> None:
    with pytest.raises(ptx.PtxError, match=reason) as refused:
        ptx.parse(HEADER + text)
    assert len(str(refused.value).splitlines()) == 1 and len(str(refused.value)) < 300


def test_text_above_the_limit_is_refused_unread() -> None:
    with pytest.raises(ptx.PtxError, match="more than the limit"):
        ptx.parse(" " * (TEXT_LIMIT + 1))


def probe_all(text: str) -> None:
    module = ptx.parse(text)
    for kernel in list(module.entries())[:2]:
        rewrite = ptx.Rewrite(module, kernel.name)
        pointer = rewrite.add_pointer()
        for function in rewrite.functions:
            rewrite.at_function_end(function, f"red.global.add.u64 [{pointer.register(function)}], 1;")
            for one in function.instructions[:20]:
                if one.address is not None:
                    rewrite.before(function, one, rewrite.effective_address(function, one)[0])
        rewrite.share_globals()
        rewrite.text()


@pytest.mark.parametrize(
    "declaration", [".shared .u32 word", ".shared .align 4 .f32 word", ".shared .b8 word[8]"]
)
def test_address_of_a_variable_of_the_function_is_no_register(declaration: str) -> None:
    """nvcc declares shared variables in the kernel. `cvt` takes registers only; ptxas refuses variables there."""
    body = f".reg .b32 %a; {declaration}; ld.shared.u32 %a, [word]; ld.shared.u32 %a, [%a];"
    rewrite = ptx.Rewrite(ptx.parse(f"{HEADER}.visible .entry k() {{ {body} }}"), "k")
    snippets = [rewrite.effective_address(rewrite.kernel, one) for one in rewrite.kernel.instructions]
    assert [snippet for snippet, _ in snippets] == [
        f"mov.u64 {snippets[0][1]}, word;",
        f"cvt.u64.u32 {snippets[1][1]}, %a;",
    ]


@pytest.mark.parametrize(
    "count", [pytest.param(400, id="short"), pytest.param(20_000, id="long", marks=pytest.mark.full)]
)
def test_mutated_text_raises_no_other_error(count: int) -> None:
    chance = random.Random(17)
    pieces = re.findall(r"\w+|\s+|[^\w\s]", MODULE)
    for _ in range(count):
        mutated = list(pieces)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(mutated))
            match chance.randrange(4):
                case 0:
                    del mutated[at]
                case 1:
                    mutated.insert(at, chance.choice(pieces))
                case 2:
                    mutated[at] = chance.choice("{}()[];:,.@!<>=\"'\\\0%$0x_é")
                case _:
                    mutated[at : at + 5] = mutated[at : at + 5] * 3
        try:
            probe_all("".join(mutated))
        except ptx.PtxError as error:
            assert str(error)
