#include "cuda/probe/launch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/driver/slots.h"
#include "cuda/kernel/function.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/parameters.h"
#include "cuda/kernel/stream.h"
#include "cuda/probe/allocations.h"
#include "cuda/probe/kernel.h"
#include "real.h"
#include "surface.h"

enum { WARP = 32, MAP_ALIGNMENT = 256, END_SECONDS = 10, COLLECTED_AT_LAUNCH = 16 };

/* Memory for the maps of one launch, used again after they are collected. It is never freed: cuMemFree waits
 * for the whole device, and kernels may wait for this thread's next launch. */
struct buffer {
    CUcontext context;
    CUdeviceptr device;
    unsigned char *host; /* pinned */
    CUevent event;       /* recorded behind the copy to the host */
    uint64_t capacity;
    struct buffer *next;
};

/* The counters of a counted map in its launch's buffer. */
struct counts {
    uint64_t position;
    uint64_t items; /* 0: the map is not counted */
};

struct launch {
    struct nb_probed_launch shown;
    struct nb_probe_kernel *kernel;
    struct buffer *buffer; /* NULL: no map has a byte */
    struct nb_probe_note note;
    CUstream stream;
    bool is_on_host; /* see struct places */
    CUdeviceptr maps[NB_PROBE_MAPS_MAX];
    struct counts counts[NB_PROBE_MAPS_MAX];
    struct launch *next;
    void *parameters[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct buffer *spare;
static struct launch *pending, **pending_end = &pending;
static uint64_t allocated;
static bool has_exit_handler;

static CUstreamCaptureMode relax(CUstreamCaptureMode mode)
{
    NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
}

static uint64_t rounded_capacity(uint64_t bytes)
{
    uint64_t capacity = 1u << 16;
    while (capacity < bytes)
        capacity *= 2;
    return capacity;
}

static bool allocate(struct buffer *buffer)
{
    void *host = NULL;
    if (NB_REAL(cuMemAlloc_v2)(&buffer->device, buffer->capacity) != CUDA_SUCCESS)
        return false;
    if (NB_REAL(cuMemHostAlloc)(&host, buffer->capacity,
                                CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS) {
        buffer->host = host;
        if (NB_REAL(cuEventCreate)(&buffer->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
            return true;
        NB_REAL(cuMemFreeHost)(host);
    }
    NB_REAL(cuMemFree_v2)(buffer->device);
    return false;
}

/* Return the smallest buffer that is large enough. */
static struct buffer *take_spare(CUcontext context, uint64_t capacity)
{
    struct buffer **best = NULL;
    for (struct buffer **place = &spare; *place != NULL; place = &(*place)->next)
        if ((*place)->context == context && (*place)->capacity >= capacity &&
            (best == NULL || (*place)->capacity < (*best)->capacity))
            best = place;
    struct buffer *found = best != NULL ? *best : NULL;
    if (found != NULL)
        *best = found->next;
    return found;
}

/* NULL if the limit or the device has no more memory. */
static struct buffer *take_buffer(CUcontext context, uint64_t bytes)
{
    const uint64_t capacity = rounded_capacity(bytes), limit = nb_probe_map_limit();
    pthread_mutex_lock(&lock);
    struct buffer *buffer = take_spare(context, capacity);
    const bool fits = capacity <= limit && allocated <= limit - capacity;
    if (buffer == NULL && fits)
        allocated += capacity;
    pthread_mutex_unlock(&lock);
    if (buffer != NULL || !fits)
        return buffer;
    buffer = calloc(1, sizeof *buffer);
    if (buffer != NULL) {
        buffer->context = context;
        buffer->capacity = capacity;
        if (allocate(buffer))
            return buffer;
        free(buffer);
    }
    pthread_mutex_lock(&lock);
    allocated -= capacity;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void give_buffer(struct buffer *buffer)
{
    if (buffer == NULL)
        return;
    pthread_mutex_lock(&lock);
    buffer->next = spare;
    spare = buffer;
    pthread_mutex_unlock(&lock);
}

/* Where the maps of a launch are in its buffer. */
struct places {
    uint64_t of_map[NB_PROBE_MAPS_MAX];
    struct nb_probe_counted counted[NB_PROBE_MAPS_MAX];
    struct counts counts[NB_PROBE_MAPS_MAX];
    uint64_t bytes; /* of all */
    uint64_t table; /* the table of allocations; NB_NO_TABLE if the engine wants none */
    uint32_t table_bytes;
    /* A kernel that is checked against a table may be about to end its context by a wrong access. Its maps
     * survive that in host memory, if they are small: only maps of the launch. */
    bool is_on_host;
};
#define NB_NO_TABLE UINT64_MAX

/* The number of items of a map, and false if a product exceeds 64 bits. */
static bool count_items(const struct nb_launch_form *launch, uint32_t unit, uint64_t *items)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t blocks = 0;
    if (__builtin_mul_overflow((uint64_t)launch->grid[0] * launch->grid[1], launch->grid[2], &blocks))
        return false;
    const uint64_t of_block = unit == NB_PROBE_THREAD ? threads
                              : unit == NB_PROBE_WARP ? (threads + WARP - 1) / WARP
                                                      : 1;
    if (unit == NB_PROBE_LAUNCH || unit == NB_PROBE_ALLOCATIONS) {
        *items = 1;
        return true;
    }
    return !__builtin_mul_overflow(blocks, of_block, items);
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + MAP_ALIGNMENT - 1) / MAP_ALIGNMENT * MAP_ALIGNMENT;
}

/* The bytes of a counted map, with lists as long as `wanted` if a quarter of the limit allows it, so that
 * other launches have room: shorter lists still count what they lack. UINT64_MAX: not even the counters fit.
 */
static uint64_t place_counted(uint64_t items, uint64_t entry, uint64_t wanted, uint64_t used,
                              struct nb_probe_counted *counted)
{
    const uint64_t limit = nb_probe_map_limit() / 4;
    if (items > limit / sizeof(uint32_t) || used > limit)
        return UINT64_MAX;
    counted->position = aligned(sizeof *counted + items * sizeof(uint32_t));
    if (counted->position > limit - used)
        return UINT64_MAX;
    const uint64_t room = (limit - used - counted->position) / MAP_ALIGNMENT * MAP_ALIGNMENT;
    uint64_t each = 0; /* bytes of one entry of every list */
    if (items > 0 && entry > 0 && !__builtin_mul_overflow(items, entry, &each))
        counted->capacity = wanted < room / each ? wanted : room / each;
    return counted->position + counted->capacity * each;
}

/* Positions of the maps behind each other. False if they exceed the limit. */
static bool place_maps(const struct nb_probe_kernel *kernel, const struct nb_launch_form *launch,
                       struct places *places)
{
    uint64_t *total = &places->bytes;
    bool all_of_launch = true;
    *places = (struct places){.table = NB_NO_TABLE};
    for (uint32_t i = 0; i < kernel->map_count; i++) {
        uint64_t items = 0, bytes = 0;
        if (!count_items(launch, kernel->maps[i].unit, &items))
            return false;
        if (kernel->maps[i].is_counted) {
            const uint64_t wanted = atomic_load(&kernel->entries[i]);
            bytes = place_counted(items, kernel->maps[i].bytes, wanted, *total, &places->counted[i]);
            places->counts[i] = (struct counts){*total + sizeof(struct nb_probe_counted), items};
        } else if (__builtin_mul_overflow(items, kernel->maps[i].bytes, &bytes)) {
            return false;
        }
        if (bytes > nb_probe_map_limit())
            return false;
        all_of_launch &= kernel->maps[i].unit >= NB_PROBE_LAUNCH;
        if (kernel->maps[i].unit == NB_PROBE_ALLOCATIONS) {
            if (bytes < sizeof(struct nb_probe_table) || bytes > UINT32_MAX || places->table != NB_NO_TABLE)
                return false; /* the supervisor refuses such engines */
            bytes = nb_probe_table_bytes(bytes);
            places->table = *total;
            places->table_bytes = (uint32_t)bytes;
        }
        places->of_map[i] = *total;
        *total += aligned(bytes);
        if (*total > nb_probe_map_limit())
            return false;
    }
    places->is_on_host = places->table != NB_NO_TABLE && all_of_launch;
    return true;
}

/* The probed kernel has the original's parameters, then the addresses of its maps. */
static bool set_parameters(struct launch *made, const struct nb_description *description,
                           const struct nb_launch_form *launch)
{
    const struct nb_parameters given = nb_locate_parameters(description, launch->kernelParams, launch->extra);
    uint32_t count = description->parameter_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct nb_parameter at = description->layout[i];
        if (given.packed != NULL && at.offset + at.size > given.bytes)
            return false;
        made->parameters[i] = given.packed != NULL ? (char *)(uintptr_t)given.packed + at.offset
                              : given.each != NULL ? given.each[i]
                                                   : NULL;
        if (made->parameters[i] == NULL)
            return false;
    }
    for (uint32_t i = 0; i < made->kernel->map_count; i++)
        made->parameters[count++] = &made->maps[i];
    made->shown = (struct nb_probed_launch){made->kernel->function, made->parameters, CUDA_ERROR_UNKNOWN};
    return true;
}

/* Apply the attributes of the original to the probed kernel. */
static void copy_attributes(const struct nb_probe_kernel *kernel)
{
    static const CUfunction_attribute copied[] = {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                                  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED};
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        int wanted = 0, current = 0;
        if (NB_REAL(cuFuncGetAttribute)(&wanted, copied[i], kernel->original) == CUDA_SUCCESS &&
            NB_REAL(cuFuncGetAttribute)(&current, copied[i], kernel->function) == CUDA_SUCCESS &&
            wanted != current)
            NB_REAL(cuFuncSetAttribute)(kernel->function, copied[i], wanted);
    }
}

/* Queue the heads of counted maps, from the launch's own pinned memory. */
static bool fill_heads(const struct launch *made, const struct places *places)
{
    const struct buffer *buffer = made->buffer;
    for (uint32_t i = 0; i < made->kernel->map_count; i++) {
        if (places->counts[i].items == 0)
            continue;
        const uint64_t at = places->of_map[i];
        memcpy(buffer->host + at, &places->counted[i], sizeof places->counted[i]);
        if (!places->is_on_host &&
            NB_REAL(cuMemcpyHtoDAsync_v2)(buffer->device + at, buffer->host + at, sizeof places->counted[i],
                                          made->stream) != CUDA_SUCCESS)
            return false;
    }
    return true;
}

/* Queue the maps' first content. The launch's own pinned memory holds the table, so that nothing waits. */
static bool fill_maps(const struct launch *made, const struct places *places)
{
    const struct buffer *buffer = made->buffer;
    if (places->is_on_host)
        memset(buffer->host, 0, places->bytes);
    else if (NB_REAL(cuMemsetD8Async)(buffer->device, 0, places->bytes, made->stream) != CUDA_SUCCESS)
        return false;
    if (!fill_heads(made, places))
        return false;
    if (places->table == NB_NO_TABLE)
        return true;
    unsigned char *table = buffer->host + places->table;
    nb_probe_fill_table(table, places->table_bytes, nb_stream_query_number(made->stream),
                        made->kernel->is_pageable);
    return NB_REAL(cuMemcpyHtoDAsync_v2)(buffer->device + places->table, table, places->table_bytes,
                                         made->stream) == CUDA_SUCCESS;
}

static struct launch *make(const struct nb_call *call, struct nb_probe_kernel *kernel,
                           const struct nb_launch_form *launch)
{
    const struct nb_description *description = nb_find_description(launch->function);
    struct places places;
    CUcontext context = NULL;
    if (NB_REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS || context != kernel->context)
        return nb_probe_skip(call, kernel, NB_SKIP_CONTEXT), NULL;
    if (!place_maps(kernel, launch, &places))
        return nb_probe_skip(call, kernel, NB_SKIP_SIZE), NULL;
    struct launch *made =
        calloc(1, sizeof *made + (description->parameter_count + kernel->map_count) * sizeof(void *));
    if (made == NULL)
        return NULL;
    made->kernel = kernel;
    made->stream = nb_stream_resolve(call, launch->stream);
    if (description->facts.layout_source == NB_LAYOUT_UNKNOWN || !set_parameters(made, description, launch)) {
        free(made);
        return nb_probe_skip(call, kernel, NB_SKIP_PARAMETERS), NULL;
    }
    made->is_on_host = places.is_on_host;
    memcpy(made->counts, places.counts, sizeof made->counts);
    made->buffer = places.bytes > 0 ? take_buffer(context, places.bytes) : NULL;
    if (places.bytes > 0 && (made->buffer == NULL || !fill_maps(made, &places))) {
        give_buffer(made->buffer);
        free(made);
        return nb_probe_skip(call, kernel, NB_SKIP_MEMORY), NULL;
    }
    for (uint32_t i = 0; i < kernel->map_count && places.bytes > 0; i++)
        made->maps[i] = (places.is_on_host && places.of_map[i] != places.table ? nb_handle(made->buffer->host)
                                                                               : made->buffer->device) +
                        places.of_map[i];
    made->note = (struct nb_probe_note){.kernel = kernel->number,
                                        .stage = NB_PROBE_TRACED,
                                        .answer = kernel->answer,
                                        .bytes = places.bytes,
                                        .stream = nb_handle(launch->stream),
                                        .shared_bytes = launch->shared_bytes,
                                        .table_bytes = places.table_bytes};
    memcpy(made->note.grid, launch->grid, sizeof made->note.grid);
    memcpy(made->note.block, launch->block, sizeof made->note.block);
    return made;
}

/* Give later launches lists as long as the longest of this one. */
static void learn_entries(const struct launch *made)
{
    for (uint32_t i = 0; i < made->kernel->map_count; i++) {
        const uint32_t *counts =
            (const uint32_t *)(const void *)(made->buffer->host + made->counts[i].position);
        uint32_t most = 0;
        for (uint64_t item = 0; item < made->counts[i].items; item++)
            most = counts[item] > most ? counts[item] : most;
        uint64_t known = atomic_load(&made->kernel->entries[i]);
        while (most > known && !atomic_compare_exchange_weak(&made->kernel->entries[i], &known, most))
            ;
    }
}

/* Hand the maps of a launch to the supervisor. */
static void hand_over(const struct nb_call *call, struct launch *made, bool is_whole)
{
    if (is_whole)
        learn_entries(made);
    void *room = is_whole ? nb_probe_trace(made->note.bytes, &made->note.at) : NULL;
    if (room != NULL) {
        memcpy(room, made->buffer->host, made->note.bytes);
        nb_probe_write(call, &made->note);
    } else {
        nb_probe_skip(call, made->kernel, is_whole ? NB_SKIP_TRACES : NB_SKIP_LOST);
    }
}

/* Collect the launches of a context (NULL: of all) whose maps are on the host, among the oldest `most`.
 * Returns whether others of it are left. */
static bool collect(const struct nb_call *call, CUcontext context, unsigned most)
{
    bool are_left = false;
    struct launch *finished = NULL, **finished_end = &finished;
    pthread_mutex_lock(&lock);
    for (struct launch **place = &pending; *place != NULL && most > 0; most--) {
        struct launch *each = *place;
        const bool is_asked = context == NULL || each->buffer->context == context;
        const CUresult result = is_asked ? NB_REAL(cuEventQuery)(each->buffer->event) : CUDA_ERROR_NOT_READY;
        if (result == CUDA_ERROR_NOT_READY) {
            are_left |= is_asked;
            place = &each->next;
            continue;
        }
        *place = each->next;
        each->next = NULL;
        each->note.at = result == CUDA_SUCCESS || each->is_on_host;
        *finished_end = each;
        finished_end = &each->next;
    }
    pending_end = &pending;
    while (*pending_end != NULL)
        pending_end = &(*pending_end)->next;
    pthread_mutex_unlock(&lock);
    for (struct launch *each = finished, *next; each != NULL; each = next) {
        next = each->next;
        hand_over(call, each, each->note.at != 0);
        give_buffer(each->buffer);
        free(each);
    }
    return are_left;
}

void nb_probe_collect(const struct nb_call *call)
{
    (void)collect(call, NULL, UINT_MAX);
}

void nb_probe_collect_all(const struct nb_call *call, CUcontext context)
{
    static const struct timespec pause = {0, 1000000};
    const CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    for (int i = 0; i < END_SECONDS * 1000 && collect(call, context, UINT_MAX); i++)
        nanosleep(&pause, NULL);
    relax(mode);
}

static void at_exit(void)
{
    struct nb_thread *thread = &nb_thread;
    if (!nb_probing() || (thread->state != NB_THREAD_READY && !nb_thread_attach(thread)))
        return;
    const struct nb_call call = {.thread = thread};
    thread->state = NB_THREAD_INSIDE;
    nb_probe_collect_all(&call, NULL);
    thread->state = NB_THREAD_READY;
}

static void install_exit_handler(void)
{
    pthread_mutex_lock(&lock);
    const bool first = !has_exit_handler;
    has_exit_handler = true;
    pthread_mutex_unlock(&lock);
    if (first)
        atexit(at_exit); /* after the driver has installed its own, so before that runs */
}

struct nb_probed_launch *nb_probe_begin(const struct nb_call *call, const struct nb_launch_form *launch)
{
    if (call->thread == NULL || launch->problem != NULL ||
        nb_describe(call->thread, launch->function) == NULL)
        return NULL;
    const bool is_captured = nb_stream_is_captured(call, launch->stream);
    /* Other streams of this thread may be in capture, where loading and allocating would be refused. */
    const CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    install_exit_handler();
    (void)collect(call, NULL, COLLECTED_AT_LAUNCH);
    struct nb_probe_kernel *kernel = nb_probe_kernel_for(call, launch->function);
    struct launch *made = NULL;
    if (kernel != NULL && is_captured)
        nb_probe_skip(call, kernel, NB_SKIP_CAPTURED);
    else if (kernel != NULL)
        made = make(call, kernel, launch);
    if (made != NULL)
        copy_attributes(kernel);
    relax(mode);
    return made != NULL ? &made->shown : NULL;
}

static void end(const struct nb_call *call, struct launch *made)
{
    struct buffer *buffer = made->buffer;
    const CUresult result = made->shown.result;
    if (result != CUDA_SUCCESS)
        nb_probe_kernel_give_up(call, made->kernel, "the driver refuses to launch the probed kernel", result);
    if (result != CUDA_SUCCESS || buffer == NULL) {
        give_buffer(buffer);
        free(made);
        return;
    }
    const bool is_queued =
        (made->is_on_host || NB_REAL(cuMemcpyDtoHAsync_v2)(buffer->host, buffer->device, made->note.bytes,
                                                           made->stream) == CUDA_SUCCESS) &&
        NB_REAL(cuEventRecord)(buffer->event, made->stream) == CUDA_SUCCESS;
    /* If the kernel has ended the context already, queries of the event return that error. */
    if (!is_queued && !made->is_on_host) {
        nb_probe_skip(call, made->kernel, NB_SKIP_LOST);
        free(made); /* the device may still write to the buffer, so it is not used again */
        return;
    }
    pthread_mutex_lock(&lock);
    *pending_end = made;
    pending_end = &made->next;
    pthread_mutex_unlock(&lock);
}

void nb_probe_end(const struct nb_call *call, struct nb_probed_launch *launch)
{
    if (!nb_hook_enter(call))
        return;
    end(call, (struct launch *)launch); /* its first member */
    nb_hook_leave(call);
}

/* Drop the buffers of a context that is gone: the driver may give its handle and its addresses out again. */
static void forget_buffers(const struct nb_call *call, CUcontext context)
{
    struct launch *lost = NULL;
    pthread_mutex_lock(&lock);
    for (struct buffer **place = &spare; *place != NULL;) {
        struct buffer *each = *place;
        if (context != NULL && each->context != context) {
            place = &each->next;
            continue;
        }
        *place = each->next;
        allocated -= each->capacity;
        free(each);
    }
    pending_end = &pending;
    while (*pending_end != NULL) {
        struct launch *each = *pending_end;
        if (context != NULL && each->buffer->context != context) {
            pending_end = &each->next;
            continue;
        }
        *pending_end = each->next;
        allocated -= each->buffer->capacity;
        each->next = lost;
        lost = each;
    }
    pthread_mutex_unlock(&lock);
    for (struct launch *next; lost != NULL; lost = next) {
        next = lost->next;
        nb_probe_skip(call, lost->kernel, NB_SKIP_LOST);
        free(lost->buffer);
        free(lost);
    }
}

void nb_probe_forget_context(const struct nb_call *call, uint64_t context)
{
    nb_probe_forget_kernels(context);
    forget_buffers(call, (CUcontext)context);
}

static void forget(void)
{
    spare = NULL;
    pending = NULL;
    pending_end = &pending;
    allocated = 0;
}

const struct nb_component nb_probe_launch_component = {.locks = {&lock}, .forget = forget};
