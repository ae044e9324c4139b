#include "core/process/process.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/driver/driver.h"
#include "core/ring/clock.h"
#include "core/ring/session.h"

static atomic_bool introduced;
static struct nb_process_identity identity;

const struct nb_process_identity *nb_process_identity(void)
{
    return &identity;
}

static uint64_t read_start_time(void)
{
    char text[1024];
    const int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return 0;
    const ssize_t length = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    if (length <= 0)
        return 0;
    text[length] = 0;
    /* The command in field 2 may contain spaces and brackets: count fields from its last bracket. */
    const char *field = strrchr(text, ')');
    for (int number = 2; field != NULL && number < 22; number++)
        field = strchr(field + 1, ' ');
    return field != NULL ? strtoull(field, NULL, 10) : 0;
}

void nb_process_identify(void)
{
    struct stat status;
    identity.process = (uint32_t)getpid();
    identity.parent = (uint32_t)getppid();
    identity.started = read_start_time();
    identity.pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    nb_clock_pair(&identity.first_tsc, &identity.first_ns);
}

void nb_process_forget(void)
{
    atomic_store(&introduced, false);
}

/* Write a message for readers of the log. */
static void write_note(struct nb_thread *thread, const char *text)
{
    const uint32_t bytes = (uint32_t)strnlen(text, NB_STRING_MAX);
    const size_t size = (sizeof(struct nb_record) + bytes + 7) & ~(size_t)7;
    struct nb_record *record = nb_ring_reserve(thread, size);
    if (record == NULL)
        return;
    const uint64_t now = nb_clock();
    memset(record, 0, size);
    *record = (struct nb_record){
        .size = (uint32_t)size, .kind = NB_RECORD_NOTE, .begin = now, .end = now, .count = bytes};
    memcpy(record + 1, text, bytes);
    nb_ring_commit(thread, size);
}

void nb_process_introduce(struct nb_thread *thread)
{
    if (atomic_exchange(&introduced, true))
        return;
    char executable[NB_PAGE];
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable);
    const uint32_t executable_bytes = length > 0 ? (uint32_t)length : 0;
    const char *driver = nb_driver_path();
    const uint32_t driver_bytes = (uint32_t)strnlen(driver, NB_PAGE);
    const size_t size = (sizeof(struct nb_process) + executable_bytes + driver_bytes + 7) & ~(size_t)7;
    struct nb_process *record = nb_ring_reserve(thread, size);
    if (record == NULL)
        return;
    memset(record, 0, size);
    record->record = (struct nb_record){.size = (uint32_t)size,
                                        .kind = NB_RECORD_PROCESS,
                                        .begin = identity.first_tsc,
                                        .end = nb_clock(),
                                        .count = executable_bytes + driver_bytes};
    record->process = identity.process;
    record->parent = identity.parent;
    record->first_tsc = identity.first_tsc;
    record->first_ns = identity.first_ns;
    nb_clock_pair(&record->last_tsc, &record->last_ns);
    record->executable_bytes = executable_bytes;
    record->driver_bytes = driver_bytes;
    char *text = (char *)(record + 1);
    memcpy(text, executable, executable_bytes);
    memcpy(text + executable_bytes, driver, driver_bytes);
    nb_ring_commit(thread, size);
    if (!nb_session_has_images())
        write_note(thread,
                   "the address space is limited (ulimit -v): images are recorded without their bytes");
}
