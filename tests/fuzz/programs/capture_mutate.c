/* Mutate capture files with uncompressed blobs: copy values between fields of tables, then correct every
 * hash, as the author of a hostile capture would. */
#include <string.h>

#include "core/image/sha256.h"
#include "core/wire/capture_format.h"
#include "mutate.h"

/* The offsets of the parts of the unchanged seed file. */
struct parts {
    const unsigned char *original;
    size_t blob_count, section_count, blob_table, section_table;
};

static uint64_t read_field(const unsigned char *bytes, size_t width)
{
    uint64_t value = 0;
    memcpy(&value, bytes, width);
    return value;
}

static struct parts find_parts(const struct text *text)
{
    struct nb_capture header;
    memcpy(&header, text->bytes, sizeof header);
    return (struct parts){text->bytes, header.blob_count, header.section_count, header.blob_offset,
                          header.section_offset};
}

static struct nb_blob read_blob(const unsigned char *bytes, const struct parts *parts, size_t index)
{
    struct nb_blob blob;
    memcpy(&blob, bytes + parts->blob_table + index * sizeof blob, sizeof blob);
    return blob;
}

static struct nb_section read_section(const unsigned char *bytes, const struct parts *parts, size_t index)
{
    struct nb_section section;
    memcpy(&section, bytes + parts->section_table + index * sizeof section, sizeof section);
    return section;
}

/* Finds a table in the file; false for an empty or a large one. */
static bool find_table(const struct input *input, const struct parts *parts, size_t index,
                       struct nb_section *section, size_t *at)
{
    *section = read_section(input->bytes, parts, index);
    if (section->count == 0 || section->element_bytes == 0 || section->count > 4096 ||
        section->first_blob >= parts->blob_count)
        return false;
    const struct nb_blob blob = read_blob(input->bytes, parts, section->first_blob);
    *at = blob.offset;
    return blob.offset <= input->size && section->count * section->element_bytes <= input->size - blob.offset;
}

static bool any_table(const struct input *input, const struct parts *parts, struct random *random,
                      struct nb_section *section, size_t *at)
{
    for (int tries = 0; tries < 20; tries++)
        if (find_table(input, parts, random_below(random, parts->section_count), section, at) &&
            (section->kind != NB_CAPTURE_DATA || random_one_in(random, 8)))
            return true;
    return false;
}

/* Mutates a field of any table: 1, 4 or 8 bytes. */
static bool any_field(const struct input *input, const struct parts *parts, struct random *random,
                      size_t *field, size_t *width)
{
    struct nb_section section;
    size_t at;
    if (!any_table(input, parts, random, &section, &at))
        return false;
    const size_t bytes = section.count * section.element_bytes;
    *width = random_one_in(random, 16) ? 1 : random_one_in(random, 2) ? 4 : 8;
    if (bytes < *width)
        return false;
    *field = at + random_below(random, bytes / *width) * *width;
    return true;
}

static uint64_t any_value(const struct input *input, const struct parts *parts, struct random *random,
                          uint64_t old)
{
    static const uint64_t edges[] = {
        0x7fffffff, 0x80000000, 0xffffffff,         1ull << 32,       1ull << 63,  UINT64_MAX, 4096,
        4097,       16384,      NB_CAPTURE_PAGE,    NB_CAPTURE_ARENA, NB_BLOB_MAX, 65536,      65537,
        1024,       1025,       UINT64_MAX - 4095u, UINT64_MAX - 7};
    size_t field, width;
    switch (random_below(random, 6)) {
    case 0:
        return edges[random_below(random, sizeof edges / sizeof *edges)];
    case 1:
        return random_below(random, 20);
    case 2:
        return old + random_below(random, 33) - 16;
    case 3:
        return old ^ (uint64_t)1 << random_below(random, 64);
    case 4:
        return old * (2 + random_below(random, 3));
    default:
        return any_field(input, parts, random, &field, &width) ? read_field(input->bytes + field, width) : 0;
    }
}

static void change_at(struct input *input, const struct parts *parts, struct random *random, size_t field,
                      size_t width)
{
    if (field > input->size || width > input->size - field)
        return;
    const uint64_t value = any_value(input, parts, random, read_field(input->bytes + field, width));
    memcpy(input->bytes + field, &value, width);
}

static void change_element(struct input *input, const struct parts *parts, struct random *random)
{
    size_t field, width;
    if (any_field(input, parts, random, &field, &width))
        change_at(input, parts, random, field, width);
}

/* Copies an element over another one of its table, or swaps the two. */
static void copy_element(struct input *input, const struct parts *parts, struct random *random)
{
    struct nb_section section;
    unsigned char kept[128];
    size_t at;
    if (!any_table(input, parts, random, &section, &at) || section.element_bytes > sizeof kept)
        return;
    unsigned char *one = input->bytes + at + random_below(random, section.count) * section.element_bytes;
    unsigned char *other = input->bytes + at + random_below(random, section.count) * section.element_bytes;
    memcpy(kept, one, section.element_bytes);
    memcpy(one, other, section.element_bytes);
    if (random_one_in(random, 2))
        memcpy(other, kept, section.element_bytes);
}

/* Adds or removes an element of a table, which moves to the end of the file. */
static void resize_table(struct input *input, const struct parts *parts, struct random *random)
{
    const size_t index = random_below(random, parts->section_count);
    struct nb_section section;
    size_t at;
    if (!find_table(input, parts, index, &section, &at) || section.blob_count != 1)
        return;
    const size_t size = section.element_bytes, from = random_below(random, section.count);
    const size_t bytes = section.count * size, end = (input->size + 7) & ~(size_t)7;
    const bool grows = random_one_in(random, 2);
    unsigned char copy[1 << 14] = {0};
    if (bytes + size > sizeof copy)
        return;
    memcpy(copy, input->bytes + at, bytes);
    if (grows)
        memcpy(copy + bytes, copy + from * size, size);
    else
        memmove(copy + from * size, copy + (from + 1) * size, bytes - (from + 1) * size);
    static const unsigned char zeros[8];
    const size_t now = grows ? bytes + size : bytes - size;
    input_splice(input, input->size, 0, zeros, end - input->size);
    input_splice(input, end, 0, copy, now);
    struct nb_blob blob = read_blob(input->bytes, parts, section.first_blob);
    blob.offset = end;
    blob.raw_bytes = blob.stored_bytes = (uint32_t)now;
    section.count = now / size;
    section.blob_count = now != 0 || random_one_in(random, 2);
    memcpy(input->bytes + parts->blob_table + section.first_blob * sizeof blob, &blob, sizeof blob);
    memcpy(input->bytes + parts->section_table + index * sizeof section, &section, sizeof section);
}

static void change_frame(struct input *input, const struct parts *parts, struct random *random)
{
    static const uint32_t widths[] = {1, 4, 8};
    const size_t width = widths[random_below(random, 3)];
    switch (random_below(random, 4)) {
    case 0: /* the header without its hash */
        change_at(input, parts, random, random_below(random, 48 / width) * width, width);
        break;
    case 1: /* a section entry */
        change_at(input, parts, random,
                  parts->section_table +
                      random_below(random, parts->section_count * sizeof(struct nb_section) / 4) * 4,
                  random_one_in(random, 4) ? 8 : 4);
        break;
    default: /* a blob entry without its hash */
        change_at(input, parts, random,
                  parts->blob_table + random_below(random, parts->blob_count) * sizeof(struct nb_blob) + 32 +
                      random_below(random, 5) * 4,
                  4);
        break;
    }
}

static void change(struct input *input, const struct parts *parts, struct random *random)
{
    switch (random_below(random, 16)) {
    case 0:
        change_frame(input, parts, random);
        break;
    case 1: /* any byte */
        input->bytes[random_below(random, input->size)] = (unsigned char)random_next(random);
        break;
    case 2:
        resize_table(input, parts, random);
        break;
    case 3:
    case 4:
        copy_element(input, parts, random);
        break;
    default:
        change_element(input, parts, random);
        break;
    }
}

/* Corrects the hash of a blob that lies within the file; other hashes are kept. */
static bool hash_blob(const struct input *input, const struct parts *parts, size_t index, uint8_t digest[32])
{
    const struct nb_blob blob = read_blob(input->bytes, parts, index);
    if (blob.compression != 0 || blob.offset > input->size || blob.stored_bytes > input->size - blob.offset)
        return false;
    nb_sha256(input->bytes + blob.offset, blob.stored_bytes, digest);
    return true;
}

static void seal_images(struct input *input, const struct parts *parts)
{
    struct nb_section section;
    size_t at = 0;
    for (size_t i = 0; i < parts->section_count; i++) {
        if (!find_table(input, parts, i, &section, &at) || section.kind != NB_CAPTURE_IMAGE ||
            section.element_bytes != sizeof(struct nb_capture_image))
            continue;
        for (size_t j = 0; j < section.count; j++) {
            struct nb_capture_image image;
            memcpy(&image, input->bytes + at + j * sizeof image, sizeof image);
            if (image.content.first < parts->blob_count)
                (void)hash_blob(input, parts, image.content.first, input->bytes + at + j * sizeof image);
        }
    }
}

static void seal(struct input *input, const struct parts *parts)
{
    enum { FILE_BYTES = 16, HASH = 48 };
    const size_t blob_bytes = parts->blob_count * sizeof(struct nb_blob);
    const size_t section_bytes = parts->section_count * sizeof(struct nb_section);
    if (parts->section_table + section_bytes > input->size)
        return;
    const uint64_t size = input->size;
    memcpy(input->bytes + FILE_BYTES, &size, sizeof size);
    seal_images(input, parts);
    for (size_t i = 0; i < parts->blob_count; i++)
        (void)hash_blob(input, parts, i, input->bytes + parts->blob_table + i * sizeof(struct nb_blob));
    unsigned char tables[1 << 14];
    if (blob_bytes + section_bytes > sizeof tables)
        return;
    memcpy(tables, input->bytes + parts->blob_table, blob_bytes);
    memcpy(tables + blob_bytes, input->bytes + parts->section_table, section_bytes);
    nb_sha256(tables, blob_bytes + section_bytes, input->bytes + HASH);
}

void mutate_capture(const struct text *text, struct random *random, struct input *input)
{
    const struct parts parts = find_parts(text);
    const size_t changes = 1 + random_scale(random, 3);
    for (size_t i = 0; i < changes; i++)
        change(input, &parts, random);
    if (random_one_in(random, 64))
        input->size = random_below(random, input->size + 1);
    if (!random_one_in(random, 32))
        seal(input, &parts);
}
