/* kernels.ptx as a string, nb_kernels. */
    .section .rodata
    .globl nb_kernels
    .hidden nb_kernels
    .type nb_kernels, @object
nb_kernels:
    .incbin "kernels.ptx"
    .byte 0
    .size nb_kernels, . - nb_kernels
    .section .note.GNU-stack, "", @progbits
