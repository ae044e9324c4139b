/* Globals that an image has and the capture does not list.
 *
 * The captured process wrote the list, so it may omit a global in which a kernel keeps results. Therefore the
 * names come from the images, and sizes and addresses from the driver. Such a global begins every sample with
 * the content that the driver gave it when it loaded the module. */
#include <stdlib.h>
#include <string.h>

#include "core/image/fatbin.h"
#include "core/image/image_globals.h"
#include "replay/base/engine.h"
#include "replay/rebuild/code.h"

/* Far above the 3,000 globals of the largest image seen. Each one costs a copy before each sample. */
enum { UNLISTED_MAX = 1 << 16 };

struct search {
    struct nb_replay *replay;
    struct nb_code_copy *copy;
    const struct nb_code_module *module;
    uint32_t room;
    int status;
    const char *problem; /* why globals may exist that were not found */
};

/* ---- finding ------------------------------------------------------------------------------------------- */

static int append(struct search *search, const struct nb_code_global *global)
{
    struct nb_code_copy *copy = search->copy;
    if (copy->unlisted_count == UNLISTED_MAX)
        return nb_fail(search->replay, NB_REPLAY_CANNOT,
                       "the images have more than %d globals that the capture does not list", UNLISTED_MAX);
    if (copy->unlisted_count == search->room) {
        const uint32_t room = search->room == 0 ? 16 : 2 * search->room;
        struct nb_code_global *grown = realloc(copy->unlisted, room * sizeof *grown);
        if (grown == NULL)
            return nb_fail(search->replay, NB_REPLAY_CANNOT, "out of host memory");
        copy->unlisted = grown;
        search->room = room;
    }
    copy->unlisted[copy->unlisted_count++] = *global;
    return NB_REPLAY_OK;
}

static void visit(const char *name, bool managed, void *context)
{
    (void)managed;
    struct search *search = context;
    size_t bytes = 0;
    struct nb_code_global global = {0};
    if (search->status != NB_REPLAY_OK)
        return;
    const CUresult result =
        nb_code_find_global(search->replay, search->module, name, &global.address, &bytes);
    if (result != CUDA_SUCCESS)
        search->problem = "the driver does not find one of its globals";
    global.bytes = bytes;
    if (result == CUDA_SUCCESS && bytes != 0)
        search->status = append(search, &global);
}

/* The driver drops variables of PTX that no kernel uses, so that it finds fewer names than the text has. */
static bool is_text(const uint8_t *image, uint64_t bytes)
{
    static const uint8_t elf[] = {0x7f, 'E', 'L', 'F'};
    const uint32_t fatbin = NB_FATBIN_MAGIC;
    return bytes < sizeof elf ||
           (memcmp(image, elf, sizeof elf) != 0 && memcmp(image, &fatbin, sizeof fatbin) != 0);
}

static int search_module(struct search *search, uint32_t index)
{
    struct nb_replay *replay = search->replay;
    const struct nb_reader *reader = &replay->reader;
    const struct nb_content content = reader->images[reader->modules[index].image].content;
    const uint32_t architecture = 10 * replay->facts.compute_major + replay->facts.compute_minor;
    const void *image = nb_reader_content(reader, content);
    search->module = &search->copy->modules[index];
    search->problem = NULL;
    const char *problem = nb_image_globals(image, content.bytes, architecture, visit, search);
    if (problem == NULL && !is_text(image, content.bytes))
        problem = search->problem;
    /* The header of an entry claims which device it is for. The driver decides, and knows the names of the
     * one that it took. */
    const char *other = nb_image_other_globals(image, content.bytes, architecture, visit, search);
    if (problem == NULL)
        problem = other;
    if (problem != NULL && search->copy == replay->code.copies) {
        replay->code.unknown_globals = true;
        nb_note(replay, "module %u may have globals that are not restored: %s", index, problem);
    }
    return search->status;
}

/* ---- every byte has one name --------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const struct nb_code_global *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes); /* the longer one first */
}

/* The captured globals by their addresses here. Two names for a byte, or a global in captured memory, would
 * let an input and an output be one memory. */
static int check_places(struct nb_replay *replay, const struct nb_code_global *sorted)
{
    const struct nb_memory *memory = &replay->memory;
    for (uint32_t i = 1; i < replay->reader.global_count; i++)
        if (sorted[i].address - sorted[i - 1].address < sorted[i - 1].bytes)
            return nb_fail(replay, NB_REPLAY_BAD_CAPTURE,
                           "two globals of the capture are one memory here, at 0x%llx",
                           (unsigned long long)sorted[i].address);
    for (uint32_t i = 0; i < replay->reader.global_count; i++)
        for (uint32_t j = 0; j < memory->reservation_count; j++) {
            const struct nb_reservation *reserved = &memory->reservations[j];
            if (sorted[i].address < reserved->address + reserved->bytes &&
                reserved->address < sorted[i].address + sorted[i].bytes)
                return nb_fail(replay, NB_REPLAY_BAD_CAPTURE, "a global lies in captured memory, at 0x%llx",
                               (unsigned long long)sorted[i].address);
        }
    return NB_REPLAY_OK;
}

static bool is_listed(const struct nb_code_global *sorted, uint32_t count,
                      const struct nb_code_global *global)
{
    uint32_t low = 0, high = count; /* the first one that begins behind the global */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sorted[middle].address <= global->address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const uint64_t offset = global->address - sorted[low - 1].address;
    return offset < sorted[low - 1].bytes && global->bytes <= sorted[low - 1].bytes - offset;
}

/* Drop the globals that the capture lists, and further names of a global. */
static void keep_unlisted(struct nb_code_copy *copy, const struct nb_code_global *sorted, uint32_t count)
{
    uint32_t kept = 0;
    if (copy->unlisted_count != 0)
        qsort(copy->unlisted, copy->unlisted_count, sizeof *copy->unlisted, by_place);
    for (uint32_t i = 0; i < copy->unlisted_count; i++) {
        const struct nb_code_global *global = &copy->unlisted[i];
        if (!is_listed(sorted, count, global) && !is_listed(copy->unlisted, kept, global))
            copy->unlisted[kept++] = *global;
    }
    copy->unlisted_count = kept;
}

int nb_unlisted_find(struct nb_replay *replay, struct nb_code_copy *copy)
{
    const uint32_t count = replay->reader.global_count;
    struct search search = {.replay = replay, .copy = copy, .status = NB_REPLAY_OK};
    for (uint32_t i = 0; i < replay->reader.module_count; i++)
        NB_TRY(search_module(&search, i));
    struct nb_code_global *sorted = nb_new(replay, count, sizeof *sorted);
    if (sorted == NULL && count != 0)
        return NB_REPLAY_CANNOT;
    if (count != 0) {
        memcpy(sorted, copy->globals, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_place);
    }
    const int status = check_places(replay, sorted);
    if (status == NB_REPLAY_OK)
        keep_unlisted(copy, sorted, count);
    free(sorted);
    return status;
}

/* ---- restoring ----------------------------------------------------------------------------------------- */

uint64_t nb_unlisted_plan(struct nb_replay *replay, uint64_t end)
{
    for (uint32_t i = 0; i < replay->code.copy_count; i++)
        for (uint32_t j = 0; j < replay->code.copies[i].unlisted_count; j++) {
            struct nb_code_global *global = &replay->code.copies[i].unlisted[j];
            global->shadow = end;
            end += (global->bytes + 255) & ~UINT64_C(255);
        }
    return end;
}

int nb_unlisted_keep(struct nb_replay *replay)
{
    for (uint32_t i = 0; i < replay->code.copy_count; i++)
        for (uint32_t j = 0; j < replay->code.copies[i].unlisted_count; j++) {
            const struct nb_code_global *global = &replay->code.copies[i].unlisted[j];
            NB_TRY(NB_CALL(replay, cuMemcpyDtoDAsync_v2, replay->memory.shadow + global->shadow,
                           global->address, (size_t)global->bytes, replay->streams.timed));
        }
    return NB_REPLAY_OK;
}

int nb_unlisted_restore(struct nb_replay *replay, uint32_t copy, CUstream stream)
{
    for (uint32_t i = 0; i < replay->code.copies[copy].unlisted_count; i++) {
        const struct nb_code_global *global = &replay->code.copies[copy].unlisted[i];
        NB_TRY(NB_CALL(replay, cuMemcpyDtoDAsync_v2, global->address, replay->memory.shadow + global->shadow,
                       (size_t)global->bytes, stream));
    }
    return NB_REPLAY_OK;
}
