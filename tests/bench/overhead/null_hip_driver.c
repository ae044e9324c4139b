/* null_driver.c with HIP's functions. It needs no HIP header: opaque types are plain pointers. */
#define NULL_EXPORT __attribute__((visibility("default")))

NULL_EXPORT int hipInit(unsigned flags)
{
    (void)flags;
    return 0;
}

/* Passed through by the shim. */
NULL_EXPORT int hipPeekAtLastError(void)
{
    return 0;
}

/* Recorded by the shim. */
NULL_EXPORT int hipStreamSynchronize(void *stream)
{
    (void)stream;
    return 0;
}

/* Recorded by the shim, and counted if repeated. */
NULL_EXPORT int hipStreamQuery(void *stream)
{
    (void)stream;
    return 0;
}

NULL_EXPORT int hipGetDevice(int *device)
{
    *device = 0;
    return 0;
}

NULL_EXPORT int hipModuleLoadData(void **module, const void *image)
{
    (void)image;
    *module = (void *)0x2000;
    return 0;
}

NULL_EXPORT int hipModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module, (void)name;
    *function = (void *)0x3000;
    return 0;
}

NULL_EXPORT int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                      void *stream, void **parameters, void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared, (void)stream, (void)parameters, (void)extra;
    return 0;
}
