/* Recording a region: what each kind of hook tells the capture. Every function here is called inside a hook
 * (nb_hook_enter), only where nb_region_wanted() or nb_region_is_open() as its comment says, and preserves
 * errno. */
#ifndef NEUTRINO_CUDA_CAPTURE_H
#define NEUTRINO_CUDA_CAPTURE_H

#include <cuda.h>

#include "core/maps/binmap.h"
#include "core/process/call.h"
#include "core/wire/capture_format.h"
#include "core/region/recording.h"
#include "core/region/region.h"

/* capture_stream.c: the index of a stream element, written at its first use. `call` says whether 0 is the
 * legacy or the per-thread default stream (its name ends in _ptsz or _ptds). */
uint32_t nb_capture_stream(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

/* capture_refuse.c: a call that a replay cannot repeat, made while the region is open. Said once for a call
 * and reason; `reason` is a sentence for people: "reads device memory; what follows may depend on it". */
void nb_capture_refuse(const struct nb_call *call, const char *reason) __attribute__((visibility("hidden")));

/* capture_refuse.c: the same for a read by the host, which harms a replay only where work follows. */
void nb_capture_refuse_read(const struct nb_call *call, const char *reason)
    __attribute__((visibility("hidden")));

/* capture_refuse.c: something that the driver was given in this region could not be kept for want of memory;
 * or something that every later region needs to know. Said once. */
void nb_capture_lost(void) __attribute__((visibility("hidden")));
void nb_capture_lost_for_good(void) __attribute__((visibility("hidden")));

/* capture_refuse.c: a region begins: refuse it if anything was lost for good. */
void nb_capture_losses(void) __attribute__((visibility("hidden")));

/* capture_kernel.c: the index of a kernel element (with its module, image and variables), written at its
 * first use with the attributes it now has. NB_NOTHING, and a refusal written, if its image or layout is not
 * known. */
uint32_t nb_capture_kernel(const struct nb_call *call, CUfunction function)
    __attribute__((visibility("hidden")));

/* capture_kernel.c: a launch's parameters as the kernel's buffer, in malloced memory, with its size. */
struct nb_capture_parameters {
    void *start;
    uint32_t bytes;
};
struct nb_capture_parameters nb_capture_parameters(const struct nb_call *call, CUfunction function,
                                                   void **kernelParams, void **extra)
    __attribute__((visibility("hidden")));

/* capture_kernel.c: relocations of, and refusals for, addresses found in the parameters of operation
 * `operation`: into a module's variable, into memory that no capture holds (foreign.h). */
void nb_capture_check_parameters(const struct nb_call *call, uint32_t operation, const void *parameters,
                                 uint32_t bytes) __attribute__((visibility("hidden")));

/* capture_attribute.c: the launch attributes that a replay can repeat, with refusals for the others. `into`
 * has room for `count`; returns how many there are. */
uint32_t nb_capture_attributes(const struct nb_call *call, const CUlaunchAttribute *attributes,
                               uint32_t count, struct nb_attribute *into)
    __attribute__((visibility("hidden")));

/* capture_module.c: the index of the module element of a kernel's image (with the image and its variables),
 * written at its first use. `function` is the kernel's in the current context. NB_NOTHING, and a refusal
 * written, if the image is not known or not kept. */
uint32_t nb_capture_module(const struct nb_call *call, const struct nb_binary *binary, const char *kernel,
                           CUfunction function) __attribute__((visibility("hidden")));

/* capture_module.c: the same for a module that is known by its handle in the current context. `whose` code it
 * is, for people. */
uint32_t nb_capture_module_at(const struct nb_call *call, const struct nb_binary *binary, const char *whose,
                              CUmodule handle) __attribute__((visibility("hidden")));

/* capture_module.c: what the load of `handle` asked of the compiler. Where nb_region_wanted(). */
void nb_capture_load_options(uint64_t handle, unsigned int count, const CUjit_option *options,
                             void *const *values) __attribute__((visibility("hidden")));

/* Append an operation with the bytes that its spans refer to, in their order, at most two; their offsets are
 * filled in here (capture_launch.c). Returns its index, or NB_NOTHING, and a refusal written, if its stream
 * was not. */
uint32_t nb_capture_operation(struct nb_capture_operation *operation, const struct nb_piece *data,
                              unsigned count) __attribute__((visibility("hidden")));

/* capture_global.c: write the variables of module element `module`, as they are now, before its first kernel
 * is launched in the region. `handle`: the module in the current context (a library's through
 * cuLibraryGetModule); `binary`: its image, whose bytes are kept. */
void nb_capture_globals_of(const struct nb_call *call, uint32_t module, const struct nb_binary *binary,
                           CUmodule handle) __attribute__((visibility("hidden")));

/* capture_symbol.c: does a module's variable stand at this address? If so, its element's index and how many
 * bytes into it the address is. The module of one that the program has looked up becomes part of the
 * recording here, so this may be called before an operation on it or after. Where nb_region_is_open(). */
bool nb_capture_global_find(uint64_t address, uint32_t *global, uint64_t *delta)
    __attribute__((visibility("hidden")));

/* capture_global.c: the same among those that the recording has. */
bool nb_capture_global_kept(uint64_t address, uint32_t *global, uint64_t *delta)
    __attribute__((visibility("hidden")));

/* capture_symbol.c: the program knows where this variable is. Inside a hook, where nb_region_wanted(). */
void nb_capture_symbol(const struct nb_call *call, CUmodule module, const char *name)
    __attribute__((visibility("hidden")));

/* capture_symbol.c: does one variable hold all of these bytes? */
bool nb_capture_global_holds(uint64_t address, uint64_t bytes) __attribute__((visibility("hidden")));

/* capture_global.c: how many bytes of a variable that the recording has are there, from the address on; 0:
 * none is. */
uint64_t nb_capture_global_room(uint64_t address) __attribute__((visibility("hidden")));

/* capture_global.c: the driver has unloaded this image. Where nb_region_is_open(). */
void nb_capture_globals_unloaded(const struct nb_call *call, const struct nb_binary *binary)
    __attribute__((visibility("hidden")));

/* capture_global.c: write the variables, as they were and as they are now, when the device is idle at the
 * region's end. */
CUresult nb_capture_globals_end(void) __attribute__((visibility("hidden")));

/* capture_kernel.c, capture_module.c, capture_launch.c: their part of nb_capture_reset. */
void nb_capture_kernel_reset(void) __attribute__((visibility("hidden")));
void nb_capture_module_reset(void) __attribute__((visibility("hidden")));
void nb_capture_launch_reset(void) __attribute__((visibility("hidden")));

/* hook/<vendor>: why a replay cannot make a stream like this one, for what only that vendor has; else NULL.
 */
const char *nb_vendor_stream_refused(CUstream stream) __attribute__((visibility("hidden")));

/* capture_stream.c: one that was given work in this region, else NB_NOTHING; a number that tells it from
 * others. */
uint32_t nb_capture_stream_used(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));
uint64_t nb_capture_stream_key(const struct nb_call *call, CUstream stream)
    __attribute__((visibility("hidden")));

/* capture_stream.c: the host has waited for a stream, by its index, or for all (NB_NOTHING). */
void nb_capture_join(uint32_t stream) __attribute__((visibility("hidden")));

/* capture_stream.c: before an operation that is no launch is given to the driver; a region may begin or end
 * here. Is it to be recorded, if the driver accepts it? Where nb_region_wanted(). */
bool nb_capture_announce(const struct nb_call *call, CUstream stream) __attribute__((visibility("hidden")));

/* The driver has answered: is what was announced to be recorded? If the region has begun to end meanwhile,
 * the recording will say so. */
static inline bool nb_capture_is_taken(bool announced, CUresult result)
{
    if (!announced || result != CUDA_SUCCESS)
        return false;
    if (!nb_region_is_open())
        nb_recording_miss();
    return nb_region_is_open();
}

/* Is what the driver has accepted part of a region? For calls that need no announcing. */
static inline bool nb_capture_happened(const struct nb_call *call, CUresult result)
{
    return result == CUDA_SUCCESS && call->thread != NULL && nb_region_is_open();
}

/* capture_stream.c, capture_event.c, capture_refuse.c: their part of nb_capture_reset. */
void nb_capture_stream_reset(void) __attribute__((visibility("hidden")));
void nb_capture_event_reset(void) __attribute__((visibility("hidden")));
void nb_capture_refuse_reset(void) __attribute__((visibility("hidden")));

/* capture_global.c, capture_graph.c: their part of nb_capture_reset. */
void nb_capture_global_reset(void) __attribute__((visibility("hidden")));
void nb_capture_graph_reset(void) __attribute__((visibility("hidden")));

/* capture_state.c: forget what was written of kernels, streams, modules, events and graphs: a new recording
 * starts from nothing. Each file that keeps such an index has a reset of its own, called from there. */
void nb_capture_reset(void) __attribute__((visibility("hidden")));

#endif
