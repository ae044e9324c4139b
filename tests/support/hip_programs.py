"""Code that hipcc adds to a program's host code, as C: the bundle, its wrapper, kernel handles and their registration.

After clang's CodeGen/CGCUDANV.cpp (makeModuleCtorFunction, makeRegisterGlobalsFn): a constructor registers the wrapper
in `.hipFatBinSegment`, then every kernel by the address of a handle that bears the kernel's name, then every global.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_REGISTRATION = """\
#include <stddef.h>
#include <stdlib.h>

void **__hipRegisterFatBinary(const void *wrapper);
void __hipUnregisterFatBinary(void **modules);
void __hipRegisterFunction(void **modules, const void *host, char *name, const char *device_name, unsigned limit,
                           void *thread, void *threads, void *block, void *grid, int *wave);
void __hipRegisterVar(void **modules, void *variable, char *host, char *device, int external, size_t size,
                      int constant, int global);

__attribute__((section(".hip_fatbin"), aligned(4096))) static const unsigned char __hip_fatbin[] = {%(bytes)s};
__attribute__((section(".hipFatBinSegment"), used)) static const struct {
    unsigned magic, version;
    const void *binary, *unused;
} __hip_fatbin_wrapper = {0x48495046, 1, __hip_fatbin, NULL}; /* "HIPF" */
static void **__hip_gpubin_handle;

%(definitions)s
static void __hip_module_dtor(void)
{
    if (__hip_gpubin_handle != NULL)
        __hipUnregisterFatBinary(__hip_gpubin_handle);
    __hip_gpubin_handle = NULL;
}

__attribute__((constructor)) static void __hip_module_ctor(void)
{
    __hip_gpubin_handle = __hipRegisterFatBinary(&__hip_fatbin_wrapper);
%(registrations)s
    atexit(__hip_module_dtor);
}
"""


def linked_in(bundle: bytes, kernels: Sequence[str], globals_: Mapping[str, int] | None = None) -> str:
    """C source that makes a program one "compiled by hipcc".

    The rest of the program declares a kernel as `extern const void *const NAME;` and launches `&NAME`. It has a global
    for each item of `globals_`: its name, and its size in bytes.
    """
    definitions, registrations = list[str](), list[str]()
    for name in kernels:
        definitions.append(f"static void __device_stub__{name}(void) {{}}")
        definitions.append(f"const void *const {name} = (const void *)__device_stub__{name};")
        registrations.append(
            f'    __hipRegisterFunction(__hip_gpubin_handle, &{name}, "{name}", "{name}", -1U, '
            "NULL, NULL, NULL, NULL, NULL);"
        )
    for name, size in (globals_ or {}).items():
        definitions.append(f"unsigned char {name}[{size}];")
        registrations.append(
            f'    __hipRegisterVar(__hip_gpubin_handle, {name}, "{name}", "{name}", 0, {size}, 0, 0);'
        )
    return _REGISTRATION % {
        "bytes": ",".join(map(str, bundle)),
        "definitions": "\n".join(definitions),
        "registrations": "\n".join(registrations),
    }
