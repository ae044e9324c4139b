/* Seals what comes on standard input, a key and a result, with the engine's own code. */
#include <stdio.h>

#include "inline/seal.h"

int main(void)
{
    static struct nb_seal_key key;
    static struct nb_result result;
    static struct nb_sealed sealed;
    if (fread(&key, sizeof key, 1, stdin) != 1 || fread(&result, sizeof result, 1, stdin) != 1)
        return 1;
    nb_seal(&key, &result, &sealed);
    for (size_t i = 0; i < sizeof key; i++)
        if (((const unsigned char *)&key)[i] != 0)
            return 2; /* it is to be used once */
    return fwrite(&sealed, sizeof sealed, 1, stdout) == 1 ? 0 : 1;
}
