/* region_steps FOLDER SELECTION STEP...: runs the steps as hooks would, with two counters as the driver.
 * After each step it prints the number of regions begun and ended, and whether a region is open.
 *
 *     k:NAME   launch a kernel, and return             c   an operation other than a launch
 *     b:NAME   launch a kernel, and stay in the driver r   return from the driver
 *     e:N      record a timing event on stream N       B, E   the program's own begin and end
 *     f:N      N threads launch 100 kernels each       p   fork; the child begins and ends a region
 *     w        eight threads begin a region at once    l:N   limit files to N bytes
 *     d:N      the driver returns N from now on
 *     a:N      N regions begin and end while four threads append operations all the time */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/call.h"
#include "core/process/component.h"
#include "core/region/raw_capture.h"
#include "core/region/region.h"
#include "core/ring/session.h"
#include "core/wire/capture_format.h"

const unsigned nb_export_count = 1;
const char *const nb_export_names[] = {"probe", NULL};
void *const nb_exports[] = {NULL, NULL};
void *nb_slots[] = {NULL, NULL};
void *nb_jumps[] = {NULL};
void *const nb_guards[] = {NULL};
uint8_t nb_guarded[] = {1};
const unsigned char nb_export_fails[] = {1, 0};
const uint8_t nb_surface_sha256[32] = {0};
const int nb_status_refused = 800;
const char nb_driver_soname[] = "libprobe.so";
const char nb_driver_global[] = "NEUTRINO_DRIVER";
const char nb_driver_probe[] = "probe";

static atomic_int begun, ended, inside, wrong;
static int driver_says;

/* No thread may be inside the driver while a region begins or ends, and no second thread may begin or end
 * one. */
static int alone(atomic_int *count)
{
    wrong += atomic_fetch_add(&inside, 1) != 0;
    usleep(1000);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(count, 1);
    return driver_says;
}

static int begin(bool stores_after)
{
    (void)stores_after;
    return alone(&begun);
}

static int end(bool stores_after)
{
    (void)stores_after;
    return alone(&ended);
}

static bool hold(uint64_t address, uint64_t bytes)
{
    (void)address, (void)bytes;
    return true;
}

static const struct nb_region_operations operations = {begin, end, hold};
static const struct nb_component *const components[] = {&nb_region_component, &nb_raw_capture_component,
                                                        NULL};

static void append_operation(void)
{
    const struct nb_capture_operation operation = {.kind = NB_OPERATION_EMPTY};
    const struct nb_piece piece = {&operation, sizeof operation};
    nb_raw_capture_append(NB_CAPTURE_OPERATION, &piece, 1);
}

static void *launch_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        nb_region_before_operation("thread");
        const bool open = nb_region_is_open();
        atomic_fetch_add(&inside, 1);
        sched_yield();
        atomic_fetch_sub(&inside, 1);
        if (open)
            append_operation();
        nb_region_after_launch();
    }
    return NULL;
}

static void launch_in_threads(int count)
{
    pthread_t threads[16];
    for (int i = 0; i < count && i < 16; i++)
        pthread_create(&threads[i], NULL, launch_often, NULL);
    for (int i = 0; i < count && i < 16; i++)
        pthread_join(threads[i], NULL);
}

static void *append_always(void *done)
{
    while (!atomic_load((atomic_bool *)done)) {
        append_operation();
        usleep(10);
    }
    return NULL;
}

static void end_among_appends(int regions)
{
    pthread_t threads[4];
    atomic_bool done = false;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, append_always, &done);
    for (int i = 0; i < regions; i++)
        wrong += neutrino_region_begin("among") != 0 || usleep(200) != 0 || neutrino_region_end() != 0;
    atomic_store(&done, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void fork_one(void)
{
    fflush(stdout);
    const pid_t child = fork();
    int status = 1;
    if (child == 0) {
        const struct nb_call call = nb_call_begin(0);
        nb_call_leave(&call, nb_clock());
        const int refused = neutrino_region_end(); /* the parent's region, if one is open */
        _exit(refused == -1 && neutrino_region_begin("child") == 0 && neutrino_region_end() == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    printf("child %d %d\n", (int)child, status);
}

static void *begin_together(void *unused)
{
    (void)unused;
    return neutrino_region_begin("together") == 0 ? &begun : NULL;
}

/* How many of eight threads begin one region. */
static int winners(void)
{
    pthread_t threads[8];
    void *won;
    int count = 0;
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, begin_together, NULL);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &won);
        count += won != NULL;
    }
    return count;
}

static void step(const char *text)
{
    const char *value = text[1] == ':' ? text + 2 : "";
    int status = 0;
    if (strchr("kbrce", text[0]) != NULL && !nb_capture_enabled())
        return; /* the hooks would not be called */
    switch (text[0]) {
    case 'k':
    case 'b':
        nb_region_before_operation(value);
        if (nb_region_is_open())
            append_operation();
        if (text[0] == 'k')
            nb_region_after_launch();
        break;
    case 'r':
        nb_region_after_launch();
        break;
    case 'c':
        nb_region_before_operation(NULL);
        break;
    case 'e':
        nb_region_before_timing_event(strtoull(value, NULL, 10));
        break;
    case 'B':
        status = neutrino_region_begin(value);
        break;
    case 'E':
        status = neutrino_region_end();
        break;
    case 'f':
        launch_in_threads(atoi(value));
        break;
    case 'p':
        fork_one();
        break;
    case 'w':
        printf("winners %d\n", winners());
        break;
    case 'l':
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){strtoull(value, NULL, 10), RLIM_INFINITY});
        break;
    case 'a':
        end_among_appends(atoi(value));
        break;
    case 'd':
        driver_says = atoi(value);
        break;
    }
    if (status != 0)
        printf("refused %s\n", neutrino_region_error());
}

/* Make a session for one process, as the supervisor does. */
static void make_session(void)
{
    static const char nonce[] = "000102030405060708090a0b0c0d0e0f";
    enum { RINGS = 32, RING_BYTES = NB_RECORD_MAX };
    const size_t bytes = NB_PAGE + RINGS * (NB_PAGE + (size_t)RING_BYTES);
    const int descriptor = memfd_create("session", 0);
    struct nb_session header = {.magic = NB_SESSION_MAGIC,
                                .version = NB_FORMAT_VERSION,
                                .ring_count = RINGS,
                                .ring_bytes = RING_BYTES,
                                .image_offset = bytes};
    for (size_t i = 0; i < sizeof header.nonce; i++)
        header.nonce[i] = (uint8_t)i;
    char where[64];
    snprintf(where, sizeof where, "%d:/proc/self/fd/%d", descriptor, descriptor);
    setenv("NEUTRINO_RING", where, 1);
    setenv("NEUTRINO_NONCE", nonce, 1);
    if (ftruncate(descriptor, (off_t)bytes) != 0 || pwrite(descriptor, &header, sizeof header, 0) < 0)
        exit(1);
}

int main(int argc, char **argv)
{
    alarm(60);
    make_session();
    nb_components_add(components);
    nb_region_install(&operations);
    setenv("NEUTRINO_CAPTURE", argv[1], 1);
    setenv("NEUTRINO_REGION", argv[2], 1);
    const struct nb_call call = nb_call_begin(0); /* attaches, like a program's first driver call */
    nb_call_leave(&call, nb_clock());
    printf("wanted %d\n", nb_capture_enabled());
    for (int i = 3; i < argc; i++) {
        step(argv[i]);
        printf("%s %d %d %s\n", argv[i], begun, ended, nb_region_is_open() ? "open" : "closed");
    }
    printf("wrong %d\n", wrong);
    return 0;
}
