/* Reads texts from standard input, each a 32-bit length and so many bytes, and parses each: "0" accepted, "1"
 * refused with a reason, "2" refused without one. Each lies in a block of just its size, for
 * AddressSanitizer. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx.h"

int main(void)
{
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        char *text = malloc(length != 0 ? length : 1);
        if (text == NULL || fread(text, 1, length, stdin) != length)
            return 1;
        struct ptx_module *module = NULL;
        struct ptx_diagnostic diagnostic = {0};
        const int result = ptx_module_parse(text, length, &module, &diagnostic);
        puts(result == 0 ? "0" : diagnostic.text[0] != 0 ? "1" : "2");
        ptx_module_free(module);
        free(text);
    }
    return 0;
}
