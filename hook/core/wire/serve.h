/* The messages between a shim and `neutrino-bench serve`: one each way on a SOCK_SEQPACKET socket.
 *
 * The supervisor sends the descriptor of the session memory with its answer (SCM_RIGHTS). It takes the
 * sender's process and user from the kernel (SO_PEERCRED), and treats the request as hostile input. */
#ifndef NEUTRINO_SERVE_WIRE_H
#define NEUTRINO_SERVE_WIRE_H

#include <stdint.h>

#define NB_SERVE_MAGIC        0x004556524553424eull /* "NBSERVE", read as a little-endian word */
#define NB_SERVE_VERSION      1u
#define NB_SERVE_COMMAND_MAX  4096u /* bytes of a command line in a request */
#define NB_SERVE_TEXT_MAX     512u  /* bytes of a refusal's reason */
#define NB_SERVE_POLICY_BYTES 64u   /* a SHA-256 in hexadecimal, before the command line */

enum nb_serve_request_kind {
    NB_SERVE_ATTACH = 1,            /* give this process a session */
    NB_SERVE_LIST = 2,              /* list the programs; answered in JSON, without a session */
    NB_SERVE_ATTACH_WITH_POLICY = 3 /* as 1; NB_SERVE_POLICY_BYTES of the command are a policy's SHA-256 */
};

struct nb_serve_request {
    uint64_t magic;
    uint32_t version;
    uint32_t kind;          /* enum nb_serve_request_kind */
    uint8_t surface[32];    /* SHA-256 of the shim's surface.json: the meaning of its slots */
    uint32_t format;        /* NB_FORMAT_VERSION of the shim */
    uint32_t process;       /* pid in the process's own namespace */
    uint32_t command_bytes; /* at most NB_SERVE_COMMAND_MAX */
    uint32_t reserved;
    /* char command[], as in /proc/self/cmdline */
};

enum nb_serve_status {
    NB_SERVE_GRANTED = 0, /* a descriptor comes with the answer */
    NB_SERVE_REFUSED = 1  /* the text has the reason */
};

struct nb_serve_answer {
    uint64_t magic;
    uint32_t version;
    uint32_t status; /* enum nb_serve_status */
    uint32_t text_bytes;
    uint32_t reserved;
    /* char text[] */
};

_Static_assert(sizeof(struct nb_serve_request) == 64, "layout is a wire format");
_Static_assert(sizeof(struct nb_serve_answer) == 24, "layout is a wire format");

#endif
