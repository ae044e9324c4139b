#include "replay/capture/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/image/sha256.h"
#include "replay/base/error.h"

static bool read_all(int descriptor, void *into, size_t bytes, uint64_t offset)
{
    uint8_t *at = into;
    while (bytes > 0) {
        const ssize_t size = pread(descriptor, at, bytes, (off_t)offset);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return false;
        at += size;
        offset += (uint64_t)size;
        bytes -= (size_t)size;
    }
    return true;
}

static int refuse(char *error, const char *why)
{
    return nb_error(error, NB_REPLAY_BAD_CAPTURE, "%s", why);
}

static int read_header(struct nb_reader_file *file, char *error)
{
    struct nb_capture *header = &file->header;
    struct stat status;
    if (fstat(file->descriptor, &status) != 0)
        return nb_error(error, NB_REPLAY_OURS, "the capture cannot be read: %s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return refuse(error, "not a file");
    file->bytes = (uint64_t)status.st_size;
    if (file->bytes < sizeof *header || !read_all(file->descriptor, header, sizeof *header, 0))
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "%" PRIu64 " bytes are too few for a capture",
                        file->bytes);
    if (header->magic == NB_RAW_CAPTURE_MAGIC)
        return refuse(error, "a raw capture that was not packed");
    if (header->magic != NB_CAPTURE_MAGIC)
        return refuse(error, "not a capture");
    if (header->version != NB_CAPTURE_VERSION)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "version %u of the format; this program reads %u",
                        header->version, NB_CAPTURE_VERSION);
    if (header->file_bytes != file->bytes)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "%" PRIu64 " bytes long, but %" PRIu64 " were written",
                        file->bytes, header->file_bytes);
    if (header->blob_count > NB_BLOBS_MAX || header->section_count > NB_SECTIONS_MAX)
        return nb_error(error, NB_REPLAY_BAD_CAPTURE, "%u blobs and %u sections are too many",
                        header->blob_count, header->section_count);
    return NB_REPLAY_OK;
}

static bool is_inside(const struct nb_reader_file *file, uint64_t offset, uint64_t bytes)
{
    return offset >= sizeof file->header && offset <= file->bytes && bytes <= file->bytes - offset;
}

int nb_file_open(struct nb_reader_file *file, int descriptor, char *error)
{
    file->descriptor = descriptor;
    const struct nb_capture *header = &file->header;
    const int status = read_header(file, error);
    if (status != NB_REPLAY_OK)
        return status;
    const size_t blob_bytes = header->blob_count * sizeof *file->blobs;
    const size_t section_bytes = header->section_count * sizeof *file->sections;
    if (header->blob_offset % 8 != 0 || !is_inside(file, header->blob_offset, blob_bytes))
        return refuse(error, "its blob table is not in the file");
    if (header->section_offset % 8 != 0 || !is_inside(file, header->section_offset, section_bytes))
        return refuse(error, "its section table is not in the file");
    file->tables = malloc(blob_bytes + section_bytes + 1);
    if (file->tables == NULL)
        return nb_error(error, NB_REPLAY_CANNOT, "no memory for %zu bytes of tables",
                        blob_bytes + section_bytes);
    if (!read_all(descriptor, file->tables, blob_bytes, header->blob_offset) ||
        !read_all(descriptor, file->tables + blob_bytes, section_bytes, header->section_offset))
        return refuse(error, "the file was truncated while it was read, or cannot be read");
    uint8_t digest[sizeof header->sha256];
    nb_sha256(file->tables, blob_bytes + section_bytes, digest);
    if (memcmp(digest, header->sha256, sizeof digest) != 0)
        return refuse(error, "its tables do not match their SHA-256");
    file->blobs = (const struct nb_blob *)(const void *)file->tables;
    file->sections = (const struct nb_section *)(const void *)(file->tables + blob_bytes);
    return NB_REPLAY_OK;
}
