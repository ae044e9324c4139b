/* Target: the reader of fat binaries, which returns PTX text or a reason. */
#include "driver/code/fatbin.h"

#include <stdlib.h>
#include <string.h>

#include "driver/code/decompress.h"
#include "target.h"

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"text",    "nothing",    "malformed",
                                               "corrupt", "no library", "no memory"};

/* Load the decompression libraries before allocations are counted. */
__attribute__((constructor)) static void load_libraries(void)
{
    char byte = 0;
    (void)sim_decompress(SIM_CODEC_LZ4, &byte, 1, &byte, 1);
    (void)sim_decompress(SIM_CODEC_ZSTD, &byte, 1, &byte, 1);
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    static const uint32_t devices[] = {0, 75, 90, UINT32_MAX};
    struct sim_text text;
    const char *reason = NULL;
    const enum sim_fatbin result = sim_fatbin_text(bytes, size, devices[size % 4], &text, &reason);
    if ((result == SIM_FATBIN_TEXT) != (text.text != NULL))
        finding("outcome %d %s a text", (int)result, text.text != NULL ? "with" : "without");
    if (result != SIM_FATBIN_TEXT && (reason == NULL || reason[0] == 0 || text.owned != NULL))
        finding("refused without a reason, or with memory");
    if (text.bytes != 0 && memchr(text.text, 0, text.bytes) != NULL) /* reads the whole text */
        finding("a text that goes on behind its end");
    free(text.owned);
    return (unsigned)result;
}
