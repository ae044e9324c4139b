#include "driver/graph/memory.h"

#include "driver/context/context.h"
#include "driver/memory/extents.h"
#include "driver/memory/heap.h"
#include "driver/memory/range.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

struct sim_graph_memory {
    struct sim_object
        object; /* nodes and queued frees hold references, and the memory itself while allocated */
    struct sim_graph_memory *next;
    struct sim_context *context; /* current context at creation, compared by handle */
    uint64_t address;
    size_t bytes;
    unsigned owner;       /* id of the graph that allocates it */
    bool freed_by_owner;  /* that graph has a free node */
    bool freed_elsewhere; /* another graph has a free node */
    bool allocated;       /* after all launches queued so far */
    bool live;            /* after all launches run so far */
    bool backed;          /* counted as used device memory */
    unsigned pending;     /* number of queued allocations and frees */
};

/* All graph memory, and how much is in use. The lock is taken before those of ranges and heap. */
static struct {
    pthread_mutex_t lock;
    struct sim_graph_memory *first;
    size_t used;
    size_t used_high;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t rounded(size_t bytes)
{
    return sim_extents_round(bytes);
}

/* Called with the lock held. */
static void release_backing(struct sim_graph_memory *memory)
{
    if (memory->backed) {
        sim_heap_refund(rounded(memory->bytes));
        all.used -= rounded(memory->bytes);
    }
    memory->backed = false;
}

static void dispose(struct sim_object *object)
{
    struct sim_graph_memory *memory = (struct sim_graph_memory *)object;
    struct sim_range range;
    pthread_mutex_lock(&all.lock);
    struct sim_graph_memory **link = &all.first;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    release_backing(memory);
    pthread_mutex_unlock(&all.lock);
    (void)sim_range_remove(memory->address, 1u << SIM_MEMORY_GRAPH, &range);
    sim_heap_unreserve(memory->address, memory->bytes);
    free(memory);
}

CUresult sim_graph_memory_make(size_t bytes, struct sim_work *work)
{
    struct sim_graph_memory *memory = calloc(1, sizeof(*memory));
    const uint64_t address = memory == NULL ? 0 : sim_heap_reserve(bytes);
    const struct sim_range range = {
        .begin = address, .end = address + bytes, .kind = SIM_MEMORY_GRAPH, .access = SIM_ACCESS_NONE};
    if (address == 0 || !sim_range_add(&range)) {
        if (address != 0)
            sim_heap_unreserve(address, bytes);
        free(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&memory->object, SIM_GRAPH, NULL, dispose);
    memory->context = sim_context_current();
    memory->address = address;
    memory->bytes = bytes;
    pthread_mutex_lock(&all.lock);
    memory->next = all.first;
    all.first = memory;
    pthread_mutex_unlock(&all.lock);
    *work = (struct sim_work){.kind = SIM_WORK_GRAPH_ALLOCATE, .memory = memory};
    return CUDA_SUCCESS;
}

/* Called with the lock held. */
static struct sim_graph_memory *find(CUdeviceptr address)
{
    struct sim_graph_memory *memory = all.first;
    while (memory != NULL && memory->address != address)
        memory = memory->next;
    return memory;
}

static struct sim_graph_memory *find_and_retain(CUdeviceptr address)
{
    pthread_mutex_lock(&all.lock);
    struct sim_graph_memory *memory = find(address);
    unsigned references = memory == NULL ? 0 : atomic_load(&memory->object.references);
    while (references != 0 &&
           !atomic_compare_exchange_weak(&memory->object.references, &references, references + 1))
        ; /* no references left: another thread is disposing of the memory */
    pthread_mutex_unlock(&all.lock);
    return references == 0 ? NULL : memory;
}

CUresult sim_graph_memory_release(CUdeviceptr address, struct sim_work *work)
{
    *work = (struct sim_work){.kind = SIM_WORK_GRAPH_FREE, .memory = find_and_retain(address)};
    return work->memory == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Note which graph allocates the memory and which frees it. */
static CUresult enter_graph(struct sim_work *work, const struct sim_graph *graph)
{
    struct sim_graph_memory *memory = work->memory;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&all.lock);
    const bool by_owner = memory->owner == graph->id;
    if (work->kind == SIM_WORK_GRAPH_ALLOCATE)
        memory->owner = graph->id;
    else if (memory->freed_by_owner || (by_owner && memory->freed_elsewhere))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (by_owner)
        memory->freed_by_owner = true;
    else
        memory->freed_elsewhere = true;
    pthread_mutex_unlock(&all.lock);
    return result;
}

size_t sim_graph_memory_bytes(const struct sim_graph_memory *memory)
{
    return memory->bytes;
}

CUdeviceptr sim_graph_memory_address(const struct sim_graph_memory *memory)
{
    return memory->address;
}

static CUresult back(struct sim_graph_node *node, void *unused)
{
    struct sim_graph_memory *memory = node->work.memory;
    (void)unused;
    if (node->work.kind != SIM_WORK_GRAPH_ALLOCATE || memory->backed)
        return CUDA_SUCCESS;
    if (!sim_heap_charge(rounded(memory->bytes)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->backed = true;
    all.used += rounded(memory->bytes);
    if (all.used_high < all.used)
        all.used_high = all.used;
    return CUDA_SUCCESS;
}

CUresult sim_graph_memory_provide(const struct sim_graph_plan *plan)
{
    pthread_mutex_lock(&all.lock);
    const CUresult result = sim_graph_plan_walk(plan, back, NULL);
    pthread_mutex_unlock(&all.lock);
    return result;
}

static CUresult check(struct sim_graph_node *node, void *data)
{
    const bool *automatic = data;
    const struct sim_graph_memory *memory = node->work.memory;
    if (node->work.kind == SIM_WORK_GRAPH_ALLOCATE && memory->allocated && !*automatic)
        return CUDA_ERROR_INVALID_VALUE;
    if (node->work.kind == SIM_WORK_GRAPH_FREE && !memory->freed_by_owner && !memory->allocated)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult commit(struct sim_graph_node *node, void *unused)
{
    (void)unused;
    const bool allocates = node->work.kind == SIM_WORK_GRAPH_ALLOCATE;
    if (allocates || node->work.kind == SIM_WORK_GRAPH_FREE) {
        node->work.memory->allocated = allocates;
        node->work.memory->pending++;
    }
    return CUDA_SUCCESS;
}

CUresult sim_graph_memory_launch(const struct sim_graph_plan *plan, bool automatic)
{
    pthread_mutex_lock(&all.lock);
    CUresult result = sim_graph_plan_walk(plan, check, &automatic);
    if (result == CUDA_SUCCESS)
        result = sim_graph_plan_walk(plan, back, NULL);
    if (result == CUDA_SUCCESS)
        result = sim_graph_plan_walk(plan, commit, NULL);
    pthread_mutex_unlock(&all.lock);
    return result;
}

static CUresult take_back(struct sim_graph_node *node, void *unused)
{
    struct sim_graph_memory *memory = node->work.memory;
    (void)unused;
    if (node->work.kind == SIM_WORK_GRAPH_ALLOCATE)
        memory->allocated = memory->live;
    else if (node->work.kind == SIM_WORK_GRAPH_FREE && !memory->freed_by_owner)
        memory->allocated = true;
    if (node->work.kind == SIM_WORK_GRAPH_ALLOCATE || node->work.kind == SIM_WORK_GRAPH_FREE)
        memory->pending -= memory->pending != 0;
    return CUDA_SUCCESS;
}

void sim_graph_memory_cancel(const struct sim_graph_plan *plan)
{
    pthread_mutex_lock(&all.lock);
    (void)sim_graph_plan_walk(plan, take_back, NULL);
    pthread_mutex_unlock(&all.lock);
}

/* Allocated memory outlives its nodes (CUDA programming guide, "Graph Memory Nodes"), so live memory holds a
 * reference to itself. */
static void set_live(struct sim_graph_memory *memory, bool live)
{
    pthread_mutex_lock(&all.lock);
    const bool changes = memory->live != live;
    memory->live = live;
    memory->pending -= memory->pending != 0;
    sim_range_set_live(memory->address, live);
    pthread_mutex_unlock(&all.lock);
    if (changes && live)
        sim_object_retain(memory);
    else if (changes)
        sim_object_release(memory);
}

static void run_allocate(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                         struct sim_work *work)
{
    (void)context, (void)stream, (void)number;
    set_live(work->memory, true);
}

static void run_free(struct sim_context *context, struct sim_stream *stream, uint64_t number,
                     struct sim_work *work)
{
    (void)context, (void)stream, (void)number;
    set_live(work->memory, false);
}

static CUresult clone_work(struct sim_work *copy, const struct sim_work *work, bool published)
{
    (void)copy, (void)published;
    sim_object_retain(work->memory);
    return CUDA_SUCCESS;
}

static void clear(struct sim_work *work)
{
    sim_object_release(work->memory);
}

const struct sim_work_class sim_graph_allocate_work = {
    .run = run_allocate, .clone = clone_work, .clear = clear, .enter_graph = enter_graph};
const struct sim_work_class sim_graph_free_work = {.runs_after_fault = true,
                                                   .run = run_free,
                                                   .clone = clone_work,
                                                   .clear = clear,
                                                   .enter_graph = enter_graph};

/* Mark the memory as freed by a call. CUDA_ERROR_INVALID_VALUE if a call may not free it. */
static CUresult take(struct sim_graph_memory *memory)
{
    pthread_mutex_lock(&all.lock);
    const bool may = memory->allocated && !memory->freed_by_owner;
    if (may) {
        memory->allocated = false;
        memory->pending++;
    }
    pthread_mutex_unlock(&all.lock);
    return may ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool sim_graph_memory_free(CUdeviceptr address, struct sim_stream *stream, CUresult *result)
{
    struct sim_work work;
    if (sim_graph_memory_release(address, &work) != CUDA_SUCCESS)
        return false;
    if (stream != NULL && sim_stream_is_capturing(stream)) {
        *result = sim_stream_submit(stream, &work, NULL);
        return true;
    }
    *result = take(work.memory);
    if (*result == CUDA_SUCCESS && stream != NULL) {
        *result = sim_stream_submit(stream, &work, NULL);
        return true;
    }
    if (*result == CUDA_SUCCESS)
        set_live(work.memory, false);
    sim_work_clear(&work);
    return true;
}

CUresult sim_graph_memory_capture(struct sim_stream *stream, size_t bytes, CUdeviceptr *address)
{
    struct sim_work work;
    CUresult result = bytes == 0 ? CUDA_ERROR_INVALID_VALUE : sim_graph_memory_make(bytes, &work);
    if (result != CUDA_SUCCESS)
        return result;
    const CUdeviceptr made = work.memory->address;
    result = sim_stream_submit(stream, &work, NULL);
    if (result == CUDA_SUCCESS)
        *address = made;
    return result;
}

size_t sim_graph_memory_in_use(bool high)
{
    pthread_mutex_lock(&all.lock);
    const size_t used = high ? all.used_high : all.used;
    pthread_mutex_unlock(&all.lock);
    return used;
}

void sim_graph_memory_reset_high(void)
{
    pthread_mutex_lock(&all.lock);
    all.used_high = all.used;
    pthread_mutex_unlock(&all.lock);
}

void sim_graph_memory_trim(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct sim_graph_memory *memory = all.first; memory != NULL; memory = memory->next)
        if (!memory->live && memory->pending == 0)
            release_backing(memory);
    pthread_mutex_unlock(&all.lock);
}

/* Any allocated memory of the context, with a reference. NULL: none. */
static struct sim_graph_memory *find_live(const struct sim_context *context)
{
    pthread_mutex_lock(&all.lock);
    struct sim_graph_memory *memory = all.first;
    while (memory != NULL && (memory->context != context || !memory->live))
        memory = memory->next;
    if (memory != NULL) {
        sim_object_retain(memory);
        memory->allocated = false;
    }
    pthread_mutex_unlock(&all.lock);
    return memory;
}

void sim_graph_memory_free_context(const struct sim_context *context)
{
    for (struct sim_graph_memory *memory = find_live(context); memory != NULL; memory = find_live(context)) {
        set_live(memory, false);
        sim_object_release(memory);
    }
}
