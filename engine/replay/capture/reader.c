#include "replay/capture/reader.h"

#include <stdlib.h>

#include "replay/base/error.h"
#include "replay/capture/check.h"
#include "replay/capture/file.h"
#include "replay/capture/tables.h"

/* What a small file can make this cost is bounded before it is spent: sizes first, then bytes, then elements.
 */
static int read_file(struct nb_reader_file *file, int descriptor, const struct nb_replay_limits *limits,
                     char *error)
{
    int status = nb_file_open(file, descriptor, error);
    if (status == NB_REPLAY_OK)
        status = nb_file_place_blobs(file, limits->host_bytes, error);
    if (status == NB_REPLAY_OK)
        status = nb_tables_check(file, error);
    if (status == NB_REPLAY_OK)
        status = nb_file_decode(file, limits->decoders, error);
    return status;
}

/* In place: whoever decoded the tables is dead, and nobody else has that memory. */
static int check_tables(struct nb_reader *reader, const struct nb_replay_limits *limits, char *error)
{
    struct nb_checker checker = {
        .file = reader->implementation, .limits = limits, .reader = reader, .error = error};
    const size_t count = (size_t)reader->operation_count + 1; /* events and graphs are not more */
    checker.recorded = calloc(count, 1);
    checker.has_nodes = calloc(count, 1);
    const int status = checker.recorded != NULL && checker.has_nodes != NULL
                           ? nb_check(&checker)
                           : nb_error(error, NB_REPLAY_OURS, "no memory for %zu operations", count - 1);
    free(checker.recorded);
    free(checker.has_nodes);
    free(checker.allocations.at);
    free(checker.pages.at);
    free(checker.variables.at);
    return status;
}

int nb_reader_open(int descriptor, const struct nb_replay_limits *limits, struct nb_reader *reader,
                   char *error)
{
    *reader = (struct nb_reader){0};
    struct nb_reader_file *file = malloc(sizeof *file);
    if (file == NULL)
        return nb_error(error, NB_REPLAY_OURS, "no memory");
    reader->implementation = file;
    int status = read_file(file, descriptor, limits, error);
    if (status == NB_REPLAY_OK) {
        nb_tables_fill(file, reader);
        status = check_tables(reader, limits, error);
    }
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
