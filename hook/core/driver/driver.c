#include "core/driver/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/log.h"
#include "core/driver/slots.h"

/* Folders to search if nb_driver_global is not set. The supervisor always sets it; a user who preloads
 * the shim by hand may not. Container runtimes mount the driver in the second group. */
static const char *const usual_folders[] = {"/usr/lib/x86_64-linux-gnu",
                                            "/usr/lib64",
                                            "/lib/x86_64-linux-gnu",
                                            "/lib64",
                                            "/usr/lib",
                                            "/usr/local/nvidia/lib64",
                                            "/usr/local/nvidia/lib",
                                            "/usr/lib/wsl/lib",
                                            "/opt/rocm/lib"};

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool is_resolved;  /* read without the lock through __atomic */
static bool is_resolving; /* under the lock: true again only if the driver's constructors call the shim */
static char driver_path[PATH_MAX];
static void (*prepare_process)(void);
static bool is_refused; /* read and written through __atomic */

int nb_absent(void)
{
    return 801;
}

int nb_refused(void)
{
    return nb_status_refused;
}

const char *nb_driver_path(void)
{
    return driver_path;
}

/* Find libc's own dlopen, because the preload library's dlopen would return this shim. libc's was in libdl
 * before glibc 2.34. NOLOAD: both libraries are loaded in every process that runs this. */
static void *(*unhooked_dlopen(void))(const char *, int)
{
    static const char *const homes[] = {"libc.so.6", "libdl.so.2"};
    union {
        void *address;
        void *(*function)(const char *, int);
    } found = {NULL};
    for (size_t i = 0; found.address == NULL && i < sizeof homes / sizeof *homes; i++) {
        void *home = dlopen(homes[i], RTLD_LAZY | RTLD_NOLOAD);
        if (home != NULL)
            found.address = dlsym(home, "dlopen");
    }
    return found.function;
}

static bool is_shim(void *handle)
{
    const void *probe = dlsym(handle, nb_driver_probe);
    for (unsigned i = 0; i < nb_export_count; i++)
        if (nb_exports[i] == probe)
            return true;
    return false;
}

static void *open_driver(const char *path)
{
    char resolved_path[PATH_MAX];
    if (realpath(path, resolved_path) == NULL)
        return NULL;
    /* RTLD_LOCAL: the program's own lookups must still find the shim. */
    void *handle = unhooked_dlopen()(resolved_path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return NULL;
    if (dlsym(handle, nb_driver_probe) == NULL || is_shim(handle)) {
        dlclose(handle);
        return NULL;
    }
    memcpy(driver_path, resolved_path, sizeof driver_path);
    return handle;
}

static void *open_in_folders(const char *folders)
{
    void *handle = NULL;
    while (handle == NULL && folders != NULL && *folders != 0) {
        const size_t length = strcspn(folders, ":");
        char path[PATH_MAX];
        const int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, nb_driver_soname);
        if (length > 0 && written > 0 && (size_t)written < sizeof path)
            handle = open_driver(path);
        folders += length;
        folders += *folders == ':';
    }
    return handle;
}

/* The loader's reason, if it has one, names the library that the driver lacks. */
static void log_open_error(const char *path, const char *why)
{
    char what[PATH_MAX + 512];
    snprintf(what, sizeof what, "cannot open the driver that %s names: %s%s%s%s", nb_driver_global, path,
             why != NULL ? " (" : "", why != NULL ? why : "", why != NULL ? ")" : "");
    nb_log(what, NULL,
           "; set it to the full path of the real driver, and LD_LIBRARY_PATH to the folders of the "
           "libraries it needs");
}

static void *find_driver(void)
{
    const char *path = getenv(nb_driver_global);
    if (path != NULL && *path != 0) {
        dlerror(); /* drop older messages */
        void *handle = open_driver(path);
        if (handle == NULL)
            log_open_error(path, dlerror());
        return handle;
    }
    void *handle = open_in_folders(getenv("LD_LIBRARY_PATH"));
    for (size_t i = 0; handle == NULL && i < sizeof usual_folders / sizeof *usual_folders; i++)
        handle = open_in_folders(usual_folders[i]);
    if (handle == NULL) {
        char then[128];
        snprintf(then, sizeof then, "; set %s to its full path", nb_driver_global);
        nb_log("found no real ", nb_driver_soname, then);
    }
    return handle;
}

/* Sorted map from addresses to slots. A runtime looks up a few hundred of them when it starts, and none
 * later. */
struct address {
    const void *address;
    int slot;
};

static struct address *addresses;
static size_t address_count;

static int compare_addresses(const void *left, const void *right)
{
    const struct address *a = left, *b = right;
    if (a->address != b->address)
        return (uintptr_t)a->address < (uintptr_t)b->address ? -1 : 1;
    return a->slot - b->slot;
}

int nb_slot_of_address(const void *address)
{
    size_t low = 0, high = address_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)addresses[middle].address < (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < address_count && addresses[low].address == address ? addresses[low].slot : -1;
}

static void set_target(unsigned slot, void *target)
{
    const bool is_diverted = nb_guarded[slot] != 0 && nb_guards[slot] != NULL;
    __atomic_store_n(&nb_slots[slot], target, __ATOMIC_RELAXED);
    __atomic_store_n(&nb_jumps[slot], is_diverted ? nb_guards[slot] : target, __ATOMIC_RELAXED);
}

static void fill_slot(unsigned slot, void *address)
{
    void *target = address != NULL ? address : (void *)nb_absent;
    if (nb_export_fails[slot] && __atomic_load_n(&is_refused, __ATOMIC_ACQUIRE))
        target = (void *)nb_refused;
    set_target(slot, target);
}

static void fill_slots(void *driver)
{
    addresses = calloc(nb_export_count, sizeof *addresses);
    for (unsigned i = 0; i < nb_export_count; i++) {
        void *address = driver != NULL ? dlsym(driver, nb_export_names[i]) : NULL;
        if (address != NULL && addresses != NULL)
            addresses[address_count++] = (struct address){address, (int)i};
        fill_slot(i, address);
    }
    if (addresses != NULL)
        qsort(addresses, address_count, sizeof *addresses, compare_addresses);
}

void nb_resolve_all(void)
{
    if (__atomic_load_n(&is_resolved, __ATOMIC_ACQUIRE))
        return;
    const int saved = errno;
    if (prepare_process != NULL)
        prepare_process();
    pthread_mutex_lock(&lock);
    if (is_resolving) {
        /* The driver calls itself through the shim while it is being opened. It cannot be served yet;
         * without an answer its stub would return here for ever. */
        for (unsigned i = 0; i < nb_export_count; i++)
            set_target(i, (void *)nb_absent);
    } else if (!is_resolved) {
        is_resolving = true;
        fill_slots(find_driver());
        is_resolving = false;
        __atomic_store_n(&is_resolved, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
}

void nb_driver_install(void (*prepare)(void))
{
    prepare_process = prepare;
}

/* Before the driver is open, fill_slot() refuses; afterwards its slots are replaced here. */
void nb_driver_refuse(void)
{
    __atomic_store_n(&is_refused, true, __ATOMIC_RELEASE);
    if (!__atomic_load_n(&is_resolved, __ATOMIC_ACQUIRE))
        return;
    for (unsigned i = 0; i < nb_export_count; i++)
        if (nb_export_fails[i])
            set_target(i, (void *)nb_refused);
}

/* In a forked child. The lock is not taken before a fork: the driver's constructors run under it, and one
 * of them may fork. If another thread was opening the driver, the child opens it again. */
static void forget(void)
{
    if (__atomic_load_n(&is_resolved, __ATOMIC_ACQUIRE))
        return;
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    is_resolving = false;
    address_count = 0;
}

const struct nb_component nb_driver_component = {.forget = forget};

bool nb_export_is_per_thread(uint32_t slot)
{
    const char *suffix = strrchr(nb_export_names[slot], '_');
    return suffix != NULL && (strcmp(suffix, "_ptsz") == 0 || strcmp(suffix, "_ptds") == 0 ||
                              strcmp(suffix, "_spt") == 0 /* HIP's */);
}
