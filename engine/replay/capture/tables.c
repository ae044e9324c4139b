#include "replay/capture/tables.h"

#include <inttypes.h>
#include <stdbool.h>

#include "replay/base/error.h"

/* By kind. Kinds with 0 bytes are unknown and skipped. */
static const struct kind {
    uint32_t element_bytes;
    const char *name;
} kinds[] = {
    [NB_CAPTURE_DATA] = {1, "data"},
    [NB_CAPTURE_DEVICE] = {sizeof(struct nb_capture_device), "device"},
    [NB_CAPTURE_LIMIT] = {sizeof(struct nb_capture_limit), "limit"},
    [NB_CAPTURE_IMAGE] = {sizeof(struct nb_capture_image), "image"},
    [NB_CAPTURE_MODULE] = {sizeof(struct nb_capture_module), "module"},
    [NB_CAPTURE_KERNEL] = {sizeof(struct nb_capture_kernel), "kernel"},
    [NB_CAPTURE_GLOBAL] = {sizeof(struct nb_capture_global), "global"},
    [NB_CAPTURE_ALLOCATION] = {sizeof(struct nb_capture_allocation), "allocation"},
    [NB_CAPTURE_BEFORE] = {sizeof(struct nb_capture_run), "before"},
    [NB_CAPTURE_AFTER] = {sizeof(struct nb_capture_run), "after"},
    [NB_CAPTURE_STREAM] = {sizeof(struct nb_capture_stream), "stream"},
    [NB_CAPTURE_OPERATION] = {sizeof(struct nb_capture_operation), "operation"},
    [NB_CAPTURE_EDGE] = {sizeof(struct nb_capture_edge), "edge"},
    [NB_CAPTURE_RELOCATION] = {sizeof(struct nb_capture_relocation), "relocation"},
    [NB_CAPTURE_REFUSAL] = {sizeof(struct nb_capture_refusal), "refusal"},
    [NB_CAPTURE_RANGE] = {sizeof(struct nb_capture_range), "range"},
    [NB_CAPTURE_META] = {sizeof(struct nb_capture_meta), "meta"},
    [NB_CAPTURE_END] = {sizeof(struct nb_capture_end), "end"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct nb_section *find(const struct nb_reader_file *file, uint32_t kind)
{
    for (uint32_t i = 0; i < file->header.section_count; i++)
        if (file->sections[i].kind == kind)
            return &file->sections[i];
    return NULL;
}

static const char *check_size(const struct nb_reader_file *file, const struct nb_section *section)
{
    const uint32_t element_bytes = kinds[section->kind].element_bytes;
    if (section->element_bytes != element_bytes)
        return "elements of another size";
    if (section->count > NB_TABLE_MAX / element_bytes)
        return "more bytes than a table may have";
    const uint64_t bytes = section->count * element_bytes;
    if (section->blob_count != (bytes + NB_BLOB_MAX - 1) / NB_BLOB_MAX)
        return "a wrong number of blobs for its bytes";
    return nb_file_check_content(file, (struct nb_content){section->first_blob, bytes});
}

static bool is_known(const struct nb_section *section)
{
    return section->kind < KINDS && kinds[section->kind].element_bytes != 0;
}

/* Whether elements of this kind count towards the limit. Runs of memory are cheap, and data is bytes. */
static bool is_counted(uint32_t kind)
{
    return kind != NB_CAPTURE_DATA && kind != NB_CAPTURE_BEFORE && kind != NB_CAPTURE_AFTER;
}

int nb_tables_check(const struct nb_reader_file *file, uint32_t elements_max, char *error)
{
    uint64_t elements = 0;
    for (uint32_t i = 0; i < file->header.section_count; i++) {
        const struct nb_section *section = &file->sections[i];
        if (find(file, section->kind) != section)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "two sections of kind %u", section->kind);
        if (!is_known(section))
            continue;
        const char *why = check_size(file, section);
        if (why != NULL)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "section %s: %s", kinds[section->kind].name, why);
        elements += is_counted(section->kind) ? section->count : 0;
        if (elements > elements_max)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "more than %u elements", elements_max);
    }
    static const uint32_t ones[] = {NB_CAPTURE_DEVICE, NB_CAPTURE_END};
    for (int i = 0; i < 2; i++) {
        const uint64_t count = nb_tables_count(file, ones[i]);
        if (count != 1)
            return nb_error(error, NB_REPLAY_BAD_CAPTURE, "%" PRIu64 " elements of kind %s instead of one",
                            count, kinds[ones[i]].name);
    }
    return NB_REPLAY_OK;
}

void nb_tables_select(struct nb_reader_file *file)
{
    for (uint32_t i = 0; i < file->header.blob_count; i++)
        file->places[i] = NB_NOT_DECODED;
    for (uint32_t i = 0; i < file->header.section_count; i++) {
        const struct nb_section *section = &file->sections[i];
        for (uint32_t blob = 0; is_known(section) && blob < section->blob_count; blob++)
            file->places[section->first_blob + blob] = 0;
    }
}

uint64_t nb_tables_count(const struct nb_reader_file *file, uint32_t kind)
{
    const struct nb_section *section = find(file, kind);
    return section != NULL ? section->count : 0;
}

struct nb_bytes nb_tables_section(const struct nb_reader_file *file, uint32_t index)
{
    const struct nb_section *section = &file->sections[index];
    if (!is_known(section) || section->count == 0)
        return (struct nb_bytes){NULL, 0};
    return (struct nb_bytes){file->raw + file->places[section->first_blob],
                             section->count * section->element_bytes};
}

/* Tables have at most NB_TABLE_MAX bytes, so their counts are 32-bit numbers. */
static const void *table(const struct nb_reader_file *file, uint32_t kind, uint32_t *count)
{
    const struct nb_section *section = find(file, kind);
    *count = section != NULL ? (uint32_t)section->count : 0;
    return *count != 0 ? file->raw + file->places[section->first_blob] : NULL;
}

void nb_tables_fill(const struct nb_reader_file *file, struct nb_reader *reader)
{
    uint32_t one, data_bytes;
    reader->data = table(file, NB_CAPTURE_DATA, &data_bytes);
    reader->data_bytes = data_bytes;
    reader->device = table(file, NB_CAPTURE_DEVICE, &one);
    reader->limits = table(file, NB_CAPTURE_LIMIT, &reader->limit_count);
    reader->images = table(file, NB_CAPTURE_IMAGE, &reader->image_count);
    reader->modules = table(file, NB_CAPTURE_MODULE, &reader->module_count);
    reader->kernels = table(file, NB_CAPTURE_KERNEL, &reader->kernel_count);
    reader->globals = table(file, NB_CAPTURE_GLOBAL, &reader->global_count);
    reader->allocations = table(file, NB_CAPTURE_ALLOCATION, &reader->allocation_count);
    reader->before = table(file, NB_CAPTURE_BEFORE, &reader->before_count);
    reader->after = table(file, NB_CAPTURE_AFTER, &reader->after_count);
    reader->streams = table(file, NB_CAPTURE_STREAM, &reader->stream_count);
    reader->operations = table(file, NB_CAPTURE_OPERATION, &reader->operation_count);
    reader->edges = table(file, NB_CAPTURE_EDGE, &reader->edge_count);
    reader->relocations = table(file, NB_CAPTURE_RELOCATION, &reader->relocation_count);
    reader->refusals = table(file, NB_CAPTURE_REFUSAL, &reader->refusal_count);
    reader->meta = table(file, NB_CAPTURE_META, &reader->meta_count);
    reader->ranges = table(file, NB_CAPTURE_RANGE, &reader->range_count);
}
