/* A program may use a global before the region launches a kernel of its module (cudaMemcpyToSymbol), or
 * pass the global's address to a kernel of another module. So globals are remembered when the program
 * looks them up. */
#include "cuda/capture/symbol.h"

#include <errno.h>
#include <pthread.h>

#include "core/base/ranges.h"
#include "core/driver/slots.h"
#include "core/maps/binmap.h"
#include "cuda/capture/global.h"
#include "cuda/capture/module.h"
#include "cuda/capture/refuse.h"
#include "cuda/kernel/handle.h"
#include "cuda/memory/foreign.h"
#include "cuda/memory/tracked.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* An item of nb_ranges. Its module may be unloaded. */
struct symbol {
    uint64_t address, bytes;
    CUmodule module;
    CUlibrary library; /* NULL for a module's global */
    uint32_t slot;     /* export that looked it up */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nb_ranges symbols = NB_RANGES_INITIALIZER(struct symbol);

static void forget(void)
{
    nb_ranges_clear(&symbols);
}

const struct nb_component nb_capture_symbol_component = {.locks = {&lock}, .forget = forget};

static void remember(struct symbol symbol, uint64_t address, uint64_t bytes)
{
    struct symbol *former;
    if (nb_probing())
        nb_foreign_add(address, bytes, "a global");
    if (!nb_capture_enabled())
        return;
    symbol.address = address;
    symbol.bytes = bytes;
    pthread_mutex_lock(&lock);
    while ((former = nb_ranges_find(&symbols, address)) != NULL)
        nb_ranges_remove(&symbols, former);
    const bool is_remembered = bytes == 0 || nb_ranges_add(&symbols, &symbol);
    pthread_mutex_unlock(&lock);
    if (!is_remembered)
        nb_capture_refuse_later();
}

void nb_capture_add_symbol(const struct nb_call *call, CUmodule module, const char *name)
{
    const struct symbol symbol = {.module = module, .slot = call->slot};
    CUdeviceptr address = 0;
    size_t size = 0;
    const int saved = errno;
    if (NB_REAL(cuModuleGetGlobal_v2)(&address, &size, module, name) == CUDA_SUCCESS)
        remember(symbol, address, size);
    errno = saved;
}

void nb_post_get_global(const struct nb_call *call, CUresult result, CUdeviceptr *dptr, size_t *bytes,
                        CUmodule hmod, const char *name)
{
    (void)dptr, (void)bytes; /* the program may pass NULL for either */
    if (result != CUDA_SUCCESS || !nb_memory_is_tracked() || !nb_hook_enter(call))
        return;
    nb_capture_add_symbol(call, hmod, name);
    nb_hook_leave(call);
}

void nb_post_get_library_global(const struct nb_call *call, CUresult result, CUdeviceptr *dptr, size_t *bytes,
                                CUlibrary library, const char *name)
{
    const struct symbol symbol = {.library = library, .slot = call->slot};
    CUdeviceptr address = 0;
    size_t size = 0;
    (void)dptr, (void)bytes;
    if (result != CUDA_SUCCESS || !nb_memory_is_tracked() || !nb_hook_enter(call))
        return;
    const int saved = errno;
    if (NB_REAL(cuLibraryGetGlobal)(&address, &size, library, name) == CUDA_SUCCESS)
        remember(symbol, address, size);
    errno = saved;
    nb_hook_leave(call);
}

/* Make the global's module part of the capture. Its content is read now: before a launch
 * (nb_capture_find_globals), and after a copy or memset, which changes nothing when the replay repeats it. */
static void capture_module_of(const struct symbol *symbol)
{
    const struct nb_call call = {.thread = &nb_thread, .slot = symbol->slot};
    CUmodule module = symbol->module;
    const struct nb_binary *binary =
        nb_binmap_get(symbol->library != NULL ? nb_handle(symbol->library) : nb_handle(module));
    if (binary == NULL ||
        (symbol->library != NULL && NB_REAL(cuLibraryGetModule)(&module, symbol->library) != CUDA_SUCCESS))
        return;
    nb_capture_write_module_at(&call, binary, "a global", module);
}

bool nb_capture_find_global(uint64_t address, uint32_t *global, uint64_t *delta)
{
    if (nb_capture_find_added_global(address, global, delta))
        return true;
    pthread_mutex_lock(&lock);
    const struct symbol *known_symbol = nb_ranges_find(&symbols, address);
    const struct symbol symbol = known_symbol != NULL ? *known_symbol : (struct symbol){0};
    pthread_mutex_unlock(&lock);
    if (known_symbol == NULL)
        return false;
    const int saved = errno;
    capture_module_of(&symbol);
    errno = saved;
    return nb_capture_find_added_global(address, global, delta);
}

bool nb_capture_is_in_global(uint64_t address, uint64_t bytes)
{
    uint32_t global;
    uint64_t delta;
    return nb_capture_find_global(address, &global, &delta) && nb_capture_bytes_of_global(address) >= bytes;
}
