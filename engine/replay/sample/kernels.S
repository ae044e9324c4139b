/* The engine's kernels as strings: kernels.ptx is nb_kernels, kernels_80.ptx nb_kernels_policy, kernels.hip
 * nb_kernels_hip. */
    .macro text name, path
    .globl \name
    .hidden \name
    .type \name, @object
\name:
    .incbin "\path"
    .byte 0
    .size \name, . - \name
    .endm

    .section .rodata
    text nb_kernels, replay/sample/kernels.ptx
    text nb_kernels_policy, replay/sample/kernels_80.ptx
    text nb_kernels_hip, replay/sample/kernels.hip
    .section .note.GNU-stack, "", @progbits
