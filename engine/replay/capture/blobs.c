/* Where blobs lie, in the file and in memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "replay/capture/decode.h"
#include "replay/base/error.h"
#include "replay/capture/file.h"

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

void nb_file_close(struct nb_reader_file *file)
{
    nb_file_free_raw(file);
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
