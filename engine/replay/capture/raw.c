/* The memory for decoded blobs. The fuzzer replaces this file. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/base/error.h"
#include "replay/capture/decode.h"
#include "replay/capture/file.h"

int nb_file_decode(struct nb_reader_file *file, uint32_t decoders, char *error)
{
    if (file->raw_bytes == 0)
        return NB_REPLAY_OK;
    void *raw = mmap(NULL, file->raw_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return nb_error(error, NB_REPLAY_CANNOT, "no memory for %" PRIu64 " bytes of blobs", file->raw_bytes);
    file->raw = raw;
    (void)madvise(raw, file->raw_bytes, MADV_HUGEPAGE);
    void *stored = mmap(NULL, file->bytes, PROT_READ, MAP_SHARED, file->descriptor, 0);
    if (stored == MAP_FAILED)
        return nb_error(error, NB_REPLAY_OURS, "the capture cannot be mapped: %s", strerror(errno));
    const struct nb_decode_work work = {stored, file->blobs, file->places, file->header.blob_count, raw};
    const int status = nb_decode(&work, decoders, error);
    (void)munmap(stored, file->bytes);
    (void)mprotect(raw, file->raw_bytes, PROT_READ);
    return status;
}

void nb_file_free_raw(struct nb_reader_file *file)
{
    if (file->raw != NULL)
        (void)munmap(file->raw, file->raw_bytes);
}
