/* Where blobs lie, in the file and in memory. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "decode.h"
#include "error.h"
#include "reader_file.h"

static const char *check_blob(const struct nb_reader_file *file, const struct nb_blob *blob)
{
    const int compressed = blob->compression == 1;
    if (blob->offset < sizeof file->header || blob->offset > file->bytes ||
        blob->stored_bytes > file->bytes - blob->offset)
        return "is not in the file";
    if (blob->raw_bytes == 0 || blob->raw_bytes > NB_BLOB_MAX)
        return "is empty, or larger than a blob may be";
    if (blob->compression > 1)
        return "is compressed in a way that is not known";
    if (blob->stored_bytes == 0 || blob->stored_bytes > blob->raw_bytes ||
        (blob->stored_bytes < blob->raw_bytes) != compressed)
        return "has as many bytes in the file as cannot hold it";
    return NULL;
}

/* Aligned, so that tables can be read where they are; those of NB_BLOB_MAX bytes follow one another without
 * a gap, so that a content of several is in one piece. */
int nb_file_place_blobs(struct nb_reader_file *file, uint64_t most_bytes, char *error)
{
    const uint32_t count = file->header.blob_count;
    file->places = malloc((count + 1) * sizeof *file->places);
    file->next_short = malloc((count + 1) * sizeof *file->next_short);
    if (file->places == NULL || file->next_short == NULL)
        return nb_error(error, NB_REPLAY_OURS, "no memory for %u blobs", count);
    for (uint32_t i = 0; i < count; i++) {
        const char *why = check_blob(file, &file->blobs[i]);
        if (why != NULL)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u %s", i, why);
        file->places[i] = file->raw_bytes;
        const uint64_t most = NB_DECODE_ALIGNMENT - 1;
        file->raw_bytes += (file->blobs[i].raw_bytes + most) & ~most;
    }
    if (file->raw_bytes > most_bytes)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE,
                        "%" PRIu64 " bytes when decompressed; at most %" PRIu64 " are allowed",
                        file->raw_bytes, most_bytes);
    for (uint32_t i = count, next = count; i-- > 0;) {
        next = file->blobs[i].raw_bytes != NB_BLOB_MAX ? i : next;
        file->next_short[i] = next;
    }
    return NB_REPLAY_OK;
}

int nb_file_decode(struct nb_reader_file *file, uint32_t decoders, char *error)
{
    if (file->raw_bytes == 0)
        return NB_REPLAY_OK;
    void *raw = mmap(NULL, file->raw_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return nb_error(error, NB_REPLAY_OURS, "no memory for %" PRIu64 " bytes of blobs", file->raw_bytes);
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

void nb_file_close(struct nb_reader_file *file)
{
    if (file->raw != NULL)
        (void)munmap(file->raw, file->raw_bytes);
    free(file->tables);
    free(file->places);
    free(file->next_short);
    *file = (struct nb_reader_file){.descriptor = -1};
}

const char *nb_file_check_content(const struct nb_reader_file *file, struct nb_content content)
{
    const uint32_t count = file->header.blob_count;
    if (content.bytes == 0)
        return NULL;
    const uint64_t before_last = (content.bytes - 1) / NB_BLOB_MAX;
    if (content.first >= count || before_last >= count - content.first)
        return "a content leads behind the last blob";
    const uint64_t last = content.first + before_last;
    if (file->next_short[content.first] < last ||
        file->blobs[last].raw_bytes != content.bytes - before_last * NB_BLOB_MAX)
        return "a content is of another size than its blobs";
    return NULL;
}
