#include "cuda/probe/allocations.h"

#include <errno.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/image/image_globals.h"
#include "core/probe/mailbox.h"
#include "core/region/region.h"
#include "cuda/memory/foreign.h"
#include "cuda/probe/device.h"
#include "real.h"
#include "surface.h"

/* Other threads may allocate between the count and the fill. */
enum { SPARE_ROWS = 16 };

struct fill {
    struct nb_probe_table *table;
    uint64_t room; /* rows */
    uint64_t stream;
    uint64_t missing;
};

uint64_t nb_probe_table_bytes(uint64_t capacity)
{
    const uint64_t rows = nb_foreign_count() + SPARE_ROWS;
    const uint64_t needed = sizeof(struct nb_probe_table) + rows * sizeof(struct nb_probe_row);
    return needed < capacity ? needed : capacity;
}

static void visit(const struct nb_foreign *memory, void *context)
{
    struct fill *fill = context;
    const bool is_freed = memory->free.time != 0;
    if (is_freed && memory->free.stream != 0 && memory->free.stream == fill->stream)
        return;
    if (fill->table->count == fill->room) {
        fill->missing++;
        return;
    }
    struct nb_probe_row *rows = (struct nb_probe_row *)(fill->table + 1);
    rows[fill->table->count++] = (struct nb_probe_row){.address = memory->address,
                                                       .bytes = memory->bytes,
                                                       .number = memory->number,
                                                       .flags = (memory->is_host ? NB_PROBE_HOST : 0u) |
                                                                (is_freed ? NB_PROBE_IN_FLIGHT : 0u)};
}

void nb_probe_fill_table(void *table, uint64_t bytes, uint64_t stream, bool is_pageable)
{
    struct fill fill = {
        .table = table,
        .room = (bytes - sizeof(struct nb_probe_table)) / sizeof(struct nb_probe_row),
        .stream = stream,
        /* In a captured program, memory is in the arena. */
        .missing = nb_capture_enabled() ? UINT32_MAX : nb_foreign_missed(),
    };
    memset(table, 0, bytes);
    fill.table->flags = is_pageable ? NB_PROBE_PAGEABLE : 0;
    nb_foreign_each(visit, &fill);
    fill.table->missing = fill.missing < UINT32_MAX ? (uint32_t)fill.missing : UINT32_MAX;
}

static void visit_global(const char *name, bool managed, void *context)
{
    CUdeviceptr address = 0;
    size_t bytes = 0;
    (void)managed;
    if (NB_REAL(cuModuleGetGlobal_v2)(&address, &bytes, context, name) == CUDA_SUCCESS)
        nb_foreign_add(address, bytes, "a global");
}

void nb_probe_add_globals(const struct nb_binary *binary, CUmodule module)
{
    const int saved = errno;
    if (binary->kept == NULL ||
        nb_image_globals(binary->kept, binary->bytes, nb_device_capability(), visit_global, module) != NULL)
        nb_foreign_miss();
    errno = saved;
}
