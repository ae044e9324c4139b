/* A driver whose code an image took over while the driver was compiling it: it attacks when the replay loads
 * it. The file `attack` beside the library names the attack, a place and a number. The last line of output
 * has the result. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { SWARM = 1100, SLEEP_SECONDS = 60, FILLERS = 4, FILLED_BYTES = 128 << 20 };

EXPORTED int cuInit(unsigned flags)
{
    return (int)flags;
}

static int read_file(const char *format, const char *place, long number)
{
    char path[512], byte;
    (void)snprintf(path, sizeof path, format, place, number);
    const int descriptor = open(path, O_RDONLY);
    return descriptor < 0 ? -1 : read(descriptor, &byte, 1) == 1 ? 0 : -1;
}

static int connect_to(long port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    return descriptor < 0 ? -1 : connect(descriptor, (const struct sockaddr *)&address, sizeof address);
}

/* A daemon in a session of its own, which holds no pipe of ours. Writes its number to the pipe. */
static int outlive(void)
{
    const pid_t child = fork();
    if (child != 0)
        return child < 0 ? -1 : (int)usleep(200000);
    (void)setsid();
    if (fork() != 0)
        _exit(0);
    fprintf(stderr, "daemon %d\n", getpid());
    for (int i = 0; i < 64; i++)
        (void)close(i);
    (void)sleep(SLEEP_SECONDS);
    _exit(0);
}

static int start_swarm(void)
{
    for (int i = 0; i < SWARM; i++) {
        const pid_t child = fork();
        if (child < 0)
            return -1;
        if (child == 0) {
            (void)sleep(SLEEP_SECONDS);
            _exit(0);
        }
    }
    return (int)usleep(500000);
}

/* Each process writes a byte when its memory is full. */
static int fill_memory(void)
{
    int full[2];
    if (pipe(full) != 0)
        return -1;
    for (int i = 0; i < FILLERS; i++) {
        const pid_t child = fork();
        if (child < 0)
            return -1;
        if (child == 0) {
            char *const memory = malloc(FILLED_BYTES);
            if (memory == NULL)
                _exit(1);
            memset(memory, i + 1, FILLED_BYTES);
            if (write(full[1], memory + FILLED_BYTES / 2, 1) == 1)
                (void)sleep(SLEEP_SECONDS);
            _exit(0);
        }
    }
    for (int i = 0; i < FILLERS; i++) {
        char byte;
        if (read(full[0], &byte, 1) != 1)
            return -1;
    }
    return (int)usleep(900000);
}

static _Noreturn void outstay(void)
{
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_IGN);
    (void)fork();
    (void)setsid();
    for (;;)
        (void)pause();
}

static int attack(const char *name, const char *place, long number)
{
    if (strcmp(name, "read") == 0)
        return read_file("%s/secret", place, number);
    if (strcmp(name, "write") == 0)
        return open(place, O_WRONLY | O_CREAT, 0600);
    if (strcmp(name, "environ") == 0)
        return read_file("%s/%ld/environ", "/proc", number);
    if (strcmp(name, "signal") == 0)
        return kill((pid_t)number, SIGCONT);
    if (strcmp(name, "trace") == 0)
        return (int)ptrace(PTRACE_SEIZE, (pid_t)number, NULL, NULL);
    if (strcmp(name, "connect") == 0)
        return connect_to(number);
    if (strcmp(name, "chroot") == 0)
        return chroot("/");
    if (strcmp(name, "outlive") == 0)
        return outlive();
    if (strcmp(name, "swarm") == 0)
        return start_swarm();
    if (strcmp(name, "memory") == 0)
        return fill_memory();
    if (strcmp(name, "outstay") == 0)
        outstay();
    errno = EINVAL;
    return -1;
}

__attribute__((constructor)) static void take_over(void)
{
    char path[512], name[32], place[400];
    long number = 0;
    Dl_info info;
    if (dladdr((const void *)cuInit, &info) == 0)
        _exit(2);
    (void)snprintf(path, sizeof path, "%s", info.dli_fname);
    char *const last = strrchr(path, '/');
    (void)snprintf(last, sizeof path - (size_t)(last - path), "/attack");
    FILE *const file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%31s %399s %ld", name, place, &number) != 3)
        _exit(3);
    errno = 0;
    if (attack(name, place, number) < 0)
        fprintf(stderr, "REFUSED %s\n", strerror(errno));
    else
        fprintf(stderr, "GOT IT\n");
    _exit(0);
}
