/* dlopen and dlmopen as tail jumps.
 *
 * glibc finds the caller's RUNPATH, $ORIGIN and namespace by its return address, so a C wrapper around
 * dlopen breaks programs that rely on them (memray PR 549, VirtualGL issue 266). These functions leave the
 * caller's return address on the stack, ask redirect.c for the file to open, and jump to libc's function. */

#if !defined(__x86_64__)
#error "neutrino-bench's preload library is written for x86-64 only"
#endif

/* name: the hooked function. decide: C function (file, flags, caller) that returns the file in rax and the
 * flags in edx. slot: address of libc's function. file, flags: the registers of these two arguments. */
.macro HOOK name, decide, slot, file, flags, flags32
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        pushq   %rdi                    /* dlmopen's namespace */
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp                /* the stack is 16-aligned at a call */
        .cfi_adjust_cfa_offset 8
        movq    24(%rsp), %rcx          /* the caller */
        movq    \flags, %r8
        movq    \file, %rdi
        movl    %r8d, %esi
        movq    %rcx, %rdx
        call    \decide
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        movl    %edx, \flags32
        movq    %rax, \file
        jmp     *\slot(%rip)
        .cfi_endproc
        .size   \name, . - \name
.endm

        .text
        HOOK dlopen,  redirect_dlopen,  next_dlopen,  %rdi, %rsi, %esi
        HOOK dlmopen, redirect_dlmopen, next_dlmopen, %rsi, %rdx, %edx

        .section .note.GNU-stack, "", @progbits
