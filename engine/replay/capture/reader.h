/* A capture, read and checked, so that the rest of the engine can rely on it.
 *
 * Blobs are decompressed by processes under seccomp into shared memory, which is read after those have ended.
 * After nb_reader_open every index, span, address and size is in bounds, and every blob has the hash that the
 * file names: kernels name modules that exist, launches kernels, spans lie in `data`, contents in blobs, runs
 * and ranges in allocations, operations in a graph form no cycle, events are recorded before they are waited
 * for, and launched graphs have nodes. docs/formats.md lists the rules. A span of 0 bytes may have any
 * offset, and a content of 0 bytes any first blob. */
#ifndef NEUTRINO_READER_H
#define NEUTRINO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/wire/capture_format.h"
#include "replay/replay.h"

/* The tables of the file; a missing table has count 0. */
struct nb_reader {
    const struct nb_capture_device *device;
    const struct nb_capture_limit *limits;
    const struct nb_capture_image *images;
    const struct nb_capture_module *modules;
    const struct nb_capture_kernel *kernels;
    const struct nb_capture_global *globals;
    const struct nb_capture_allocation *allocations;
    const struct nb_capture_run *before, *after;
    const struct nb_capture_stream *streams;
    const struct nb_capture_operation *operations;
    const struct nb_capture_edge *edges;
    const struct nb_capture_relocation *relocations;
    const struct nb_capture_refusal *refusals;
    const struct nb_capture_range *ranges;
    const struct nb_capture_meta *meta;
    uint32_t limit_count, image_count, module_count, kernel_count, global_count, allocation_count;
    uint32_t before_count, after_count, stream_count, operation_count, edge_count, relocation_count;
    uint32_t refusal_count, range_count, meta_count;
    uint32_t event_count, graph_count; /* events are 0 .. event_count - 1, graphs 1 .. graph_count */
    const uint8_t *data;               /* the bytes that spans refer to */
    uint64_t data_bytes;
    void *implementation;
};

/* Reads a whole capture. Returns an enum nb_replay_status. */
int nb_reader_open(int descriptor, const struct nb_replay_limits *limits, struct nb_reader *reader,
                   char *error) __attribute__((visibility("hidden")));
/* The steps of nb_reader_open before and after decoding, for callers that decode by themselves. With
 * `tables_only` only the tables are decoded, and contents are checked for their sizes alone. Close the reader
 * in any case. */
int nb_reader_begin(int descriptor, bool tables_only, const struct nb_replay_limits *limits,
                    struct nb_reader *reader, char *error) __attribute__((visibility("hidden")));
int nb_reader_finish(struct nb_reader *reader, const struct nb_replay_limits *limits, char *error)
    __attribute__((visibility("hidden")));

void nb_reader_close(struct nb_reader *reader) __attribute__((visibility("hidden")));

/* Whether a refusal prevents a replay. */
bool nb_reader_is_refused(const struct nb_reader *reader) __attribute__((visibility("hidden")));

/* The bytes of a content, in one piece. NULL only if content.bytes is 0. */
const void *nb_reader_content(const struct nb_reader *reader, struct nb_content content)
    __attribute__((visibility("hidden")));

/* Copy a span as text to `into`: cut to `room` with a mark at its end, unprintable bytes replaced. */
void nb_reader_text(const struct nb_reader *reader, struct nb_span span, char *into, size_t room)
    __attribute__((visibility("hidden")));

/* Whether an allocation has one of these flags, of enum nb_capture_allocation_flag. */
bool nb_reader_has_allocation(const struct nb_reader *reader, uint32_t flags)
    __attribute__((visibility("hidden")));

#endif
