/* The rules of elements that refer to other elements by index alone. */
#include <string.h>

#include "core/image/sha256.h"
#include "core/wire/record.h"
#include "replay/base/error.h"
#include "replay/capture/check.h"

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
        return "an unknown vendor";
    if (device->arena_bytes != 0 && device->arena_bytes - 1 > UINT64_MAX - device->arena)
        return "an arena beyond the address space";
    return nb_span_is_text(checker->reader, device->name) ? NULL : nb_no_text;
}

/* The hash of an image in one blob is the blob's, which was checked. Larger images are hashed here, up to a
 * total, because many images may share one content. */
static bool has_hash(struct nb_checker *checker, const struct nb_capture_image *image)
{
    uint8_t digest[sizeof image->sha256];
    if (image->content.bytes <= NB_BLOB_MAX)
        return memcmp(checker->file->blobs[image->content.first].sha256, image->sha256, sizeof digest) == 0;
    if (checker->file->tables_only)
        return true; /* Capture.image compares the hash */
    nb_sha256(nb_reader_content(checker->reader, image->content), image->content.bytes, digest);
    return memcmp(digest, image->sha256, sizeof digest) == 0;
}

static const char *check_image(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_image *image = &checker->reader->images[index];
    if (image->format > NB_IMAGE_CODE_OBJECT || image->format == 4)
        return "an unknown format";
    if (!nb_span_is_text(checker->reader, image->origin))
        return nb_no_text;
    if (image->content.bytes == 0)
        return "no content";
    const char *why = nb_file_check_content(checker->file, image->content);
    if (why != NULL)
        return why;
    if (!checker->file->tables_only) {
        if (image->content.bytes > checker->limits->host_bytes - checker->image_bytes)
            return "the images are larger than allowed";
        checker->image_bytes += image->content.bytes;
    }
    return has_hash(checker, image) ? NULL : "its bytes do not match its SHA-256";
}

static const char *check_module(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_module *module = &checker->reader->modules[index];
    if (module->image >= checker->reader->image_count)
        return "no such image";
    if (module->kind != NB_CAPTURE_MODULE_MODULE && module->kind != NB_CAPTURE_MODULE_LIBRARY)
        return "an unknown kind";
    return nb_span_is_array(checker->reader, module->options, sizeof(struct nb_capture_option)) ? NULL
                                                                                                : nb_no_array;
}

static const char *check_kernel(struct nb_checker *checker, uint32_t index)
{
    const struct nb_reader *reader = checker->reader;
    const struct nb_capture_kernel *kernel = &reader->kernels[index];
    if (kernel->module >= reader->module_count)
        return "no such module";
    if (!nb_span_is_text(reader, kernel->name))
        return nb_no_text;
    if (!is_symbol(reader, kernel->name))
        return "an empty name, or a NUL in the name";
    if (!nb_span_is_array(reader, kernel->layout, sizeof(struct nb_parameter)) ||
        !nb_span_is_array(reader, kernel->attributes, sizeof(struct nb_capture_setting)))
        return nb_no_array;
    if (kernel->parameter_bytes > NB_READER_PARAMETERS_MAX)
        return "more than 65536 bytes of parameters";
    for (uint64_t at = 0; at < kernel->layout.bytes; at += sizeof(struct nb_parameter)) {
        struct nb_parameter each;
        memcpy(&each, reader->data + kernel->layout.offset + at, sizeof each);
        if ((uint64_t)each.offset + each.size > kernel->parameter_bytes)
            return "a parameter ends behind the bytes of all parameters";
    }
    return NULL;
}

static const char *check_global(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_global *global = &checker->reader->globals[index];
    if (global->module >= checker->reader->module_count)
        return "no such module";
    if (!nb_span_is_text(checker->reader, global->name))
        return nb_no_text;
    if (!is_symbol(checker->reader, global->name))
        return "an empty name, or a NUL in the name";
    if (!has_addresses(global->address, global->bytes))
        return "an invalid address or size";
    const struct nb_content contents[] = {global->before, global->after};
    for (int i = 0; i < 2; i++) {
        if (contents[i].bytes != 0 && contents[i].bytes != global->bytes)
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
    const uint32_t known = NB_CAPTURE_ALLOCATED_BEFORE | NB_CAPTURE_ALLOCATED_AFTER |
                           NB_CAPTURE_ALLOCATED_BEFORE_UNKNOWN | NB_CAPTURE_ALLOCATED_AFTER_UNKNOWN;
    if ((allocation->flags & ~known) != 0)
        return "unknown flags";
    if (!nb_span_is_text(checker->reader, allocation->call))
        return nb_no_text;
    return has_addresses(allocation->address, allocation->bytes) ? NULL : "an invalid address or size";
}

static const char *check_stream(struct nb_checker *checker, uint32_t index)
{
    const uint32_t kind = checker->reader->streams[index].kind;
    return kind >= NB_CAPTURE_STREAM_LEGACY && kind <= NB_CAPTURE_STREAM_CREATED ? NULL : "an unknown kind";
}

static const char *check_meta(struct nb_checker *checker, uint32_t index)
{
    const struct nb_capture_meta *meta = &checker->reader->meta[index];
    return nb_span_is_text(checker->reader, meta->key) && nb_span_is_text(checker->reader, meta->value)
               ? NULL
               : nb_no_text;
}

int nb_check_elements(struct nb_checker *checker)
{
    const struct nb_reader *reader = checker->reader;
    const struct {
        const char *name;
        uint32_t count;
        nb_rule *rule;
    } tables[] = {
        {"device", 1, check_device},
        {"stream", reader->stream_count, check_stream},
        {"meta", reader->meta_count, check_meta},
        {"image", reader->image_count, check_image},
        {"module", reader->module_count, check_module},
        {"kernel", reader->kernel_count, check_kernel},
        {"global", reader->global_count, check_global},
        {"allocation", reader->allocation_count, check_allocation},
    };
    int status = NB_REPLAY_OK;
    for (size_t i = 0; status == NB_REPLAY_OK && i < sizeof tables / sizeof *tables; i++)
        status = nb_check_each(checker, tables[i].name, tables[i].count, tables[i].rule);
    return status;
}
