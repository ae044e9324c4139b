/* Finds a driver that is loaded without the shim, and says so.
 *
 * The shim in LD_PRELOAD has the driver's soname, so the loader takes it for the driver of every linked
 * program. If only this library is preloaded, such programs get the real driver, and dlopen() is never
 * called. So this library looks once when the program starts, and again when it ends. */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "../hook/core/base/log.h"
#include "../hook/core/base/required.h"
#include "driver_name.h"

#define CANNOT_EXECUTE 126 /* as a shell reports it */

struct loaded {
    const char *driver; /* path of a driver, or NULL */
    bool has_shim;
};

/* Every shim has a note of this name (codegen/emit/surface_s.py). */
static bool has_shim_note(const char *at, size_t bytes)
{
    static const char name[] = "neutrino";
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)at;
        const size_t name_bytes = (note->n_namesz + 3) & ~(size_t)3, body = (note->n_descsz + 3) & ~(size_t)3;
        const size_t size = sizeof *note + name_bytes + body;
        if (size > bytes)
            return false;
        if (note->n_namesz == sizeof name && memcmp(note + 1, name, sizeof name) == 0)
            return true;
        at += size;
        bytes -= size;
    }
    return false;
}

static bool is_shim(const struct dl_phdr_info *object)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE &&
            has_shim_note((const char *)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz))
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *found)
{
    (void)size;
    struct loaded *loaded = found;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *base = slash != NULL ? slash + 1 : object->dlpi_name;
    if (!is_driver_name(base, "libcuda") && !is_driver_name(base, "libamdhip64"))
        return 0;
    if (is_shim(object))
        loaded->has_shim = true;
    else
        loaded->driver = object->dlpi_name;
    return 0;
}

static bool report(void)
{
    struct loaded loaded = {NULL, false};
    dl_iterate_phdr(look_at, &loaded);
    if (loaded.driver == NULL || loaded.has_shim)
        return false;
    nb_log("the driver is loaded without the shim, because LD_PRELOAD lacks the shim; nothing is recorded: "
           "start "
           "the program by `neutrino-bench -- COMMAND`, or take its variables from `neutrino-bench env`: ",
           loaded.driver, NULL);
    return true;
}

static bool is_reported;

__attribute__((constructor)) static void look_at_start(void)
{
    is_reported = report();
    if (is_reported && nb_is_recording_required()) {
        nb_log("NEUTRINO_REQUIRE is set, so this program cannot run", NULL, NULL);
        _exit(CANNOT_EXECUTE);
    }
}

/* A library that the program opened may be linked with the driver. */
__attribute__((destructor)) static void look_at_end(void)
{
    if (!is_reported)
        report();
}
