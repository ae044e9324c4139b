/* The PTX of kernels.cu as strings. */
    .section .rodata
    .macro TEXT name, file
    .globl \name
    .hidden \name
    .type \name, @object
\name:
    .incbin "\file"
    .byte 0
    .size \name, . - \name
    .endm
    TEXT nb_kernels_80, "inline/kernels_80.ptx"
    TEXT nb_kernels_90, "inline/kernels_90.ptx"
    .section .note.GNU-stack, "", @progbits
