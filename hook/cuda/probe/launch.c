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
#include "cuda/probe/buffers.h"
#include "cuda/probe/kernel.h"
#include "cuda/probe/places.h"
#include "real.h"
#include "surface.h"

enum { END_SECONDS = 10, COLLECTED_AT_LAUNCH = 16 };

struct launch {
    struct nb_probed_launch shown;
    struct nb_probe_kernel *kernel;
    struct nb_probe_buffer *buffer; /* NULL: no map has a byte */
    struct nb_probe_note note;
    CUstream stream;
    struct nb_probe_places places;
    CUdeviceptr device; /* where the maps are */
    CUdeviceptr maps[NB_PROBE_MAPS_MAX];
    struct launch *next;
    void *parameters[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct launch *pending, **pending_end = &pending;
static bool has_exit_handler;

static CUstreamCaptureMode relax(CUstreamCaptureMode mode)
{
    NB_REAL(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
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
    made->shown = (struct nb_probed_launch){.function = made->kernel->function,
                                            .parameters = made->parameters,
                                            .flag = NB_LAUNCH_PROBED,
                                            .result = CUDA_ERROR_UNKNOWN};
    return true;
}

/* Apply the attributes of the original to the kernel that is launched in its place. */
static void copy_attributes(const struct nb_probe_kernel *kernel, CUfunction function)
{
    static const CUfunction_attribute copied[] = {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                                  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED};
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        int wanted = 0, current = 0;
        if (NB_REAL(cuFuncGetAttribute)(&wanted, copied[i], kernel->original) == CUDA_SUCCESS &&
            NB_REAL(cuFuncGetAttribute)(&current, copied[i], function) == CUDA_SUCCESS && wanted != current)
            NB_REAL(cuFuncSetAttribute)(function, copied[i], wanted);
    }
}

static bool is_in_context(const struct nb_call *call, struct nb_probe_kernel *kernel)
{
    CUcontext context = NULL;
    if (NB_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS && context == kernel->context)
        return true;
    nb_probe_skip(call, kernel, NB_SKIP_CONTEXT);
    return false;
}

/* The maps of a node of a graph are filled at each launch of the graph. */
static struct launch *make(const struct nb_call *call, struct nb_probe_kernel *kernel,
                           const struct nb_launch_form *launch, bool is_node)
{
    const struct nb_description *description = nb_find_description(launch->function);
    if (!is_in_context(call, kernel))
        return NULL;
    struct nb_probe_places places;
    if (!nb_probe_place_maps(kernel, launch, &places))
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
    places.is_on_host &=
        !is_node; /* launches of a graph share the node's maps, which are copied after each */
    made->places = places;
    made->buffer = places.bytes > 0 ? nb_probe_take_buffer(kernel->context, places.bytes) : NULL;
    if (places.bytes > 0 &&
        (made->buffer == NULL || (!is_node && !nb_probe_fill_maps(kernel, &places, made->buffer->device,
                                                                  made->buffer->host, made->stream)))) {
        nb_probe_give_buffer(made->buffer);
        free(made);
        return nb_probe_skip(call, kernel, NB_SKIP_MEMORY), NULL;
    }
    made->device = made->buffer != NULL ? made->buffer->device : 0;
    for (uint32_t i = 0; i < kernel->map_count && places.bytes > 0; i++)
        made->maps[i] = (places.is_on_host && places.of_map[i] != places.table ? nb_handle(made->buffer->host)
                                                                               : made->device) +
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

/* Hand the maps of a launch to the supervisor. */
static void hand_over(const struct nb_call *call, struct launch *made, bool is_whole)
{
    if (is_whole)
        nb_probe_learn_entries(made->kernel, &made->places, made->buffer->host);
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
        each->note.at = result == CUDA_SUCCESS || each->places.is_on_host;
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
        nb_probe_give_buffer(each->buffer);
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

/* A launch of the kernel without probes: its parameters are the original's. */
static struct launch *make_pruned(const struct nb_call *call, struct nb_probe_kernel *kernel,
                                  const struct nb_launch_form *launch)
{
    struct launch *made = is_in_context(call, kernel) ? calloc(1, sizeof *made) : NULL;
    if (made == NULL)
        return NULL;
    made->kernel = kernel;
    made->shown = (struct nb_probed_launch){.function = kernel->pruned,
                                            .parameters = launch->kernelParams,
                                            .extra = launch->extra,
                                            .flag = NB_LAUNCH_PRUNED,
                                            .result = CUDA_ERROR_UNKNOWN};
    return made;
}

/* The form of the kernel that the next launch of a benchmark runs: a launch flag, or 0 for the original. Each
 * round has all forms, in an order that changes from round to round: a program that launches kernels of two
 * sizes in turn measures each size in each form. */
static uint32_t choose_form(struct nb_probe_kernel *kernel)
{
    static const uint32_t orders[][3] = {
        {0, NB_LAUNCH_PRUNED, NB_LAUNCH_PROBED}, {NB_LAUNCH_PROBED, 0, NB_LAUNCH_PRUNED},
        {NB_LAUNCH_PRUNED, NB_LAUNCH_PROBED, 0}, {NB_LAUNCH_PROBED, NB_LAUNCH_PRUNED, 0},
        {0, NB_LAUNCH_PROBED, NB_LAUNCH_PRUNED}, {NB_LAUNCH_PRUNED, 0, NB_LAUNCH_PROBED},
    };
    if (!nb_probe_is_benchmark())
        return NB_LAUNCH_PROBED;
    const uint32_t turn = atomic_fetch_add(&kernel->turns, 1);
    const uint32_t round = (turn / 3) * 2654435761u >> 16; /* Knuth's multiplicative hash */
    const uint32_t form = orders[round % 6][turn % 3];
    return form == NB_LAUNCH_PRUNED && kernel->pruned == NULL ? 0 : form;
}

struct nb_probed_launch *nb_probe_begin(const struct nb_call *call, const struct nb_launch_form *launch)
{
    if (call->thread == NULL || launch->problem != NULL ||
        nb_describe(call->thread, launch->function) == NULL)
        return NULL;
    if (nb_stream_is_captured(call, launch->stream))
        return NULL; /* the launch becomes a node of a graph */
    /* Other streams of this thread may be in capture, where loading and allocating would be refused. */
    const CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    install_exit_handler();
    (void)collect(call, NULL, COLLECTED_AT_LAUNCH);
    struct nb_probe_kernel *kernel = nb_probe_kernel_for(call, launch->function);
    const uint32_t form = kernel != NULL ? choose_form(kernel) : 0;
    struct launch *made = form == NB_LAUNCH_PROBED   ? make(call, kernel, launch, false)
                          : form == NB_LAUNCH_PRUNED ? make_pruned(call, kernel, launch)
                                                     : NULL;
    if (made != NULL)
        copy_attributes(kernel, made->shown.function);
    relax(mode);
    return made != NULL ? &made->shown : NULL;
}

/* Queue the copy of the maps behind the kernel. */
static void queue_copy(const struct nb_call *call, struct launch *made)
{
    struct nb_probe_buffer *buffer = made->buffer;
    const bool is_queued = (made->places.is_on_host ||
                            NB_REAL(cuMemcpyDtoHAsync_v2)(buffer->host, made->device, made->note.bytes,
                                                          made->stream) == CUDA_SUCCESS) &&
                           NB_REAL(cuEventRecord)(buffer->event, made->stream) == CUDA_SUCCESS;
    /* If the kernel has ended the context already, queries of the event return that error. */
    if (!is_queued && !made->places.is_on_host) {
        nb_probe_skip(call, made->kernel, NB_SKIP_LOST);
        free(made); /* the device may still write to the buffer, so it is not used again */
        return;
    }
    pthread_mutex_lock(&lock);
    *pending_end = made;
    pending_end = &made->next;
    pthread_mutex_unlock(&lock);
}

static void end(const struct nb_call *call, struct launch *made, CUresult of_program)
{
    struct nb_probe_buffer *buffer = made->buffer;
    const CUresult result = made->shown.result;
    /* If the original fails, too, the launch is wrong, and the probed kernel may be right. */
    if (result != CUDA_SUCCESS && of_program == CUDA_SUCCESS)
        nb_probe_kernel_give_up(call, made->kernel,
                                made->shown.flag == NB_LAUNCH_PROBED
                                    ? "the driver refuses to launch the probed kernel"
                                    : "the driver refuses to launch the engine's kernel without probes",
                                result);
    if (result != CUDA_SUCCESS || buffer == NULL) {
        nb_probe_give_buffer(buffer);
        free(made);
        return;
    }
    queue_copy(call, made);
}

void nb_probe_end(const struct nb_call *call, struct nb_probed_launch *launch, CUresult result)
{
    if (!nb_hook_enter(call))
        return;
    end(call, (struct launch *)launch, result); /* its first member */
    nb_hook_leave(call);
}

void nb_probe_forget_launches(const struct nb_call *call, CUcontext context)
{
    struct launch *lost = NULL;
    pthread_mutex_lock(&lock);
    pending_end = &pending;
    while (*pending_end != NULL) {
        struct launch *each = *pending_end;
        if (context != NULL && each->buffer->context != context) {
            pending_end = &each->next;
            continue;
        }
        *pending_end = each->next;
        each->next = lost;
        lost = each;
    }
    pthread_mutex_unlock(&lock);
    for (struct launch *next; lost != NULL; lost = next) {
        next = lost->next;
        nb_probe_skip(call, lost->kernel, NB_SKIP_LOST);
        nb_probe_drop_buffer(lost->buffer);
        free(lost);
    }
    nb_probe_forget_buffers(context);
}

/* A kernel whose probed form needs more of the device than the original may not start at all. */
static bool fits_device(const struct nb_probe_kernel *kernel, const struct nb_launch_form *launch)
{
    int most = 0;
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return NB_REAL(cuFuncGetAttribute)(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function) ==
               CUDA_SUCCESS &&
           most > 0 && threads <= (uint64_t)most;
}

struct nb_probed_launch *nb_probe_make_node(const struct nb_call *call, const struct nb_launch_form *launch)
{
    install_exit_handler();
    struct nb_probe_kernel *kernel = nb_probe_kernel_for(call, launch->function);
    if (kernel == NULL || !fits_device(kernel, launch))
        return NULL;
    struct launch *made = make(call, kernel, launch, true);
    if (made != NULL)
        copy_attributes(kernel, kernel->function);
    return made != NULL ? &made->shown : NULL;
}

struct nb_probed_launch *nb_probe_begin_node(const struct nb_call *call, const struct nb_probed_launch *node,
                                             CUstream stream)
{
    const struct launch *of = (const struct launch *)node; /* its first member */
    struct launch *made = of->buffer != NULL ? calloc(1, sizeof *made) : NULL;
    if (made == NULL)
        return NULL;
    *made = *of;
    made->next = NULL;
    made->stream = nb_stream_resolve(call, stream);
    made->note.stream = nb_handle(stream);
    made->buffer = nb_probe_take_buffer(of->buffer->context, of->places.bytes);
    if (made->buffer != NULL &&
        nb_probe_fill_maps(of->kernel, &of->places, of->device, made->buffer->host, made->stream))
        return &made->shown;
    nb_probe_give_buffer(made->buffer);
    free(made);
    nb_probe_skip(call, of->kernel, NB_SKIP_MEMORY);
    return NULL;
}

void nb_probe_end_node(const struct nb_call *call, struct nb_probed_launch *launch, CUresult result)
{
    struct launch *made = (struct launch *)launch;
    if (result == CUDA_SUCCESS) {
        queue_copy(call, made);
        return;
    }
    nb_probe_give_buffer(made->buffer);
    free(made);
}

void nb_probe_free_node(struct nb_probed_launch *node, enum nb_probe_end how)
{
    struct launch *made = (struct launch *)node;
    if (how == NB_PROBE_IDLE)
        nb_probe_give_buffer(made->buffer);
    else if (how == NB_PROBE_GONE)
        nb_probe_drop_buffer(made->buffer);
    free(made);
}

static void forget(void)
{
    pending = NULL;
    pending_end = &pending;
}

const struct nb_component nb_probe_launch_component = {.locks = {&lock}, .forget = forget};
