#include "replay/capture/check.h"

#include <string.h>

#include "replay/base/error.h"
#include "core/wire/record.h"
#include "replay/capture/sha256.h"

enum { ARRAY_MAX = 4096 };

int nb_check_each(struct nb_checker *checker, const char *what, uint32_t count, nb_rule *rule)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *why = rule(checker, i);
        if (why != NULL)
            return nb_error(checker->error, NB_REPLAY_BAD_CAPTURE, "%s %u: %s", what, i, why);
    }
    return NB_REPLAY_OK;
}

bool nb_span_is_inside(const struct nb_reader *reader, struct nb_span span)
{
    return span.bytes == 0 || (span.offset % 8 == 0 && span.offset <= reader->data_bytes &&
                               span.bytes <= reader->data_bytes - span.offset);
}

bool nb_span_is_text(const struct nb_reader *reader, struct nb_span span)
{
    return span.bytes <= NB_STRING_MAX && nb_span_is_inside(reader, span);
}

bool nb_span_is_array(const struct nb_reader *reader, struct nb_span span, size_t element_bytes)
{
    return span.bytes % element_bytes == 0 && span.bytes / element_bytes <= ARRAY_MAX &&
           nb_span_is_inside(reader, span);
}

static const char no_text[] = "a text that is too long, or not in the data";
static const char no_array[] = "an array that is too long, not whole, or not in the data";

static bool is_symbol(const struct nb_reader *reader, struct nb_span name)
{
    return name.bytes != 0 && memchr(reader->data + name.offset, 0, name.bytes) == NULL;
}

static bool has_addresses(uint64_t address, uint64_t bytes)
{
    return address != 0 && bytes != 0 && bytes - 1 <= UINT64_MAX - address;
}

static const char *check_device(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_device *device = &checker->reader->device[index];
    if (device->vendor != NB_CAPTURE_CUDA && device->vendor != NB_CAPTURE_HIP)
        return "a vendor that is not known";
    if (device->arena_bytes != 0 && device->arena_bytes - 1 > UINT64_MAX - device->arena)
        return "an arena that cannot be";
    return nb_span_is_text(checker->reader, device->name) ? NULL : no_text;
}

/* An image of one blob has the blob's hash, which was compared; others are hashed here. How much that is has
 * a bound, as many images may have the same content. */
static bool has_hash(struct nb_checker *checker, const struct nb_capture_image *image)
{
    uint8_t digest[sizeof image->sha256];
    if (image->content.bytes <= NB_BLOB_MAX)
        return memcmp(checker->file->blobs[image->content.first].sha256, image->sha256, sizeof digest) == 0;
    nb_sha256(nb_reader_content(checker->reader, image->content), image->content.bytes, digest);
    return memcmp(digest, image->sha256, sizeof digest) == 0;
}

static const char *check_image(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_image *image = &checker->reader->images[index];
    if (image->format > NB_IMAGE_CODE_OBJECT || image->format == 4)
        return "a format that is not known";
    if (!nb_span_is_text(checker->reader, image->origin))
        return no_text;
    if (image->content.bytes == 0)
        return "no content";
    const char *why = nb_file_check_content(checker->file, image->content);
    if (why != NULL)
        return why;
    if (image->content.bytes > checker->limits->host_bytes - checker->image_bytes)
        return "the images are larger than allowed";
    checker->image_bytes += image->content.bytes;
    return has_hash(checker, image) ? NULL : "its bytes are not those of its SHA-256";
}

static const char *check_module(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_module *module = &checker->reader->modules[index];
    if (module->image >= checker->reader->image_count)
        return "no such image";
    if (module->kind != NB_CAPTURE_MODULE_MODULE && module->kind != NB_CAPTURE_MODULE_LIBRARY)
        return "a kind that is not known";
    return nb_span_is_array(checker->reader, module->options, sizeof(struct nb_capture_option)) ? NULL
                                                                                                : no_array;
}

static const char *check_kernel(struct nb_checker *checker, uint32_t index)
{
    const struct nb_reader *reader = checker->reader;
    const struct nb_capture_kernel *kernel = &reader->kernels[index];
    if (kernel->module >= reader->module_count)
        return "no such module";
    if (!nb_span_is_text(reader, kernel->name))
        return no_text;
    if (!is_symbol(reader, kernel->name))
        return "no name, or one with a NUL in it";
    if (!nb_span_is_array(reader, kernel->layout, sizeof(struct nb_parameter)) ||
        !nb_span_is_array(reader, kernel->attributes, sizeof(struct nb_capture_setting)))
        return no_array;
    if (kernel->parameter_bytes > NB_READER_PARAMETERS_MAX)
        return "more bytes of parameters than can be";
    for (uint64_t at = 0; at < kernel->layout.bytes; at += sizeof(struct nb_parameter)) {
        struct nb_parameter each;
        memcpy(&each, reader->data + kernel->layout.offset + at, sizeof each);
        if ((uint64_t)each.offset + each.size > kernel->parameter_bytes)
            return "a parameter passes the bytes of all";
    }
    return NULL;
}

static const char *check_global(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_global *variable = &checker->reader->globals[index];
    if (variable->module >= checker->reader->module_count)
        return "no such module";
    if (!nb_span_is_text(checker->reader, variable->name))
        return no_text;
    if (!is_symbol(checker->reader, variable->name))
        return "no name, or one with a NUL in it";
    if (!has_addresses(variable->address, variable->bytes))
        return "an address or a size that cannot be";
    const struct nb_content contents[] = {variable->before, variable->after};
    for (int i = 0; i < 2; i++) {
        if (contents[i].bytes != 0 && contents[i].bytes != variable->bytes)
            return "a content of another size";
        const char *why = nb_file_check_content(checker->file, contents[i]);
        if (why != NULL)
            return why;
    }
    return NULL;
}

static const char *check_allocation(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_allocation *allocation = &checker->reader->allocations[index];
    if ((allocation->flags & ~(uint32_t)(NB_CAPTURE_ALLOCATED_BEFORE | NB_CAPTURE_ALLOCATED_AFTER)) != 0)
        return "flags that are not known";
    if (!nb_span_is_text(checker->reader, allocation->call))
        return no_text;
    return has_addresses(allocation->address, allocation->bytes) ? NULL
                                                                 : "an address or a size that cannot be";
}

static const char *check_stream(struct nb_checker *checker, uint32_t index)
{
    const uint32_t kind = checker->reader->streams[index].kind;
    return kind >= NB_CAPTURE_STREAM_LEGACY && kind <= NB_CAPTURE_STREAM_CREATED ? NULL
                                                                                 : "a kind that is not known";
}

static const char *check_refusal(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_refusal *refusal = &checker->reader->refusals[index];
    if (refusal->operation > checker->reader->operation_count)
        return "no such operation";
    if ((refusal->flags & ~(uint32_t)NB_REFUSAL_READ) != 0)
        return "flags that are not known";
    return nb_span_is_text(checker->reader, refusal->call) &&
                   nb_span_is_text(checker->reader, refusal->reason)
               ? NULL
               : no_text;
}

static const char *check_meta(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_meta *meta = &checker->reader->meta[index];
    return nb_span_is_text(checker->reader, meta->key) && nb_span_is_text(checker->reader, meta->value)
               ? NULL
               : no_text;
}

static const char *check_range(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_range *range = &checker->reader->ranges[index];
    if (range->role < NB_CAPTURE_INPUT || range->role > NB_CAPTURE_STATE)
        return "a role that is not known";
    if (!nb_span_is_text(checker->reader, range->name) || !nb_span_is_text(checker->reader, range->type))
        return no_text;
    if (!nb_span_is_array(checker->reader, range->shape, sizeof(uint64_t)))
        return no_array;
    return nb_memory_holds(checker, range->address, range->bytes) ? NULL
                                                                  : "no allocation or variable holds it";
}

int nb_check(struct nb_checker *checker)
{
    const struct nb_reader *reader = checker->reader;
    int status = nb_check_each(checker, "device", 1, check_device);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "stream", reader->stream_count, check_stream);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "meta", reader->meta_count, check_meta);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "image", reader->image_count, check_image);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "module", reader->module_count, check_module);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "kernel", reader->kernel_count, check_kernel);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "global", reader->global_count, check_global);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "allocation", reader->allocation_count, check_allocation);
    if (status == NB_REPLAY_OK)
        status = nb_check_memory(checker);
    if (status == NB_REPLAY_OK)
        status = nb_check_runs(checker);
    if (status == NB_REPLAY_OK)
        status = nb_check_operations(checker);
    if (status == NB_REPLAY_OK)
        status = nb_check_edges(checker);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "refusal", reader->refusal_count, check_refusal);
    if (status == NB_REPLAY_OK)
        status = nb_check_each(checker, "range", reader->range_count, check_range);
    return status;
}
