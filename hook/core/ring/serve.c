#include "core/ring/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/driver/slots.h"
#include "core/wire/record.h"
#include "core/wire/serve.h"

/* A service that is stopped or overloaded must not hold the program for ever. */
#define NB_SERVE_SECONDS 10

struct request {
    struct nb_serve_request head;
    char command[NB_SERVE_COMMAND_MAX];
};

struct answer {
    struct nb_serve_answer head;
    char text[NB_SERVE_TEXT_MAX];
};

static uint32_t read_command(char *text, size_t size)
{
    const int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return 0;
    const ssize_t bytes = read(descriptor, text, size);
    close(descriptor);
    return bytes > 0 ? (uint32_t)bytes : 0;
}

/* The SHA-256 of the policy that the program must obey, in hexadecimal; NULL if none is asked for. The
 * service refuses a value of another form. */
static const char *wanted_policy(void)
{
    const char *value = getenv("NEUTRINO_POLICY");
    return value != NULL && *value != 0 ? value : NULL;
}

static bool send_request(int connection)
{
    struct request request = {.head = {.magic = NB_SERVE_MAGIC,
                                       .version = NB_SERVE_VERSION,
                                       .kind = NB_SERVE_ATTACH,
                                       .format = NB_FORMAT_VERSION,
                                       .process = (uint32_t)getpid()}};
    memcpy(request.head.surface, nb_surface_sha256, sizeof request.head.surface);
    const char *policy = wanted_policy();
    uint32_t used = 0;
    if (policy != NULL) {
        request.head.kind = NB_SERVE_ATTACH_WITH_POLICY;
        used = NB_SERVE_POLICY_BYTES;
        memcpy(request.command, policy, strlen(policy) == used ? used : 0);
    }
    request.head.command_bytes = used + read_command(request.command + used, sizeof request.command - used);
    const size_t bytes = sizeof request.head + request.head.command_bytes;
    ssize_t sent;
    do
        sent = send(connection, &request, bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes;
}

/* Receive the answer and the first descriptor that comes with it, or -1. */
static ssize_t receive(int connection, struct answer *answer, int *descriptor)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {answer, sizeof *answer};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t received;
    do
        received = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    *descriptor = -1;
    const struct cmsghdr *header = received < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    return received;
}

static void copy_visible(char *to, size_t size, const char *from, size_t bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < bytes && length + 1 < size; i++)
        to[length++] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[length] = 0;
}

/* Return the session's descriptor from an answer of `received` bytes, or -1 with the reason. */
static int read_answer(const struct answer *answer, ssize_t received, int descriptor, char *why, size_t size)
{
    if (received < 0)
        snprintf(why, size, "no answer within %d s: %s", NB_SERVE_SECONDS, strerror(errno));
    else if (received == 0)
        snprintf(why, size, "it closed the connection");
    else if ((size_t)received < sizeof answer->head || answer->head.magic != NB_SERVE_MAGIC ||
             answer->head.version != NB_SERVE_VERSION ||
             answer->head.text_bytes > (size_t)received - sizeof answer->head)
        snprintf(why, size, "its answer has an unknown format, so it is another version");
    else if (answer->head.status == NB_SERVE_GRANTED && descriptor >= 0)
        return descriptor;
    else
        copy_visible(why, size, answer->text, answer->head.text_bytes);
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

int nb_serve_ask(const char *path, char *why, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(why, size, "the path is longer than %zu bytes", sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const struct timeval longest = {.tv_sec = NB_SERVE_SECONDS};
    if (connection < 0) {
        snprintf(why, size, "%s", strerror(errno));
        return -1;
    }
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    int memory = -1;
    if (connect(connection, (const struct sockaddr *)&address, sizeof address) != 0 ||
        !send_request(connection))
        snprintf(why, size, "%s", strerror(errno));
    else {
        struct answer answer;
        const ssize_t received = receive(connection, &answer, &memory);
        memory = read_answer(&answer, received, memory, why, size);
    }
    close(connection);
    return memory;
}
