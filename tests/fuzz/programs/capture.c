/* The engine's reader of captures, decoding in this process. Every byte of an accepted capture is read. */
#include "replay/capture/reader.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/base/error.h"
#include "replay/capture/decode.h"
#include "replay/capture/file.h"
#include "target.h"

const enum style target_style = STYLE_CAPTURE;
const char *const target_outcomes[OUTCOMES] = {"accepted", "refused", "no memory"};

static struct nb_codec codec;
static int file;

/* Allocated once, before allocations are counted. */
__attribute__((constructor)) static void prepare(void)
{
    char error[NB_REPLAY_TEXT];
    file = memfd_create("capture", MFD_CLOEXEC);
    if (file < 0 || nb_codec_open(&codec, error) != NB_REPLAY_OK)
        abort();
}

/* Replaces reader_raw.c. Each stored blob is in a block of exactly its size, and gaps between raw blobs are
 * poisoned. */
int nb_file_decode(struct nb_reader_file *capture, uint32_t decoders, char *error)
{
    (void)decoders;
    if (capture->raw_bytes == 0)
        return NB_REPLAY_OK;
    capture->raw = aligned_alloc(NB_DECODE_ALIGNMENT, capture->raw_bytes);
    if (capture->raw == NULL)
        return nb_error(error, NB_REPLAY_OURS, "no memory");
    for (uint32_t i = 0; i < capture->header.blob_count; i++) {
        if (capture->places[i] == NB_NOT_DECODED)
            continue;
        const struct nb_blob *blob = &capture->blobs[i];
        uint8_t *raw = capture->raw + capture->places[i];
        uint8_t *stored = malloc(blob->stored_bytes);
        if (stored == NULL ||
            pread(file, stored, blob->stored_bytes, (off_t)blob->offset) != (ssize_t)blob->stored_bytes)
            finding("blob %u was said to be in the file", i);
        const enum nb_decode_outcome outcome = nb_decode_blob(&codec, blob, stored, raw);
        free(stored);
        if (outcome != NB_DECODE_DONE)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "blob %u %s", i, nb_decode_reason(outcome));
        const size_t gap =
            (NB_DECODE_ALIGNMENT - blob->raw_bytes % NB_DECODE_ALIGNMENT) % NB_DECODE_ALIGNMENT;
        ASAN_POISON_MEMORY_REGION(raw + blob->raw_bytes, gap);
    }
    return NB_REPLAY_OK;
}

void nb_file_free_raw(struct nb_reader_file *capture)
{
    if (capture->raw != NULL)
        ASAN_UNPOISON_MEMORY_REGION(capture->raw, capture->raw_bytes);
    free(capture->raw);
}

static unsigned touched;

static void touch(const void *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        touched += ((const uint8_t *)bytes)[i];
}

static void touch_content(const struct nb_reader *reader, struct nb_content content)
{
    if (content.bytes != 0) {
        const uint8_t *bytes = nb_reader_content(reader, content);
        touch(bytes, content.bytes < 4096 ? content.bytes : 4096);
        touch(bytes + content.bytes - 1, 1);
    }
}

static void touch_span(const struct nb_reader *reader, struct nb_span span)
{
    char text[40];
    if (span.bytes != 0)
        touch(reader->data + span.offset, span.bytes);
    nb_reader_text(reader, span, text, sizeof text);
    if (strlen(text) >= sizeof text)
        finding("a text without an end");
}

static void touch_operations(const struct nb_reader *reader)
{
    for (uint32_t i = 0; i < reader->operation_count; i++) {
        const struct nb_capture_operation *operation = &reader->operations[i];
        if (operation->graph > reader->graph_count)
            finding("operation %u is of graph %u", i, operation->graph);
        if (operation->kind == NB_OPERATION_KERNEL) {
            const struct nb_capture_kernel *kernel = &reader->kernels[operation->as.launch.kernel];
            const struct nb_capture_module *module = &reader->modules[kernel->module];
            touch_content(reader, reader->images[module->image].content);
            touch_span(reader, operation->as.launch.parameters);
            touch_span(reader, operation->as.launch.attributes);
        } else if (operation->kind == NB_OPERATION_MEMCPY_HTOD) {
            touch_content(reader, operation->as.copy.content);
        } else if (operation->kind == NB_OPERATION_MEMCPY_DTOH) {
            touch_span(reader, operation->as.read.call);
            touch_content(reader, operation->as.read.content);
        } else if (operation->kind == NB_OPERATION_EVENT_WAIT &&
                   operation->as.event.event >= reader->event_count) {
            finding("operation %u waits for event %u", i, operation->as.event.event);
        }
    }
    for (uint32_t i = 0; i < reader->relocation_count; i++) {
        const struct nb_capture_relocation *each = &reader->relocations[i];
        touch(reader->data + reader->operations[each->operation].as.launch.parameters.offset + each->offset,
              8);
        touch(&reader->globals[each->global], sizeof *reader->globals);
    }
    for (uint32_t i = 0; i < reader->edge_count; i++)
        if (reader->operations[reader->edges[i].from].graph != reader->operations[reader->edges[i].to].graph)
            finding("edge %u leaves its graph", i);
}

static void touch_all(const struct nb_reader *reader)
{
    touch_span(reader, reader->device->name);
    for (uint32_t i = 0; i < reader->kernel_count; i++) {
        touch_span(reader, reader->kernels[i].name);
        touch_span(reader, reader->kernels[i].layout);
        touch_span(reader, reader->kernels[i].attributes);
    }
    for (uint32_t i = 0; i < reader->module_count; i++)
        touch_span(reader, reader->modules[i].options);
    for (uint32_t i = 0; i < reader->global_count; i++) {
        touch_span(reader, reader->globals[i].name);
        touch_content(reader, reader->globals[i].before);
        touch_content(reader, reader->globals[i].after);
    }
    for (uint32_t i = 0; i < reader->before_count; i++)
        touch_content(reader, reader->before[i].content);
    for (uint32_t i = 0; i < reader->after_count; i++)
        touch_content(reader, reader->after[i].content);
    for (uint32_t i = 0; i < reader->range_count; i++)
        touch_span(reader, reader->ranges[i].shape);
    for (uint32_t i = 0; i < reader->refusal_count; i++)
        touch_span(reader, reader->refusals[i].reason);
    for (uint32_t i = 0; i < reader->meta_count; i++)
        touch_span(reader, reader->meta[i].value);
    touch_operations(reader);
}

/* The validator's mode: it must accept every capture that the full reader accepts. */
static int read_tables(const struct nb_replay_limits *limits, char *error)
{
    struct nb_reader reader;
    int status = nb_reader_begin(file, true, limits, &reader, error);
    if (status == NB_REPLAY_OK)
        status = nb_file_decode(reader.implementation, 1, error);
    if (status == NB_REPLAY_OK)
        status = nb_reader_finish(&reader, limits, error);
    nb_reader_close(&reader);
    return status;
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    static const struct nb_replay_limits limits = {64 << 20, UINT64_MAX, 1 << 20, 1};
    if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != (ssize_t)size)
        finding("no file");
    struct nb_reader reader;
    char error[NB_REPLAY_TEXT] = "";
    const int status = nb_reader_open(file, &limits, &reader, error);
    if (status == NB_REPLAY_OK)
        touch_all(&reader);
    else if (error[0] == 0 || strchr(error, '\n') != NULL)
        finding("refused without a line");
    nb_reader_close(&reader);
    char line[NB_REPLAY_TEXT] = "";
    if (read_tables(&limits, line) != NB_REPLAY_OK && status == NB_REPLAY_OK)
        finding("accepted whole, but its tables alone are refused: %s", line);
    if (getenv("FUZZ_SILENT") == NULL && status != NB_REPLAY_OK)
        fprintf(stderr, "%s\n", error);
    return status == NB_REPLAY_OK ? 0 : status == NB_REPLAY_BAD_CAPTURE ? 1 : 2;
}
