/* Encrypts a case's inputs and expected values, and uploads them.
 *
 * Through pinned memory of the loop, so that no staging buffer of the driver keeps them; it is wiped and
 * freed. */
#include "inline/upload.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inline/arena.h"
#include "inline/keystream.h"

enum {
    CHUNK_BYTES = 8 << 20,
    STAGING_BYTES = CHUNK_BYTES + 4 * NB_BLOCK_BYTES,
    FREE_SHARE = 2 /* at most 1/2 of free memory holds secrets */
};

struct staging {
    struct nb_session *session;
    void *memory;
};

static bool read_all(int file, void *into, uint64_t bytes, uint64_t offset)
{
    unsigned char *at = into;
    while (bytes > 0) {
        const ssize_t read_bytes = pread(file, at, (size_t)bytes, (off_t)offset);
        if (read_bytes <= 0)
            return false;
        at += read_bytes;
        bytes -= (uint64_t)read_bytes;
        offset += (uint64_t)read_bytes;
    }
    return true;
}

/* Source, target and key of a part of a set. */
struct part {
    int file;
    uint64_t offset, bytes;
    CUdeviceptr to;
    const struct nb_key *key;
    uint64_t stream;
};

static int bring(const struct staging *staging, const struct part *part)
{
    const struct nb_driver *driver = &staging->session->driver;
    for (uint64_t done = 0; done < part->bytes; done += CHUNK_BYTES) {
        const uint64_t remaining = part->bytes - done,
                       size = remaining < CHUNK_BYTES ? remaining : CHUNK_BYTES;
        const uint64_t whole = (size + NB_BLOCK_BYTES - 1) / NB_BLOCK_BYTES * NB_BLOCK_BYTES;
        if (!read_all(part->file, staging->memory, size, part->offset + done))
            return CUDA_ERROR_INVALID_VALUE;
        nb_keystream(staging->memory, size, part->key, part->stream, done / NB_BLOCK_BYTES);
        NB_TRY(driver->cuMemcpyHtoDAsync_v2(part->to + done, staging->memory, (size_t)whole, NULL));
        NB_TRY(driver->cuCtxSynchronize());
    }
    return 0;
}

static int bring_set(const struct staging *staging, const struct nb_inline_case *loading,
                     struct nb_case *kept, uint32_t set)
{
    for (uint32_t i = 0; i < kept->count; i++) {
        const struct nb_inline_buffer *buffer = &kept->buffers[i];
        const uint64_t given = set * kept->inputs_stride + buffer->given;
        const uint64_t expected = set * kept->expected_stride + buffer->expected;
        const struct part input = {
            .file = loading->inputs,
            .offset = given,
            .bytes = buffer->is_read != 0 ? buffer->bytes : 0,
            .to = kept->inputs + given,
            .key = &kept->keys[set].inputs,
            .stream = i,
        };
        const struct part output = {
            .file = loading->expected,
            .offset = expected,
            .bytes = buffer->is_checked != 0 ? buffer->slots * nb_dtype_bytes(buffer->expected_dtype) : 0,
            .to = kept->expected + expected,
            .key = &kept->keys[set].expected,
            .stream = i,
        };
        NB_TRY(bring(staging, &input));
        NB_TRY(bring(staging, &output));
    }
    return 0;
}

unsigned nb_dtype_bytes(uint32_t dtype)
{
    static const unsigned char bytes[NB_DTYPES] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 8, 4, 2, 1, 1};
    return dtype < NB_DTYPES ? bytes[dtype] : 0;
}

static bool is_sound(const struct nb_inline_buffer *buffer, const struct nb_inline_case *loading)
{
    const unsigned expected_bytes = nb_dtype_bytes(buffer->expected_dtype);
    if (nb_dtype_bytes(buffer->dtype) == 0 || expected_bytes == 0 || buffer->dimensions > NB_DIMENSIONS_MAX)
        return false;
    for (uint32_t i = 0; i < buffer->dimensions; i++)
        if (buffer->strides[i] == 0)
            return false;
    const bool reads = buffer->is_read == 0 || (buffer->given % NB_BLOCK_BYTES == 0 &&
                                                buffer->given + buffer->bytes <= loading->inputs_stride);
    const bool checks = buffer->is_checked == 0 ||
                        (buffer->expected % NB_BLOCK_BYTES == 0 &&
                         buffer->expected + buffer->slots * expected_bytes <= loading->expected_stride);
    return reads && checks;
}

/* The number of sets: limited by those available, those wanted, and free memory. */
static int fitting_sets(const struct nb_session *session, const struct nb_inline_case *loading,
                        uint32_t *sets)
{
    size_t remaining = 0, all = 0;
    NB_TRY(session->driver.cuMemGetInfo_v2(&remaining, &all));
    const uint64_t each = loading->inputs_stride + loading->expected_stride;
    const uint32_t others = session->cases - session->cases_loaded;
    const uint64_t most = remaining / FREE_SHARE / others / (each > 0 ? each : 1);
    const uint64_t set_count = session->samples + UINT64_C(1); /* one is the probe's */
    uint64_t count = loading->sets < set_count ? loading->sets : set_count;
    count = count < most ? count : most;
    *sets = (uint32_t)count;
    return 0;
}

int nb_upload(struct nb_session *session, struct nb_inline_case *loading, const char **step)
{
    struct nb_case *kept = &session->case_list[session->cases_loaded];
    struct staging staging = {session, NULL};
    *step = "the case does not fit its memory";
    if (loading->count > NB_BUFFERS_MAX || loading->inputs_stride % NB_LINE_BYTES != 0 ||
        loading->expected_stride % NB_LINE_BYTES != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < loading->count; i++) {
        if (!is_sound(&loading->buffers[i], loading))
            return CUDA_ERROR_INVALID_VALUE;
        kept->buffers[i] = loading->buffers[i];
    }
    kept->count = loading->count;
    kept->inputs_stride = loading->inputs_stride;
    kept->expected_stride = loading->expected_stride;
    NB_TRY(fitting_sets(session, loading, &kept->sets));
    *step = "too little device memory for two input sets";
    if (kept->sets < 2)
        return CUDA_ERROR_OUT_OF_MEMORY;
    kept->keys = nb_arena_take(kept->sets, sizeof *kept->keys);
    if (kept->keys == NULL || !nb_random(kept->keys, kept->sets * sizeof *kept->keys))
        return CUDA_ERROR_OUT_OF_MEMORY;
    NB_TRY(nb_allocate(session, kept->sets * kept->inputs_stride, &kept->inputs));
    NB_TRY(nb_allocate(session, kept->sets * kept->expected_stride, &kept->expected));
    NB_TRY(session->driver.cuMemHostAlloc(&staging.memory, STAGING_BYTES, 0));
    *step = "input sets cannot be uploaded";
    int result = 0;
    for (uint32_t set = 0; result == 0 && set < kept->sets; set++)
        result = bring_set(&staging, loading, kept, set);
    if (result == 0)
        result = (int)session->driver.cuCtxSynchronize();
    nb_wipe(staging.memory, STAGING_BYTES);
    NB_TRY(session->driver.cuMemFreeHost(staging.memory));
    loading->taken = kept->sets;
    kept->ready = result == 0;
    session->cases_loaded += kept->ready ? 1 : 0;
    return result;
}
