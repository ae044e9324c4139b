/* A target with planted errors, selected by the first byte of the input: a check of the fuzzer itself. */
#include <stdlib.h>

#include "target.h"

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"nothing"};

static unsigned char *volatile kept;

unsigned target_take(const unsigned char *bytes, size_t size)
{
    switch (size != 0 ? bytes[0] : 0) {
    case 'o':
        return ((const volatile unsigned char *)bytes)[size] != 0 ? 0 : 0;
    case 'l':
        kept = malloc(16);
        break;
    case 's':
        for (volatile unsigned i = 1; i != 0;)
            ;
        break;
    case 'n':
        return *(volatile const unsigned char *)(size - size) & 0;
    case 'r':
        finding("the letter r");
    default:
        break;
    }
    return 0;
}
