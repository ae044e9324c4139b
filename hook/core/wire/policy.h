/* The table of a policy, which the supervisor compiles and puts into the session memory.
 *
 *     struct nb_policy, then rules, facts, values, entries, text
 *
 * A process copies the table once, when it attaches, and checks every number in the copy. An entry says that
 * a rule mentions a call. The entries of a call are in the order of the rules, and the first whose facts hold
 * decides. */
#ifndef NEUTRINO_POLICY_WIRE_H
#define NEUTRINO_POLICY_WIRE_H

#include <stdint.h>

#define NB_POLICY_MAGIC     0x31594c504e42454eull /* "NEBNPLY1", read as a little-endian word */
#define NB_POLICY_BYTES_MAX 4194304u
#define NB_POLICY_RULES_MAX 1024u

enum nb_policy_flag {
    NB_POLICY_WINDOWS = 1,     /* a pair of timing events is a phase of timing */
    NB_POLICY_KEEPS_EVENTS = 2 /* facts ask whether an event keeps time */
};

struct nb_policy {
    uint64_t magic;
    uint32_t flags; /* enum nb_policy_flag */
    uint32_t rules;
    uint32_t facts;
    uint32_t values;
    uint32_t entries;
    uint32_t text_bytes;
};

enum nb_once {
    NB_ONCE_NEVER = 0, /* the rule holds for every call */
    NB_ONCE_PROCESS = 1,
    NB_ONCE_CONTEXT = 2
};

struct nb_policy_rule {
    uint32_t action; /* enum nb_action */
    uint32_t phases; /* a bit for each of enum nb_phase */
    uint32_t once;   /* enum nb_once */
    int32_t code;    /* what a denied call returns; not 0 */
};

enum nb_subject {
    NB_SUBJECT_WORD = 0,             /* a word of the call */
    NB_SUBJECT_LIBRARY = 1,          /* path of the library whose code calls */
    NB_SUBJECT_KERNEL = 2,           /* name of the kernel whose handle is a word */
    NB_SUBJECT_NODE_KERNEL = 3,      /* name of the kernel in a graph node's parameters */
    NB_SUBJECT_IMAGE = 4,            /* SHA-256 of the image at an address */
    NB_SUBJECT_IMAGE_FILE = 5,       /* SHA-256 of the file at a path */
    NB_SUBJECT_CONFIG_STREAM = 6,    /* stream of a launch configuration */
    NB_SUBJECT_CONFIG_ATTRIBUTE = 7, /* numbers of its attributes; one that fits suffices */
    NB_SUBJECT_POINTED = 8,          /* 32-bit number at the start of a structure */
    NB_SUBJECT_TIMING_EVENT = 9,     /* 1 if the event keeps time, else 0 */
    NB_SUBJECT_IS_TIMED_STREAM = 10, /* 1 for the stream of the phase's first timing event, else 0 */
    NB_SUBJECT_GRAPH_KERNEL = 11, /* names of the kernels of an executable graph: the rule holds if it holds
                                     for one of them */
    NB_SUBJECT_NODE_EVENT = 12    /* 1 if the event in a graph node's parameters keeps time, else 0 */
};

enum nb_test {
    NB_TEST_RANGE = 0, /* low <= value <= high */
    NB_TEST_BITS = 1,  /* value & low is not 0 */
    NB_TEST_GLOB = 2,  /* shell pattern: `high` bytes at `low` of the text, and a terminator */
    NB_TEST_HASH = 3   /* 32 bytes at `low` of the text */
};

struct nb_policy_fact {
    uint32_t subject;  /* enum nb_subject */
    uint32_t position; /* of the word */
    uint32_t test;     /* enum nb_test */
    uint32_t is_negated;
    uint32_t first_value; /* the fact holds if one of its values fits */
    uint32_t values;
};

struct nb_policy_value {
    uint64_t low;
    uint64_t high;
};

#define NB_POLICY_EVENT 0xffffffffu /* in place of a rule: the call records an event on a stream */
#define NB_POLICY_WORK  0xfffffffeu /* in place of a rule: the call queues work */

struct nb_policy_entry {
    uint32_t slot; /* in rising order */
    uint32_t rule;
    uint32_t first_fact; /* all facts must hold */
    uint32_t facts;
};

_Static_assert(sizeof(struct nb_policy) == 32, "layout is a wire format");
_Static_assert(sizeof(struct nb_policy_rule) == 16, "layout is a wire format");
_Static_assert(sizeof(struct nb_policy_fact) == 24, "layout is a wire format");
_Static_assert(sizeof(struct nb_policy_value) == 16, "layout is a wire format");
_Static_assert(sizeof(struct nb_policy_entry) == 16, "layout is a wire format");

#endif
