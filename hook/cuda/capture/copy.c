/* Classifies a copy in a region: between device addresses, from the host, or to the host. */
#include "cuda/capture/copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/driver/slots.h"
#include "cuda/capture/host_read.h"
#include "cuda/capture/operation.h"
#include "cuda/capture/place.h"
#include "cuda/capture/refuse.h"
#include "cuda/capture/stream.h"

struct nb_copy nb_copy_of_bytes(uint64_t destination, uint64_t source, size_t bytes, CUstream stream,
                                bool host_waits)
{
    return (struct nb_copy){.destination = {.address = destination, .pitch = bytes, .slice = bytes},
                            .source = {.address = source, .pitch = bytes, .slice = bytes},
                            .width = bytes,
                            .height = 1,
                            .depth = 1,
                            .stream = stream,
                            .host_waits = host_waits};
}

/* One end of a copy: its block begins at (x, y, z) in memory with `pitch` bytes a row and `rows` rows a
 * slice. */
static struct nb_copy_end make_end(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                                   size_t rows, size_t x, size_t y, size_t z)
{
    const uint64_t base = type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device;
    return (struct nb_copy_end){.address = base + x + pitch * (y + rows * z),
                                .pitch = pitch,
                                .slice = pitch * rows,
                                .is_array = type == CU_MEMORYTYPE_ARRAY};
}

struct nb_copy nb_copy_of_plane(const CUDA_MEMCPY2D *from, CUstream stream, bool host_waits)
{
    return (struct nb_copy){
        .destination = make_end(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstPitch,
                                from->Height, from->dstXInBytes, from->dstY, 0),
        .source = make_end(from->srcMemoryType, from->srcHost, from->srcDevice, from->srcPitch, from->Height,
                           from->srcXInBytes, from->srcY, 0),
        .width = from->WidthInBytes,
        .height = from->Height,
        .depth = 1,
        .stream = stream,
        .host_waits = host_waits};
}

struct nb_copy nb_copy_of_volume(const CUDA_MEMCPY3D *from, CUstream stream, bool host_waits)
{
    return (struct nb_copy){
        .destination = make_end(from->dstMemoryType, from->dstHost, from->dstDevice, from->dstPitch,
                                from->dstHeight, from->dstXInBytes, from->dstY, from->dstZ),
        .source = make_end(from->srcMemoryType, from->srcHost, from->srcDevice, from->srcPitch,
                           from->srcHeight, from->srcXInBytes, from->srcY, from->srcZ),
        .width = from->WidthInBytes,
        .height = from->Height,
        .depth = from->Depth,
        .stream = stream,
        .host_waits = host_waits};
}

static uint64_t count_bytes(const struct nb_copy *copy)
{
    return copy->width * copy->height * copy->depth;
}

static bool is_empty(const struct nb_copy *copy)
{
    return copy->width == 0 || copy->height == 0 || copy->depth == 0;
}

static enum nb_place find_place(const struct nb_copy *copy, const struct nb_copy_end *make_end,
                                const char **what)
{
    const struct nb_extent extent = {make_end->address, make_end->pitch, make_end->slice,
                                     copy->width,       copy->height,    copy->depth};
    return nb_capture_find_place(&extent, what);
}

static void refuse_foreign(const struct nb_call *call, const char *direction, const char *what)
{
    char reason[160];
    snprintf(reason, sizeof reason, "copies %s %s, which a capture cannot contain", direction, what);
    nb_capture_refuse(call, reason);
}

static uint32_t refuse_host_read(const struct nb_call *call, const struct nb_copy *copy, const char *why)
{
    char reason[256];
    snprintf(
        reason, sizeof reason,
        "copies %llu bytes of device memory to the host%s; what the program does next may depend on them",
        (unsigned long long)count_bytes(copy), why);
    if (copy->graph == 0)
        nb_capture_refuse_read(call, reason);
    else
        nb_capture_refuse(call, reason); /* launches of the graph follow */
    return NB_NOTHING;
}

static uint32_t append_operation(const struct nb_call *call, const struct nb_copy *copy, const void *content)
{
    const bool uploads = content != NULL;
    const struct nb_piece data = {content, uploads ? count_bytes(copy) : 0};
    struct nb_capture_operation operation = {
        .kind = uploads ? NB_OPERATION_MEMCPY_HTOD : NB_OPERATION_MEMCPY,
        .stream = copy->graph != 0 ? NB_NOTHING : nb_capture_write_stream(call, copy->stream),
        .graph = copy->graph,
        .as.copy = {.destination = copy->destination.address,
                    .destination_pitch = copy->destination.pitch,
                    .destination_slice = copy->destination.slice,
                    .source = uploads ? 0 : copy->source.address,
                    .source_pitch = uploads ? 0 : copy->source.pitch,
                    .source_slice = uploads ? 0 : copy->source.slice,
                    .width = copy->width,
                    .height = copy->height,
                    .depth = copy->depth,
                    .content.bytes = data.bytes}};
    return nb_capture_append_operation(&operation, &data, uploads);
}

/* Return a row of the host's memory, counting through all slices. */
static const unsigned char *find_row(const struct nb_copy *copy, const struct nb_copy_end *host, uint64_t row)
{
    return (const unsigned char *)(uintptr_t)(host->address + row / copy->height * host->slice +
                                              row % copy->height * host->pitch);
}

static void pack(const struct nb_copy *copy, const struct nb_copy_end *host, unsigned char *into)
{
    for (uint64_t row = 0; row < copy->height * copy->depth; row++, into += copy->width)
        memcpy(into, find_row(copy, host, row), copy->width);
}

static uint32_t append_upload(const struct nb_call *call, const struct nb_copy *copy)
{
    const bool is_packed = (copy->height == 1 || copy->source.pitch == copy->width) &&
                           (copy->depth == 1 || copy->source.slice == copy->width * copy->height);
    void *packed = is_packed ? NULL : malloc(count_bytes(copy));
    if (!is_packed && packed == NULL) {
        nb_capture_refuse(call, "copies from the host, but not enough memory is left to keep the bytes");
        return NB_NOTHING;
    }
    if (!is_packed)
        pack(copy, &copy->source, packed);
    const uint32_t index =
        append_operation(call, copy, is_packed ? (const void *)(uintptr_t)copy->source.address : packed);
    free(packed);
    return index;
}

static uint32_t append_packed_read(const struct nb_call *call, const struct nb_copy *copy,
                                   const unsigned char *packed)
{
    const char *name = nb_export_names[call->slot];
    const struct nb_piece data[] = {{name, strlen(name)}, {packed, count_bytes(copy)}};
    struct nb_capture_operation operation = {.kind = NB_OPERATION_MEMCPY_DTOH,
                                             .stream = nb_capture_write_stream(call, copy->stream),
                                             .as.read = {.source = copy->source.address,
                                                         .source_pitch = copy->source.pitch,
                                                         .source_slice = copy->source.slice,
                                                         .width = copy->width,
                                                         .height = copy->height,
                                                         .depth = copy->depth}};
    return nb_capture_append_operation(&operation, data, 2);
}

/* Small copies are kept with the bytes that the host got: a replay repeats them and compares. */
static uint32_t append_read(const struct nb_call *call, const struct nb_copy *copy)
{
    if (copy->graph != 0)
        return refuse_host_read(call, copy, " in a graph");
    if (!nb_host_read_count(count_bytes(copy)))
        return refuse_host_read(call, copy, ", more than a capture keeps (64 KiB in 256 copies)");
    if (!copy->host_waits && !nb_host_read_wait(call, copy->stream))
        return refuse_host_read(call, copy, " in the order of a stream that did not become idle");
    unsigned char *packed = malloc(count_bytes(copy));
    if (packed == NULL)
        return refuse_host_read(call, copy, ", but not enough memory is left to keep them");
    pack(copy, &copy->destination, packed);
    const uint32_t index = append_packed_read(call, copy, packed);
    free(packed);
    return index;
}

static uint32_t append_copy(const struct nb_call *call, const struct nb_copy *copy)
{
    const char *what = NULL;
    uint32_t index = NB_NOTHING;
    const enum nb_place to = find_place(copy, &copy->destination, &what);
    if (to == NB_PLACE_FOREIGN) {
        refuse_foreign(call, "to", what);
        return NB_NOTHING;
    }
    const enum nb_place from = find_place(copy, &copy->source, &what);
    if (from == NB_PLACE_FOREIGN)
        refuse_foreign(call, "from", what);
    else if (from == NB_PLACE_CAPTURED && to == NB_PLACE_CAPTURED)
        index = append_operation(call, copy, NULL);
    else if (from == NB_PLACE_CAPTURED)
        index = append_read(call, copy);
    else if (to == NB_PLACE_CAPTURED)
        index = append_upload(call, copy);
    else if (!copy->host_waits)
        nb_capture_refuse(call, "copies host memory in stream order, which is not recorded");
    /* For copies between device addresses the host does not wait (CUDA driver API, API synchronization
     * behavior). */
    if (copy->host_waits && (to == NB_PLACE_HOST || from == NB_PLACE_HOST))
        nb_capture_synchronize(nb_capture_write_stream(call, copy->stream));
    return index;
}

uint32_t nb_capture_copy(const struct nb_call *call, struct nb_copy copy)
{
    const int saved = errno;
    uint32_t index = NB_NOTHING;
    if (copy.destination.is_array || copy.source.is_array)
        nb_capture_refuse(call, "uses an array, which a capture cannot contain");
    else if (!is_empty(&copy))
        index = append_copy(call, &copy);
    errno = saved;
    return index;
}

uint64_t nb_capture_hash_copy_source(const struct nb_copy *copy)
{
    const char *what;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    if (copy->source.is_array || is_empty(copy) || find_place(copy, &copy->source, &what) != NB_PLACE_HOST)
        return 0;
    for (uint64_t row = 0; row < copy->height * copy->depth; row++) {
        const unsigned char *bytes = find_row(copy, &copy->source, row);
        for (uint64_t i = 0; i < copy->width; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash | 1;
}
