/* The only code that opens the arena.
 *
 * A submission with machine code can jump to any instruction of this library. So no path returns to a caller
 * with the arena open: after each of the two system calls that open it, straight-line code checks the state,
 * and continues on the arena's stack; control leaves that code only behind a call that closes the arena. The
 * filter (filter.c) lets only these two instructions open it. Signals are blocked meanwhile: a handler would
 * run with the arena open, and a fault must end the process instead of being handled. Another thread can read
 * the arena while it is open; that is the limit of this protection (docs/threat-model.md). */
#include "inline/arena.h"

#if !defined(__x86_64__)
#error "the gate is written for x86-64 only"
#endif

#define SYS_MPROTECT     $10
#define SYS_SIGPROCMASK  $14
#define SYS_EXIT_GROUP   $231
#define SIG_SETMASK      $2
#define READ_AND_WRITE   $3
#define NOTHING          $0
#define MASK_BYTES       $8
#define STATUS           $70

        .section .rodata
        .p2align 3
all_signals:
        .quad   -1

        /* mprotect(arena, its size, edx) */
        .macro PROTECT
        movl    SYS_MPROTECT, %eax
        movq    nb_gate+NB_GATE_BASE(%rip), %rdi
        movq    nb_gate+NB_GATE_BYTES(%rip), %rsi
        syscall
        .endm

        .macro BLOCK_SIGNALS old
        movl    SYS_SIGPROCMASK, %eax
        movl    SIG_SETMASK, %edi
        leaq    all_signals(%rip), %rsi
        \old
        movl    MASK_BYTES, %r10d
        syscall
        .endm

        .macro RESTORE_SIGNALS      /* those that nb_gate_enter found, at the end of the outer stack */
        movl    SYS_SIGPROCMASK, %eax
        movl    SIG_SETMASK, %edi
        movq    %rsp, %rsi
        xorl    %edx, %edx
        movl    MASK_BYTES, %r10d
        syscall
        .endm

        .macro FORGET               /* what our code left in registers */
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %r8d, %r8d
        xorl    %r9d, %r9d
        xorl    %r10d, %r10d
        xorl    %r11d, %r11d
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        pxor    %xmm\number, %xmm\number
        .endr
        .endm

        .text
        .globl  nb_gate_enter
        .hidden nb_gate_enter
        .type   nb_gate_enter, @function
        .p2align 4
nb_gate_enter:
        endbr64
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rdi, %r12
        subq    $24, %rsp               /* 16-aligned; the caller's mask is at its end */
        BLOCK_SIGNALS "movq %rsp, %rdx"
        movl    READ_AND_WRITE, %edx
        PROTECT
        .globl  nb_gate_enter_opens
        .hidden nb_gate_enter_opens
nb_gate_enter_opens:
        testl   %eax, %eax
        jnz     stop
        movq    nb_gate+NB_GATE_HEAD(%rip), %rbx
        xorl    %eax, %eax              /* NB_OUTSIDE */
        movl    $1, %ecx                /* NB_INSIDE */
        lock cmpxchgl %ecx, NB_HEAD_STATE(%rbx)
        jne     stop
        movq    %fs:0, %rax
        movq    %rax, NB_HEAD_OWNER(%rbx)
        movq    %rsp, NB_HEAD_OUTER(%rbx)
        movq    %rbx, %rsp
        cld
        movq    %r12, %rdi
        call    nb_inside
        movl    %eax, %r13d
        movq    nb_gate+NB_GATE_HEAD(%rip), %rbx
        movq    NB_HEAD_OUTER(%rbx), %rsp
        movl    $0, NB_HEAD_STATE(%rbx)
        FORGET
        movl    NOTHING, %edx
        PROTECT
        testl   %eax, %eax
        jnz     stop
        RESTORE_SIGNALS
        movl    %r13d, %eax
        addq    $24, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   nb_gate_enter, . - nb_gate_enter

        .globl  nb_gate_lend
        .hidden nb_gate_lend
        .type   nb_gate_lend, @function
        .p2align 4
nb_gate_lend:
        endbr64
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rdi, %rbx
        movq    %rsi, %r12
        movq    %rdx, %r13
        movq    nb_gate+NB_GATE_HEAD(%rip), %rax
        movq    %rsp, NB_HEAD_INNER(%rax)
        movl    $2, NB_HEAD_STATE(%rax) /* NB_LENT */
        movq    NB_HEAD_OUTER(%rax), %rsp
        xorl    %ebp, %ebp
        xorl    %r14d, %r14d
        xorl    %r15d, %r15d
        FORGET
        movl    NOTHING, %edx
        PROTECT
        testl   %eax, %eax
        jnz     stop
        RESTORE_SIGNALS
        movq    %r12, %rdi
        movq    %r13, %rsi
        call    *%rbx
        movq    %rax, %rbx
        BLOCK_SIGNALS "xorl %edx, %edx"
        movl    READ_AND_WRITE, %edx
        PROTECT
        .globl  nb_gate_lend_opens
        .hidden nb_gate_lend_opens
nb_gate_lend_opens:
        testl   %eax, %eax
        jnz     stop
        movq    nb_gate+NB_GATE_HEAD(%rip), %rcx
        movq    %fs:0, %rax
        cmpq    %rax, NB_HEAD_OWNER(%rcx)
        jne     stop
        movl    $2, %eax                /* NB_LENT */
        movl    $1, %edx                /* NB_INSIDE */
        lock cmpxchgl %edx, NB_HEAD_STATE(%rcx)
        jne     stop
        movq    NB_HEAD_INNER(%rcx), %rsp
        cld
        movq    %rbx, %rax
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        .size   nb_gate_lend, . - nb_gate_lend

        .type   stop, @function
stop:                                   /* entered without nb_gate_enter */
        movl    STATUS, %edi
        movl    SYS_EXIT_GROUP, %eax
        syscall
        ud2
        .size   stop, . - stop

        .section .note.GNU-stack, "", @progbits
