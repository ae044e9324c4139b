/* The blobs of a capture, in the file and in memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "replay/base/error.h"
#include "replay/capture/decode.h"
#include "replay/capture/file.h"

static const char *check_blob(const struct nb_reader_file *file, const struct nb_blob *blob)
{
    const int compressed = blob->compression == NB_BLOB_ZSTD;
    if (blob->offset < sizeof file->header || blob->offset > file->bytes ||
        blob->stored_bytes > file->bytes - blob->offset)
        return "is not in the file";
    if (blob->raw_bytes == 0 || blob->raw_bytes > NB_BLOB_MAX)
        return "is empty, or larger than a blob may be";
    if (blob->compression > NB_BLOB_ZSTD)
        return "is compressed by an unknown method";
    if (blob->stored_bytes == 0 || blob->stored_bytes > blob->raw_bytes ||
        (blob->stored_bytes < blob->raw_bytes) != compressed)
        return "has an impossible number of bytes in the file";
    return NULL;
}

int nb_file_check_blobs(struct nb_reader_file *file, char *error)
{
    const uint32_t count = file->header.blob_count;
    file->places = calloc((size_t)count + 1, sizeof *file->places);
    file->next_short = malloc(((size_t)count + 1) * sizeof *file->next_short);
    if (file->places == NULL || file->next_short == NULL)
        return nb_error(error, NB_REPLAY_CANNOT, "no memory for %u blobs", count);
    for (uint32_t i = 0; i < count; i++) {
        const char *why = check_blob(file, &file->blobs[i]);
        if (why != NULL)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u %s", i, why);
    }
    for (uint32_t i = count, next = count; i-- > 0;) {
        next = file->blobs[i].raw_bytes != NB_BLOB_MAX ? i : next;
        file->next_short[i] = next;
    }
    return NB_REPLAY_OK;
}

/* Blobs are aligned, so that tables can be read in place. Blobs of NB_BLOB_MAX bytes follow one another
 * without a gap, so that a content of several blobs is in one piece. */
int nb_file_place_blobs(struct nb_reader_file *file, uint64_t most_bytes, char *error)
{
    for (uint32_t i = 0; i < file->header.blob_count; i++) {
        if (file->places[i] == NB_NOT_DECODED)
            continue;
        file->places[i] = file->raw_bytes;
        const uint64_t most = NB_DECODE_ALIGNMENT - 1;
        file->raw_bytes += (file->blobs[i].raw_bytes + most) & ~most;
    }
    if (file->raw_bytes > most_bytes)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE,
                        "%" PRIu64 " bytes when decompressed; at most %" PRIu64 " are allowed",
                        file->raw_bytes, most_bytes);
    return NB_REPLAY_OK;
}

int nb_file_reserve_scratch(struct nb_reader_file *file, uint64_t bytes, char *error)
{
    file->scratch_bytes = bytes;
    file->scratch = calloc(1, bytes);
    return file->scratch != NULL
               ? NB_REPLAY_OK
               : nb_error(error, NB_REPLAY_CANNOT, "no memory for %" PRIu64 " bytes of scratch", bytes);
}

void *nb_file_take_scratch(struct nb_reader_file *file, uint64_t bytes)
{
    const uint64_t at = file->scratch_used;
    if (bytes > file->scratch_bytes - at)
        return NULL;
    const uint64_t end = at + ((bytes + 15) & ~UINT64_C(15));
    file->scratch_used = end < file->scratch_bytes ? end : file->scratch_bytes;
    return file->scratch + at;
}

void nb_file_close(struct nb_reader_file *file)
{
    nb_file_free_raw(file);
    free(file->tables);
    free(file->places);
    free(file->next_short);
    free(file->scratch);
    *file = (struct nb_reader_file){.descriptor = -1};
}

const char *nb_file_check_content(const struct nb_reader_file *file, struct nb_content content)
{
    const uint32_t count = file->header.blob_count;
    if (content.bytes == 0)
        return NULL;
    const uint64_t before_last = (content.bytes - 1) / NB_BLOB_MAX;
    if (content.first >= count || before_last >= count - content.first)
        return "a content ends after the last blob";
    const uint64_t last = content.first + before_last;
    if (file->next_short[content.first] < last ||
        file->blobs[last].raw_bytes != content.bytes - before_last * NB_BLOB_MAX)
        return "a content has another size than its blobs";
    return NULL;
}
