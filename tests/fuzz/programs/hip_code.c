/* Target: the CPU driver's reader of HIP images, which returns a text or a reason. */
#include "hip/code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver/code/decompress.h"
#include "target.h"

const enum style target_style = STYLE_BINARY;
const char *const target_outcomes[OUTCOMES] = {"text",    "unknown",    "nothing",
                                               "corrupt", "no library", "no memory"};

/* Load the decompression libraries before allocations are counted. */
__attribute__((constructor)) static void load_libraries(void)
{
    char byte = 0;
    (void)sim_decompress(SIM_CODEC_ZLIB, &byte, 1, &byte, 1);
    (void)sim_decompress(SIM_CODEC_ZSTD, &byte, 1, &byte, 1);
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    struct hip_text text = {NULL, 0};
    const char *reason = NULL;
    const enum hip_code result = hip_code_text(bytes, size, &text, &reason);
    if ((result == HIP_CODE_TEXT) != (text.text != NULL))
        finding("outcome %d %s a text", (int)result, text.text != NULL ? "with" : "without");
    if (result != HIP_CODE_TEXT && (reason == NULL || reason[0] == 0))
        finding("refused without a reason");
    if (text.text != NULL && strlen(text.text) != text.bytes)
        finding("a text that does not end where it says");
    free(text.text);
    return (unsigned)result;
}
