/* Stands in for libamdhip64 under tests/data/hip/embedded.o, which clang made. Measures the image that its
 * constructor registers, as the shim does, and prints the kernels' layouts. */
#include <stdio.h>
#include <stdlib.h>

#include "core/image/code_object.h"
#include "core/image/image.h"
#include "core/image/layout.h"

static struct nb_extent image;

void **__hipRegisterFatBinary(const void *wrapper);
void __hipRegisterFunction(void **handle, const void *stub, char *device_name, const char *name);
void __hipRegisterVar(void **handle, void *variable, char *host_name, const char *name);
void __hipUnregisterFatBinary(void **handle);
int __hipPopCallConfiguration(void);
int hipLaunchKernel(void);

void **__hipRegisterFatBinary(const void *wrapper)
{
    image = nb_image_measure(wrapper, SIZE_MAX, 1);
    printf("image %d %llu\n", (int)image.format, (unsigned long long)image.bytes);
    return (void **)&image;
}

void __hipRegisterFunction(void **handle, const void *stub, char *device_name, const char *name)
{
    static struct nb_parameter layout[NB_LAYOUT_MAX];
    (void)handle, (void)stub, (void)device_name;
    const int count = nb_layout_from_code_object(image.start, image.bytes, name, layout);
    printf("%s %d", name, count);
    for (int i = 0; i < count; i++)
        printf(" %u:%u", layout[i].offset, layout[i].size);
    putchar('\n');
}

void __hipRegisterVar(void **handle, void *variable, char *host_name, const char *name)
{
    (void)handle, (void)variable, (void)host_name, (void)name;
}

void __hipUnregisterFatBinary(void **handle)
{
    (void)handle;
}

int __hipPopCallConfiguration(void)
{
    abort();
}

int hipLaunchKernel(void)
{
    abort();
}

int main(void)
{
    return 0;
}
