#include "replay/capture/reader.h"

#include <stdlib.h>

#include "replay/base/error.h"
#include "replay/capture/check.h"
#include "replay/capture/file.h"
#include "replay/capture/tables.h"

/* Bounds the cost of a small hostile file before it is spent: sizes first, then bytes, then elements. */
static int prepare(struct nb_reader_file *file, int descriptor, const struct nb_replay_limits *limits,
                   char *error)
{
    int status = nb_file_open(file, descriptor, error);
    if (status == NB_REPLAY_OK)
        status = nb_file_check_blobs(file, error);
    if (status == NB_REPLAY_OK)
        status = nb_tables_check(file, limits->elements, error);
    if (status != NB_REPLAY_OK)
        return status;
    if (file->tables_only)
        nb_tables_select(file);
    status = nb_file_place_blobs(file, limits->host_bytes, error);
    if (status != NB_REPLAY_OK)
        return status;
    return nb_file_reserve_scratch(file,
                                   nb_check_memory_scratch(file) + nb_check_operations_scratch(file) +
                                       nb_check_edges_scratch(file),
                                   error);
}

int nb_reader_begin(int descriptor, bool tables_only, const struct nb_replay_limits *limits,
                    struct nb_reader *reader, char *error)
{
    *reader = (struct nb_reader){0};
    struct nb_reader_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return nb_error(error, NB_REPLAY_CANNOT, "no memory");
    file->tables_only = tables_only;
    reader->implementation = file;
    return prepare(file, descriptor, limits, error);
}

/* The rules apply to the decoded tables in place: every decoder has ended, so that no process can change
 * them. */
int nb_reader_finish(struct nb_reader *reader, const struct nb_replay_limits *limits, char *error)
{
    static int (*const checks[])(struct nb_checker *) = {
        nb_check_elements,   nb_check_memory, nb_check_runs,
        nb_check_operations, nb_check_edges,  nb_check_references,
    };
    nb_tables_fill(reader->implementation, reader);
    struct nb_checker checker = {
        .file = reader->implementation, .limits = limits, .reader = reader, .error = error};
    int status = NB_REPLAY_OK;
    for (size_t i = 0; status == NB_REPLAY_OK && i < sizeof checks / sizeof *checks; i++)
        status = checks[i](&checker);
    return status;
}

int nb_reader_open(int descriptor, const struct nb_replay_limits *limits, struct nb_reader *reader,
                   char *error)
{
    int status = nb_reader_begin(descriptor, false, limits, reader, error);
    if (status == NB_REPLAY_OK)
        status = nb_file_decode(reader->implementation, limits->decoders, error);
    if (status == NB_REPLAY_OK)
        status = nb_reader_finish(reader, limits, error);
    if (status != NB_REPLAY_OK)
        nb_reader_close(reader);
    return status;
}

void nb_reader_close(struct nb_reader *reader)
{
    if (reader->implementation != NULL)
        nb_file_close(reader->implementation);
    free(reader->implementation);
    *reader = (struct nb_reader){0};
}

const void *nb_reader_content(const struct nb_reader *reader, struct nb_content content)
{
    const struct nb_reader_file *file = reader->implementation;
    return content.bytes != 0 ? file->raw + file->places[content.first] : NULL;
}

bool nb_reader_has_allocation(const struct nb_reader *reader, uint32_t flags)
{
    for (uint32_t i = 0; i < reader->allocation_count; i++)
        if ((reader->allocations[i].flags & flags) != 0)
            return true;
    return false;
}
