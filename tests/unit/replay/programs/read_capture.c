/* read_capture FILE [HOST_BYTES [DEVICE_BYTES [ELEMENTS [DECODERS [HOW]]]]]: what the reader says of a
 * capture, as a line: its status and the reason, or what it holds with the SHA-256 of all its contents.
 * `filtered` puts the process under a filter that forbids nothing, so that strict mode is refused to its
 * decoders, as in a container; `forbidden` under one that refuses all of seccomp. With `childless` SIGCHLD is
 * ignored. `tables` validates the tables alone. Ends with 4 if a process or a descriptor was left behind. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/image/sha256.h"
#include "replay/capture/reader.h"
#include "replay/capture/validate.h"

static void install(struct sock_filter *program, unsigned short length)
{
    const struct sock_fprog filter = {length, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(3);
}

static void restrict_to(const char *how)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_filter seccomp[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    if (strcmp(how, "filtered") == 0)
        install(nothing, sizeof nothing / sizeof *nothing);
    if (strcmp(how, "forbidden") == 0)
        install(seccomp, sizeof seccomp / sizeof *seccomp);
    if (strcmp(how, "childless") == 0)
        (void)signal(SIGCHLD, SIG_IGN);
}

/* The lowest that is free: one more if one was left open. */
static int next_descriptor(void)
{
    const int descriptor = open("/dev/null", O_RDONLY);
    close(descriptor);
    return descriptor;
}

static void print_content(const struct nb_reader *reader, const char *what, struct nb_content content)
{
    uint8_t digest[32];
    nb_sha256(nb_reader_content(reader, content), content.bytes, digest);
    printf("%s %02x%02x%02x%02x\n", what, digest[0], digest[1], digest[2], digest[3]);
}

static void print_all(const struct nb_reader *reader)
{
    char text[64];
    nb_reader_text(reader, reader->device->name, text, sizeof text);
    printf("device %s\n", text);
    for (uint32_t i = 0; i < reader->kernel_count; i++) {
        nb_reader_text(reader, reader->kernels[i].name, text, sizeof text);
        printf("kernel %s\n", text);
    }
    for (uint32_t i = 0; i < reader->image_count; i++)
        print_content(reader, "image", reader->images[i].content);
    for (uint32_t i = 0; i < reader->before_count; i++)
        print_content(reader, "before", reader->before[i].content);
    for (uint32_t i = 0; i < reader->after_count; i++)
        print_content(reader, "after", reader->after[i].content);
    printf("%u operations, %u events, %u graphs, %u edges\n", reader->operation_count, reader->event_count,
           reader->graph_count, reader->edge_count);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int validate(int descriptor, const struct nb_replay_limits *limits, char *error)
{
    const int output = memfd_create("tables", MFD_CLOEXEC);
    const int status = nb_capture_validate(descriptor, output, limits->host_bytes, limits->elements, error);
    close(output);
    return status;
}

int main(int count, char **words)
{
    const struct nb_replay_limits limits = {count > 2 ? strtoull(words[2], NULL, 0) : 1u << 30,
                                            count > 3 ? strtoull(words[3], NULL, 0) : 1ull << 40,
                                            count > 4 ? (uint32_t)strtoul(words[4], NULL, 0) : 1u << 20,
                                            count > 5 ? (uint32_t)strtoul(words[5], NULL, 0) : 2};
    const int descriptor = count > 1 ? open(words[1], O_RDONLY) : -1;
    restrict_to(count > 6 ? words[6] : "");
    const int next = next_descriptor();
    struct nb_reader reader = {0};
    char error[NB_REPLAY_TEXT] = "";
    const double began = seconds();
    const bool tables_only = count > 6 && strcmp(words[6], "tables") == 0;
    const int status = tables_only ? validate(descriptor, &limits, error)
                                   : nb_reader_open(descriptor, &limits, &reader, error);
    fprintf(stderr, "%.6f s\n", seconds() - began);
    printf("status %d %s\n", status, error);
    if (status == NB_REPLAY_OK && !tables_only)
        print_all(&reader);
    nb_reader_close(&reader);
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD && next_descriptor() == next ? 0 : 4;
}
