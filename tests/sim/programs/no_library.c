/* Prints the message for a fat binary when no decompression library can be opened: no_library FILE. */
#include "driver/code/decompress.h"
#include "driver/code/fatbin.h"

#include <stdio.h>

/* Replaces the C library's function: the program's definition takes precedence. */
void *dlopen(const char *name, int mode)
{
    (void)name;
    (void)mode;
    return NULL;
}

int main(int count, char **arguments)
{
    static unsigned char bytes[1 << 16];
    struct sim_text text;
    const char *reason = "";
    FILE *stream = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (stream == NULL)
        return 2;
    const size_t size = fread(bytes, 1, sizeof bytes, stream);
    (void)fclose(stream);
    const enum sim_fatbin result = sim_fatbin_text(bytes, size, 90, &text, &reason);
    printf("%s\n", result == SIM_FATBIN_NO_LIBRARY ? reason : "read");
    return 0;
}
