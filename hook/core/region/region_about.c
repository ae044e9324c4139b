#include "core/region/region_about.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/driver/driver.h"
#include "core/region/raw_capture.h"
#include "core/wire/record.h"

/* An address inside the shim, so that dladdr finds the shim's file. */
static const char start_of_shim;

static void write_meta(const char *key, const char *value, size_t value_bytes)
{
    const size_t key_bytes = strlen(key);
    const struct nb_capture_meta meta = {.key = {sizeof meta, key_bytes},
                                         .value = {sizeof meta + key_bytes, value_bytes}};
    const struct nb_piece pieces[] = {{&meta, sizeof meta}, {key, key_bytes}, {value, value_bytes}};
    nb_raw_capture_append(NB_CAPTURE_META, pieces, 3);
}

static void write_program(void)
{
    char command[NB_PAGE];
    const int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t size = descriptor >= 0 ? read(descriptor, command, sizeof command) : -1;
    if (descriptor >= 0)
        close(descriptor);
    size_t length = size > 0 ? (size_t)size : 0;
    while (length > 0 && command[length - 1] == 0)
        length--;
    for (size_t i = 0; i < length; i++)
        if (command[i] == 0)
            command[i] = ' ';
    write_meta("program", command, length);
}

static void write_time(void)
{
    char text[64];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    const size_t whole = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + whole, sizeof text - whole, ".%06ld+00:00", now.tv_nsec / 1000);
    write_meta("started", text, strlen(text));
}

void nb_region_write_about(const char *name)
{
    char number[32];
    Dl_info shim;
    write_meta("region", name, strnlen(name, NB_STRING_MAX));
    write_program();
    snprintf(number, sizeof number, "%ld", (long)getpid());
    write_meta("process", number, strlen(number));
    write_time();
    write_meta("driver", nb_driver_path(), strlen(nb_driver_path()));
    if (dladdr(&start_of_shim, &shim) != 0 && shim.dli_fname != NULL)
        write_meta("shim", shim.dli_fname, strlen(shim.dli_fname));
}

void nb_region_refuse(const char *reason)
{
    const size_t bytes = strlen(reason);
    const struct nb_capture_refusal refusal = {.operation = nb_raw_capture_count(NB_CAPTURE_OPERATION),
                                               .call = {sizeof refusal, 0},
                                               .reason = {sizeof refusal, bytes}};
    const struct nb_piece pieces[] = {{&refusal, sizeof refusal}, {reason, bytes}};
    nb_raw_capture_append(NB_CAPTURE_REFUSAL, pieces, 2);
}
