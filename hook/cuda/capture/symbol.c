/* Variables that the program has looked up: it may work on one before any kernel of its module is used in the
 * region (cudaMemcpyToSymbol), or give its address to another module's kernel. */
#include "cuda/capture/symbol.h"

#include <errno.h>
#include <pthread.h>

#include "core/base/ranges.h"
#include "core/driver/slots.h"
#include "core/maps/binmap.h"
#include "core/region/region.h"
#include "cuda/capture/global.h"
#include "cuda/capture/module.h"
#include "cuda/capture/refuse.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* An item of nb_ranges. Its module may be gone. */
struct symbol {
    uint64_t address, bytes;
    CUmodule module;
    CUlibrary library; /* else NULL */
    uint32_t slot;     /* of the call that looked it up */
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
    symbol.address = address;
    symbol.bytes = bytes;
    pthread_mutex_lock(&lock);
    while ((former = nb_ranges_find(&symbols, address)) != NULL)
        nb_ranges_remove(&symbols, former);
    const bool known = bytes == 0 || nb_ranges_add(&symbols, &symbol);
    pthread_mutex_unlock(&lock);
    if (!known)
        nb_capture_lost_for_good();
}

void nb_capture_symbol(const struct nb_call *call, CUmodule module, const char *name)
{
    const struct symbol symbol = {.module = module, .slot = call->slot};
    CUdeviceptr address = 0;
    size_t size = 0;
    const int saved = errno;
    if (NB_REAL(cuModuleGetGlobal_v2)(&address, &size, module, name) == CUDA_SUCCESS)
        remember(symbol, address, size);
    errno = saved;
}

void nb_after_get_global(const struct nb_call *call, CUresult result, CUdeviceptr *dptr, size_t *bytes,
                         CUmodule hmod, const char *name)
{
    (void)dptr, (void)bytes; /* the program need not have asked for both */
    if (result != CUDA_SUCCESS || !nb_region_wanted() || !nb_hook_enter(call))
        return;
    nb_capture_symbol(call, hmod, name);
    nb_hook_leave(call);
}

void nb_after_get_library_global(const struct nb_call *call, CUresult result, CUdeviceptr *dptr,
                                 size_t *bytes, CUlibrary library, const char *name)
{
    const struct symbol symbol = {.library = library, .slot = call->slot};
    CUdeviceptr address = 0;
    size_t size = 0;
    (void)dptr, (void)bytes;
    if (result != CUDA_SUCCESS || !nb_region_wanted() || !nb_hook_enter(call))
        return;
    const int saved = errno;
    if (NB_REAL(cuLibraryGetGlobal)(&address, &size, library, name) == CUDA_SUCCESS)
        remember(symbol, address, size);
    errno = saved;
    nb_hook_leave(call);
}

/* Its module becomes part of the recording. What the call that brought us here did to the variable is in what
 * is read now; a replay does it again, which changes nothing. */
static void use(const struct symbol *symbol)
{
    const struct nb_call call = {.thread = &nb_thread, .slot = symbol->slot};
    CUmodule module = symbol->module;
    const struct nb_binary *binary =
        nb_binmap_get(symbol->library != NULL ? nb_handle(symbol->library) : nb_handle(module));
    if (binary == NULL ||
        (symbol->library != NULL && NB_REAL(cuLibraryGetModule)(&module, symbol->library) != CUDA_SUCCESS))
        return;
    nb_capture_module_at(&call, binary, "a variable", module);
}

bool nb_capture_global_find(uint64_t address, uint32_t *global, uint64_t *delta)
{
    if (nb_capture_global_kept(address, global, delta))
        return true;
    pthread_mutex_lock(&lock);
    const struct symbol *found = nb_ranges_find(&symbols, address);
    const struct symbol symbol = found != NULL ? *found : (struct symbol){0};
    pthread_mutex_unlock(&lock);
    if (found == NULL)
        return false;
    const int saved = errno;
    use(&symbol);
    errno = saved;
    return nb_capture_global_kept(address, global, delta);
}

bool nb_capture_global_holds(uint64_t address, uint64_t bytes)
{
    uint32_t global;
    uint64_t delta;
    return nb_capture_global_find(address, &global, &delta) && nb_capture_global_room(address) >= bytes;
}
