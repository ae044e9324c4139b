"""Patterns with kernel names that they match and that they do not. The shim and the supervisor must agree on all."""

from __future__ import annotations

NUMBA = "_ZN6cudapy8__main__3addB2v1B11cw51cXTL_3dEi"
"""As numba-cuda names a kernel, its hash shortened."""

MATCHING = [
    ("scale", "scale"),
    ("sc*", "scale"),
    ("scale", "_Z5scalePf"),
    ("vector*", "_ZN2at6native13vector_kernelIfEEvPT_"),
    ("k[0-9]", "_ZL2k7v"),
    ("_Z5scalePf", "_Z5scalePf"),
    ("_Z5*", "_Z5scalePf"),
    ("*", "b"),
    ("inner", "_ZN12_GLOBAL__N_15innerEv"),
    ("a:b", "a:b"),
    ("scale(float*)", "_Z5scalePf"),
    ("*native::*<float>(*", "_ZN2at6native13vector_kernelIfEEvPT_"),
    ("void at::native::vector_kernel<float>(float*)", "_ZN2at6native13vector_kernelIfEEvPT_"),
    ("scale(float (&) [4])", "_Z5scaleRA4_f"),
    ("(anonymous namespace)::inner()", "_ZN12_GLOBAL__N_15innerEv"),
    ("cudapy::__main__::add(int)", NUMBA),
    ("cudapy::__main__::add[abi:v1][abi:cw51cXTL_3d](int)", NUMBA),
    ("*::add(*", NUMBA),
    ("add", NUMBA),
]

OTHERS = [
    ("scale", "scales"),
    ("scale", "_Z6scalesPf"),
    ("*", ""),  # a graph's launch has no name
    ("Scale", "scale"),
    ("a", "_Z9999999999a"),
    ("a", "_Z"),
    ("Z", "_Z"),
    ("scale(double*)", "_Z5scalePf"),
    ("float*", "_Z5scalePf"),
    ("cudapy::__main__::add[abi:v1](int)", NUMBA),
]
