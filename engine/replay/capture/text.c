/* Names in a capture, made printable. */
#include "replay/capture/reader.h"

#include <string.h>

static int is_printable(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7f;
}

void nb_reader_text(const struct nb_reader *reader, struct nb_span span, char *into, size_t room)
{
    static const char cut[] = "...";
    if (room == 0)
        return;
    const size_t most = room - 1;
    const size_t bytes = span.bytes < most ? (size_t)span.bytes : most;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t byte = reader->data[span.offset + i];
        into[i] = is_printable(byte) ? (char)byte : '?';
    }
    if (span.bytes > most && most >= sizeof cut - 1)
        memcpy(into + most - (sizeof cut - 1), cut, sizeof cut - 1);
    into[bytes] = '\0';
}
