/* cut_capture FILE: the reader gets the file cut at every byte, as it is and with a header that knows. Prints
 * how many were refused. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/capture/reader.h"

static int is_refused(const uint8_t *bytes, size_t size)
{
    static const struct nb_replay_limits limits = {1 << 28, UINT64_C(1) << 40, 1 << 20, 1};
    const int descriptor = memfd_create("cut", 0);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size)
        exit(3);
    struct nb_reader reader;
    char error[NB_REPLAY_TEXT] = "";
    const int status = nb_reader_open(descriptor, &limits, &reader, error);
    nb_reader_close(&reader);
    close(descriptor);
    return status == NB_REPLAY_BAD_CAPTURE && error[0] != 0;
}

int main(int count, char **words)
{
    static uint8_t bytes[1 << 16];
    FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
    if (file == NULL)
        return 2;
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    unsigned refused = 0;
    struct nb_capture *header = (struct nb_capture *)(void *)bytes;
    for (size_t cut = 0; cut < size; cut++)
        refused += (unsigned)is_refused(bytes, cut);
    for (size_t cut = 0; cut < size; cut++) {
        header->file_bytes = cut;
        refused += (unsigned)is_refused(bytes, cut);
    }
    printf("%u of %zu\n", refused, 2 * size);
    return 0;
}
