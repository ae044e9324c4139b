"""surface.S: the tail jumps, the resolving stubs and the slots."""

from __future__ import annotations

from ..surface import Surface
from .text import banner

_HEAD = """\
#if !defined(__x86_64__) || defined(__ILP32__)
#error "the shim is for x86-64 Linux only: build it there"
#endif

/* An export that is only passed through. Its jump leads to the driver's function; return address, stack and
 * every register are the caller's, so the driver cannot tell that we are here. If a rule of the policy mentions
 * the export, its jump leads to its guard. */
.macro nb_pass name, slot
    .text
    .balign 16
    .globl \\name
    .type \\name, @function
\\name:
    .cfi_startproc
    endbr64
    jmp *nb_jumps + 8 * \\slot(%rip)
    .cfi_endproc
    .size \\name, . - \\name
    .balign 16
    .type nb_guard_\\name, @function
nb_guard_\\name:
    .cfi_startproc
    endbr64
    movl $\\slot, %r11d
    jmp nb_guard_entry
    .cfi_endproc
    .size nb_guard_\\name, . - nb_guard_\\name
.endm

/* A slot, and the stub that it starts at: %r11 is the one register that carries neither an argument nor
 * anything of the caller's. */
.macro nb_slot name, slot
    .text
    .balign 16
    .type nb_first_\\name, @function
nb_first_\\name:
    .cfi_startproc
    endbr64
    movl $\\slot, %r11d
    jmp nb_resolve_entry
    .cfi_endproc
    .size nb_first_\\name, . - nb_first_\\name
    .data
    .quad nb_first_\\name
.endm

/* Both entries come before a call, and keep all registers that may carry an argument; %rax holds the number of
 * vector registers of a variadic call. */
.macro nb_keep
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $208, %rsp
    andq $-16, %rsp
    movaps %xmm0, (%rsp)
    movaps %xmm1, 16(%rsp)
    movaps %xmm2, 32(%rsp)
    movaps %xmm3, 48(%rsp)
    movaps %xmm4, 64(%rsp)
    movaps %xmm5, 80(%rsp)
    movaps %xmm6, 96(%rsp)
    movaps %xmm7, 112(%rsp)
    movq %rdi, 128(%rsp)
    movq %rsi, 136(%rsp)
    movq %rdx, 144(%rsp)
    movq %rcx, 152(%rsp)
    movq %r8, 160(%rsp)
    movq %r9, 168(%rsp)
    movq %rax, 176(%rsp)
    movq %r10, 184(%rsp)
    movq %r11, 192(%rsp)
.endm

/* Takes back what nb_keep kept, except for %r11, and jumps to the slot's function in `table`. */
.macro nb_go_on table
    movq 192(%rsp), %r11
    leaq \\table(%rip), %rax
    movq (%rax, %r11, 8), %r11
    movq 184(%rsp), %r10
    movq 176(%rsp), %rax
    movq 168(%rsp), %r9
    movq 160(%rsp), %r8
    movq 152(%rsp), %rcx
    movq 144(%rsp), %rdx
    movq 136(%rsp), %rsi
    movq 128(%rsp), %rdi
    movaps 112(%rsp), %xmm7
    movaps 96(%rsp), %xmm6
    movaps 80(%rsp), %xmm5
    movaps 64(%rsp), %xmm4
    movaps 48(%rsp), %xmm3
    movaps 32(%rsp), %xmm2
    movaps 16(%rsp), %xmm1
    movaps (%rsp), %xmm0
    .cfi_remember_state
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmp *%r11
    .cfi_restore_state
.endm

/* The first call of any export: find the session, open the driver, then do what the caller asked for. */
    .text
    .balign 16
    .type nb_resolve_entry, @function
nb_resolve_entry:
    .cfi_startproc
    nb_keep
    call nb_resolve_all
    nb_go_on nb_jumps
    .cfi_endproc
    .size nb_resolve_entry, . - nb_resolve_entry

/* A call that a rule of the policy mentions: return the rule's code, or go on to the driver. */
    .balign 16
    .type nb_guard_entry, @function
nb_guard_entry:
    .cfi_startproc
    nb_keep
    movl %r11d, %edi
    movq 8(%rbp), %rsi
    call nb_policy_check_passed
    testl %eax, %eax
    jne 1f
    nb_go_on nb_slots
1:  leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size nb_guard_entry, . - nb_guard_entry
"""

_SLOTS = """
    .data
    .balign 8
    .globl nb_slots
    .hidden nb_slots
    .type nb_slots, @object
nb_slots:
{slots}
    .data
    .quad nb_absent
{translated}    .size nb_slots, . - nb_slots

/* Where the jump of a passed-through export leads. */
    .globl nb_jumps
    .hidden nb_jumps
    .type nb_jumps, @object
nb_jumps:
{jumps}    .size nb_jumps, . - nb_jumps

/* The guard of each passed-through export; 0 for the others. */
    .globl nb_guards
    .hidden nb_guards
    .type nb_guards, @object
nb_guards:
{guards}    .size nb_guards, . - nb_guards

/* Not 0 if the calls of an export must be decided. */
    .globl nb_guarded
    .hidden nb_guarded
    .type nb_guarded, @object
nb_guarded:
    .fill {count}, 1, 1
    .size nb_guarded, . - nb_guarded
"""

_TAIL = """
/* Tells a shim from a driver, for whoever looks for the real one. */
    .section .note.neutrino, "a", @note
    .balign 4
    .long 9, 0, 1
    .asciz "neutrino"
    .balign 4

    .section .note.GNU-stack, "", @progbits
"""


def emit(surface: Surface) -> str:
    slots = "\n".join(f"nb_slot {export.name}, {export.slot}" for export in surface.exports)
    jumps = "".join(
        f"nb_pass {export.name}, {export.slot}\n" for export in surface.exports if export.interception is None
    )
    # Behind the driver's: what hook/ says in the driver's functions. Never resolved, since never a stub.
    functions = surface.translation.functions if surface.translation else ()
    tables = _SLOTS.format(
        slots=slots,
        translated="".join(f"    .quad {function.name}\n" for function in functions),
        jumps="".join(f"    .quad nb_first_{export.name}\n" for export in surface.exports),
        guards="".join(
            f"    .quad {f'nb_guard_{export.name}' if export.interception is None else 0}\n"
            for export in surface.exports
        ),
        count=len(surface.exports),
    )
    text = banner("surface_s", surface.api) + _HEAD + tables
    return text + (f"\n{jumps}" if jumps else "") + _TAIL
