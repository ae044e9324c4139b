#include "ptx/device_launch.h"

#include <stdlib.h>

#include "ptx/diagnostic.h"

/* Programming Guide: 24 levels. The shared memory is that of compute capability 9.0. The number of launches
 * is a guard for the host, far above the 2048 that a GPU has room for by default. */
enum { LEVELS = 24, SHARED_MAX = 227 << 10, LAUNCHES_MAX = 1 << 20 };

/* Values of cudaError_t. */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    MEMORY_ALLOCATION = 2,
    INVALID_CONFIGURATION = 9,
    LAUNCH_MAX_DEPTH_EXCEEDED = 65,
    LAUNCH_PENDING_COUNT_EXCEEDED = 69,
    INVALID_DEVICE_FUNCTION = 98
};

/* Kernels read these, so the engine must find them by address. */
static const struct {
    uint32_t error;
    char name[44], text[84];
} errors[] = {{SUCCESS, "cudaSuccess", "no error"},
              {INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
              {MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory"},
              {INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
              {LAUNCH_MAX_DEPTH_EXCEEDED, "cudaErrorLaunchMaxDepthExceeded",
               "launch would exceed maximum depth of nested launches"},
              {LAUNCH_PENDING_COUNT_EXCEEDED, "cudaErrorLaunchPendingCountExceeded",
               "launch failed because of exceeding the device runtime pending launch count"},
              {INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
              {UINT32_MAX, "unrecognized error code", "unrecognized error code"}};

enum { ERRORS = sizeof errors / sizeof *errors };

/* Streams with a meaning of their own (driver_types.h). */
enum { STREAM_TAIL_LAUNCH = 3, STREAM_OTHER = 16 };

static uint64_t error_text(uint32_t error, bool name)
{
    size_t i = 0;
    while (i < ERRORS - 1 && errors[i].error != error)
        i++;
    return (uint64_t)(uintptr_t)(name ? errors[i].name : errors[i].text);
}

bool ptx_find_runtime_memory(const struct grid *grid, uint64_t address, struct range *found)
{
    const uint64_t texts = (uint64_t)(uintptr_t)errors;
    *found = (struct range){texts, texts + sizeof errors, false};
    if (address - texts < sizeof errors)
        return true;
    bool good = false;
    (void)pthread_mutex_lock(&grid->launches->lock);
    for (const struct child *child = grid->launches->buffers; !good && child != NULL; child = child->next) {
        const uint64_t begin = (uint64_t)(uintptr_t)child->parameters;
        *found = (struct range){begin, begin + child->launch.kernel->parameter_bytes, true};
        good = address >= found->begin && address < found->end;
    }
    (void)pthread_mutex_unlock(&grid->launches->lock);
    return good;
}

/* Arguments of a call in the frame of a lane. */
static void read(const struct call *call, const unsigned char *frame, uint32_t number, void *to, size_t bytes)
{
    memcpy(to, frame + call->arguments[number].offset, bytes);
}

static uint64_t read_word(const struct call *call, const unsigned char *frame, uint32_t number)
{
    uint64_t word = 0;
    read(call, frame, number, &word, call->arguments[number].bytes);
    return word;
}

static const struct ptx_kernel *kernel_at(const struct ptx_module *module, uint64_t address)
{
    const uint64_t index = (address - CODE_WINDOW) / CODE_STEP - 1;
    if (address % CODE_STEP != 0 || index >= module->function_count)
        return NULL;
    const struct ptx_kernel *kernel = module->functions[index];
    return kernel->entry && kernel->defined ? kernel : NULL;
}

static uint32_t check_shape(const struct ptx_launch *launch)
{
    static const uint32_t grid_most[] = {INT32_MAX, UINT16_MAX, UINT16_MAX}, block_most[] = {1024, 1024, 64};
    struct ptx_kernel_attributes known;
    ptx_kernel_attributes(launch->kernel, &known);
    for (unsigned i = 0; i < 3; i++)
        if (launch->grid[i] == 0 || launch->grid[i] > grid_most[i] || launch->block[i] == 0 ||
            launch->block[i] > block_most[i] ||
            (known.required[0] != 0 && known.required[i] != launch->block[i]))
            return INVALID_CONFIGURATION;
    const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (threads > known.max_threads || launch->shared_bytes > SHARED_MAX ||
        known.shared_bytes + launch->shared_bytes > SHARED_MAX)
        return INVALID_CONFIGURATION;
    return SUCCESS;
}

/* cudaGetParameterBufferV2(kernel, grid, block, shared bytes). Stores 0 after an error. */
static uint32_t get_buffer(const struct warp *warp, const struct call *call, const unsigned char *frame,
                           uint64_t *address)
{
    const struct grid *grid = warp->block->grid;
    struct launches *launches = grid->launches;
    struct ptx_launch launch = *grid->launch;
    launch.kernel = kernel_at(grid->module, read_word(call, frame, 0));
    launch.cooperative = false;
    read(call, frame, 1, launch.grid, sizeof launch.grid);
    read(call, frame, 2, launch.block, sizeof launch.block);
    read(call, frame, 3, &launch.shared_bytes, sizeof launch.shared_bytes);
    *address = 0;
    if (launch.kernel == NULL)
        return INVALID_DEVICE_FUNCTION;
    const uint32_t wrong = check_shape(&launch);
    if (wrong != SUCCESS)
        return wrong;
    struct child *child = calloc(1, sizeof *child + launch.kernel->parameter_bytes + 1);
    if (child == NULL)
        return LAUNCH_PENDING_COUNT_EXCEEDED;
    child->launch = launch;
    child->launch.parameters = child->parameters;
    (void)pthread_mutex_lock(&launches->lock);
    const bool room = launches->count < LAUNCHES_MAX;
    if (room) {
        launches->count++;
        child->next = launches->buffers;
        launches->buffers = child;
        *address = (uint64_t)(uintptr_t)child->parameters;
    }
    (void)pthread_mutex_unlock(&launches->lock);
    if (!room)
        free(child);
    return room ? SUCCESS : LAUNCH_PENDING_COUNT_EXCEEDED;
}

/* Queues work of the grid behind what the grid has queued before. Returns a cudaError_t. */
static uint32_t queue(struct launches *launches, struct child *child, uint64_t stream)
{
    child->tail = stream == STREAM_TAIL_LAUNCH;
    child->depth = launches->depth + !child->tail; /* tail launches do not nest: they may go on for ever */
    if (child->depth > LEVELS)
        return LAUNCH_MAX_DEPTH_EXCEEDED;
    child->next = NULL;
    if (launches->last != NULL)
        launches->last->next = child;
    else
        launches->first = child;
    launches->last = child;
    return SUCCESS;
}

/* cudaLaunchDeviceV2(buffer, stream). */
static uint32_t launch(const struct warp *warp, uint64_t buffer, uint64_t stream, const char **refusal)
{
    struct launches *launches = warp->block->grid->launches;
    uint32_t error = INVALID_VALUE;
    (void)pthread_mutex_lock(&launches->lock);
    struct child **link = &launches->buffers;
    while (*link != NULL && (uint64_t)(uintptr_t)(*link)->parameters != buffer)
        link = &(*link)->next;
    struct child *child = *link;
    if (child != NULL) {
        *refusal = child->launch.kernel->refusal;
        *link = child->next;
        error = queue(launches, child, stream);
        if (error != SUCCESS) { /* not freed: warps have its address */
            child->next = launches->buffers;
            launches->buffers = child;
        }
    }
    (void)pthread_mutex_unlock(&launches->lock);
    return error;
}

/* cudaMemcpyAsync(to, from, bytes, kind, stream) and cudaMemsetAsync(to, value, bytes, stream). */
static uint32_t queue_copy(const struct warp *warp, const struct call *call, const unsigned char *frame,
                           bool fill)
{
    struct launches *launches = warp->block->grid->launches;
    struct child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return LAUNCH_PENDING_COUNT_EXCEEDED;
    child->launch = *warp->block->grid->launch;
    child->launch.kernel = NULL;
    child->to = read_word(call, frame, 0);
    child->from = fill ? 0 : read_word(call, frame, 1);
    child->value = (uint8_t)read_word(call, frame, 1);
    child->bytes = read_word(call, frame, 2);
    (void)pthread_mutex_lock(&launches->lock);
    uint32_t error = fill || child->from != 0 ? SUCCESS : INVALID_VALUE;
    if (error == SUCCESS && launches->count >= LAUNCHES_MAX)
        error = LAUNCH_PENDING_COUNT_EXCEEDED;
    if (error == SUCCESS)
        error = queue(launches, child, read_word(call, frame, fill ? 3 : 4));
    launches->count += error == SUCCESS;
    (void)pthread_mutex_unlock(&launches->lock);
    if (error != SUCCESS)
        free(child);
    return error;
}

/* Whether [at, at + bytes) lies in allocations. */
static bool is_accessible(const struct ptx_memory *memory, uint64_t at, uint64_t bytes, bool writes)
{
    struct range range;
    while (bytes != 0) {
        if (!memory->find(memory->context, at, &range.begin, &range.end, &range.writable) ||
            (writes && !range.writable))
            return false;
        const uint64_t part = range.end - at < bytes ? range.end - at : bytes;
        at += part;
        bytes -= part;
    }
    return true;
}

enum ptx_status ptx_run_copy(const struct child *child, struct ptx_diagnostic *diagnostic)
{
    const struct ptx_memory *memory = &child->launch.memory;
    if (!is_accessible(memory, child->to, child->bytes, true) ||
        (child->from != 0 && !is_accessible(memory, child->from, child->bytes, false))) {
        diagnose(diagnostic, 0, "a copy or fill by a kernel accesses memory outside every allocation");
        return PTX_ILLEGAL_ADDRESS;
    }
    void *to = (void *)(uintptr_t)child->to;
    if (child->from != 0)
        memmove(to, (const void *)(uintptr_t)child->from, child->bytes);
    else
        memset(to, child->value, child->bytes);
    return PTX_OK;
}

static void drop(struct child *list)
{
    while (list != NULL) {
        struct child *next = list->next;
        free(list);
        list = next;
    }
}

struct child *ptx_take_launches(struct launches *launches)
{
    struct child *lists[2] = {NULL, NULL}, **ends[2] = {&lists[0], &lists[1]};
    for (struct child *child = launches->first, *next; child != NULL; child = next) {
        next = child->next;
        child->next = NULL;
        *ends[child->tail] = child;
        ends[child->tail] = &child->next;
    }
    *ends[0] = lists[1];
    drop(launches->buffers);
    launches->first = launches->last = launches->buffers = NULL;
    launches->count = 0;
    return lists[0];
}

/* Stores a pointer of the device runtime, such as a stream, at `address`. */
static enum ptx_status give(struct warp *warp, const struct instruction *instruction, uint64_t address,
                            unsigned lane, uint64_t value)
{
    enum ptx_status status = PTX_OK;
    void *to =
        ptx_reach(warp, instruction, SPACE_GENERIC, address, sizeof value, ACCESS_WRITE, lane, &status);
    if (to != NULL)
        memcpy(to, &value, sizeof value);
    return status;
}

/* cudaStreamNonBlocking and cudaEventDisableTiming are the only flags, and must be there. The order of
 * launches respects every stream and event, so one handle stands for all. */
static enum ptx_status create(struct warp *warp, const struct instruction *instruction,
                              const struct call *call, const unsigned char *frame, unsigned lane,
                              uint32_t flag, uint32_t *error)
{
    *error = read_word(call, frame, 1) == flag ? SUCCESS : INVALID_VALUE;
    return *error == SUCCESS ? give(warp, instruction, read_word(call, frame, 0), lane, STREAM_OTHER)
                             : PTX_OK;
}

static enum ptx_status device_malloc(struct warp *warp, const struct instruction *instruction,
                                     const struct call *call, const unsigned char *frame, unsigned lane,
                                     uint32_t *error)
{
    const struct ptx_memory *memory = &warp->block->grid->launch->memory;
    const uint64_t bytes = read_word(call, frame, 1);
    const uint64_t address =
        memory->allocate != NULL && bytes != 0 ? memory->allocate(memory->context, bytes) : 0;
    *error = address != 0 || bytes == 0 ? SUCCESS : MEMORY_ALLOCATION;
    return give(warp, instruction, read_word(call, frame, 0), lane, address);
}

enum ptx_status ptx_run_device_runtime(struct warp *warp, const struct instruction *instruction,
                                       const struct call *call, unsigned char *frame, unsigned lane)
{
    uint32_t *last = &warp->last_error[lane], error = SUCCESS;
    uint64_t result = 0;
    const char *refusal = NULL;
    enum ptx_status status = PTX_OK;
    switch (instruction->variant) {
    case BUILTIN_GET_PARAMETER_BUFFER:
        error = get_buffer(warp, call, frame, &result);
        break;
    case BUILTIN_LAUNCH_DEVICE:
        result = error = launch(warp, read_word(call, frame, 0), read_word(call, frame, 1), &refusal);
        if (refusal != NULL)
            status = ptx_fault(warp, instruction, PTX_ILLEGAL_INSTRUCTION,
                               "launch of a kernel with an unsupported PTX instruction", 0);
        break;
    case BUILTIN_MEMCPY_ASYNC:
    case BUILTIN_MEMSET_ASYNC:
        result = error = queue_copy(warp, call, frame, instruction->variant == BUILTIN_MEMSET_ASYNC);
        break;
    case BUILTIN_GET_LAST_ERROR:
    case BUILTIN_PEEK_AT_LAST_ERROR:
        result = *last;
        if (instruction->variant == BUILTIN_GET_LAST_ERROR)
            *last = SUCCESS;
        break;
    case BUILTIN_GET_ERROR_NAME:
    case BUILTIN_GET_ERROR_STRING:
        result =
            error_text((uint32_t)read_word(call, frame, 0), instruction->variant == BUILTIN_GET_ERROR_NAME);
        break;
    case BUILTIN_DEVICE_MALLOC:
        status = device_malloc(warp, instruction, call, frame, lane, &error);
        result = error;
        break;
    case BUILTIN_STREAM_CREATE:
        status = create(warp, instruction, call, frame, lane, 1, &error);
        result = error;
        break;
    case BUILTIN_EVENT_CREATE:
        status = create(warp, instruction, call, frame, lane, 2, &error);
        result = error;
        break;
    default: /* a stream or event is destroyed, recorded or awaited */
        break;
    }
    if (error != SUCCESS)
        *last = error;
    memcpy(frame + call->results[0].offset, &result, call->results[0].bytes);
    return status;
}
