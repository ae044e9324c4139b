#include "core/maps/binmap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/handle_map.h"
#include "core/image/image.h"
#include "core/ring/session.h"

static struct nb_handle_map binaries = NB_HANDLE_MAP_INITIALIZER;
static _Atomic uint64_t last_number;

/* Return the path of the library that contains the image: it names whose kernels these are, while the
 * caller is often only the CUDA runtime. For an image in allocated memory, return the caller's path. */
static const char *find_origin(const struct nb_call *call, const void *image)
{
    Dl_info info;
    if (image != NULL && dladdr(image, &info) != 0 && info.dli_fname != NULL)
        return info.dli_fname;
    return dladdr(call->caller, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

static void write_record(const struct nb_call *call, const struct nb_binary *binary, uint64_t handle,
                         const struct nb_extent *extent, uint64_t stored_at, const char *note)
{
    const uint32_t origin_bytes = (uint32_t)strlen(binary->origin);
    const uint32_t note_bytes = (uint32_t)strlen(note);
    const size_t size = (sizeof(struct nb_image) + origin_bytes + note_bytes + 7) & ~(size_t)7;
    struct nb_image *record = nb_ring_reserve(call->thread, size);
    if (record == NULL)
        return;
    memset(record, 0, size);
    record->record = (struct nb_record){.size = (uint32_t)size,
                                        .kind = NB_RECORD_IMAGE,
                                        .slot = (uint16_t)call->slot,
                                        .begin = call->begin,
                                        .end = nb_clock()};
    record->image = binary->number;
    record->handle = handle;
    record->bytes = binary->bytes;
    record->stored_at = binary->kept != NULL ? stored_at : 0;
    record->format = extent->format;
    record->stored = binary->kept != NULL;
    record->origin_bytes = origin_bytes;
    record->note_bytes = note_bytes;
    char *text = (char *)(record + 1);
    memcpy(text, binary->origin, origin_bytes);
    memcpy(text + origin_bytes, note, note_bytes);
    nb_ring_commit(call->thread, size);
}

static void load(const struct nb_call *call, uint64_t handle, uint64_t context,
                 const struct nb_extent *extent)
{
    const char *origin = find_origin(call, extent->start);
    const size_t origin_bytes = strnlen(origin, NB_PAGE);
    struct nb_binary *binary = calloc(1, sizeof *binary + origin_bytes + 1);
    if (binary == NULL)
        return;
    const uint64_t stored_at =
        extent->bytes != 0 ? nb_session_store_image(extent->start, extent->bytes) : UINT64_MAX;
    const char *note = extent->problem;
    if (extent->bytes != 0 && stored_at == UINT64_MAX) {
        atomic_fetch_add_explicit(&nb_session()->images_dropped, 1, memory_order_relaxed);
        note = "the image store of the session is full: load fewer images in one run";
    }
    binary->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    binary->handle = handle;
    binary->context = context;
    binary->bytes = extent->bytes;
    binary->format = extent->format;
    memcpy(binary->origin, origin, origin_bytes);
    if (stored_at != UINT64_MAX)
        binary->kept = (const char *)nb_session() + nb_session()->image_offset + stored_at;
    /* Write the record first: then the supervisor knows the image before any thread can find the handle. */
    write_record(call, binary, handle, extent, stored_at, note);
    nb_handle_map_set(&binaries, handle, binary);
}

void nb_binmap_load(const struct nb_call *call, uint64_t handle, uint64_t context, const void *image,
                    uint64_t bytes)
{
    struct nb_extent extent = nb_image_measure(image, bytes != 0 ? bytes : SIZE_MAX, 1);
    if (bytes != 0 && extent.bytes == 0 && extent.start == image)
        extent.bytes = bytes; /* unknown format, but the caller gave the size */
    load(call, handle, context, &extent);
}

void nb_binmap_load_file(const struct nb_call *call, uint64_t handle, uint64_t context, const char *path)
{
    struct nb_extent extent = {NULL, 0, NB_IMAGE_UNKNOWN, "the file could not be read again"};
    struct stat status;
    void *mapping = MAP_FAILED;
    const int saved = errno;
    const int descriptor = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0)
        mapping = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping != MAP_FAILED) {
        extent = nb_image_measure(mapping, (size_t)status.st_size, 0);
        extent.bytes = (uint64_t)status.st_size; /* the whole file: PTX in a file has no terminator */
        extent.problem[0] = 0;
    }
    load(call, handle, context, &extent);
    if (mapping != MAP_FAILED)
        munmap(mapping, (size_t)status.st_size);
    if (descriptor >= 0)
        close(descriptor);
    errno = saved;
}

void nb_binmap_alias(uint64_t handle, uint64_t of)
{
    void *binary = nb_handle_map_get(&binaries, of);
    if (binary != NULL)
        nb_handle_map_set(&binaries, handle, binary);
}

const struct nb_binary *nb_binmap_get(uint64_t handle)
{
    return nb_handle_map_get(&binaries, handle);
}

static int has_number(const void *value, uint64_t number)
{
    return ((const struct nb_binary *)value)->number == number;
}

static int has_context(const void *value, uint64_t context)
{
    return ((const struct nb_binary *)value)->context == context;
}

void nb_binmap_unload(uint64_t number)
{
    nb_handle_map_remove_if(&binaries, has_number, number);
}

void nb_binmap_unload_context(uint64_t context)
{
    if (context != 0)
        nb_handle_map_remove_if(&binaries, has_context, context);
}

static void forget(void)
{
    nb_handle_map_forget(&binaries);
}

const struct nb_component nb_binmap_component = {.locks = {&binaries.lock}, .forget = forget};
