/* SHA-256 of the standard input, as the machine does it best and then in plain C. */
#include <stdio.h>
#include <string.h>

#include "core/image/sha256.h"

static void print(const uint8_t digest[32])
{
    for (int i = 0; i < 32; i++)
        printf("%02x", digest[i]);
    putchar('\n');
}

int main(void)
{
    static uint8_t bytes[1 << 16], whole[sizeof bytes];
    const size_t size = fread(bytes, 1, sizeof bytes, stdin);
    uint8_t digest[32];
    nb_sha256(bytes, size, digest);
    print(digest);

    memcpy(whole, bytes, sizeof bytes); /* the two differ by their block functions alone */
    uint32_t plain[8] = {0}, best[8] = {0};
    nb_sha256_blocks *accelerated = nb_sha256_accelerated();
    nb_sha256_portable(plain, whole, size / 64);
    if (accelerated != NULL)
        accelerated(best, whole, size / 64);
    puts(accelerated == NULL ? "none" : memcmp(plain, best, sizeof plain) == 0 ? "same" : "different");
    return 0;
}
