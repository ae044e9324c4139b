/* The wire format between a traced process and its supervisor.
 *
 * docs/formats.md documents the format; this file defines it in C. One shared memory file (a memfd of the
 * supervisor) contains
 *
 *     session header   one page
 *     rings            session.ring_count x (ring header, one page; session.ring_bytes of records)
 *     policy           session.policy_bytes, a table as in policy.h; often none
 *     omitted          session.omitted_bytes, a byte for each slot; often none
 *     probes           an area as in probe.h; often none
 *     image store      session.image_bytes, filled from the front
 *
 * The traced process only appends. The supervisor must treat everything here as hostile input. Numbers are
 * append-only: a kind or a field never changes its meaning. */
#ifndef NEUTRINO_RECORD_H
#define NEUTRINO_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#define NB_FORMAT_VERSION 1u
#define NB_PAGE           4096u
#define NB_SESSION_MAGIC  0x4f4e49525455454eull /* "NEUTRINO", read as a little-endian word */

/* Limits a record never exceeds; a reader refuses a larger one. */
#define NB_RECORD_MAX     65536u
#define NB_STRING_MAX     16384u /* a kernel name, a path */
#define NB_PARAMETERS_MAX 4096u  /* limit of launch parameter bytes in a record */
#define NB_ATTRIBUTES_MAX 16u    /* limit of launch attributes in a record */
#define NB_ARGUMENTS_MAX  16u    /* words of a call record */

/* Page 0 of the file. Written by the supervisor; the measured process changes only the atomics. */
struct nb_session {
    uint64_t magic;
    uint32_t version;
    uint32_t ring_count;
    uint64_t ring_bytes;   /* data bytes of one ring; a power of two, a multiple of NB_PAGE */
    uint64_t image_offset; /* position of the image store in the file */
    uint64_t image_bytes;
    uint8_t nonce[16];                /* distinguishes this session's file from other memfds */
    uint64_t wait_ns;                 /* longest wait for room in a full ring; 0: the shim's default */
    _Atomic uint64_t image_next;      /* bytes of the image store handed out; may exceed image_bytes */
    _Atomic uint64_t images_dropped;  /* images that did not fit */
    _Atomic uint64_t rings_exhausted; /* threads that found no free ring */
    _Atomic uint64_t calls_lost;      /* records that those threads could not write */
    uint64_t policy_offset;           /* position of the policy table (policy.h) in the file */
    uint64_t policy_bytes;            /* 0: no policy */
    uint64_t probe_offset;            /* position of the probe area (probe.h) in the file; 0: none */
    uint64_t gpu_time;                /* 1: measure the GPU's time of each launch */
    uint64_t omitted_offset; /* position of a byte for each slot: 1 if successful calls are omitted */
    uint64_t omitted_bytes;  /* 0: every call has a record */
};

enum nb_ring_state {
    NB_RING_FREE = 0,    /* set by the supervisor: zeroed, may be claimed */
    NB_RING_CLAIMED = 1, /* a thread is filling in its identity */
    NB_RING_LIVE = 2,    /* a thread writes here */
    NB_RING_CLOSED = 3   /* the thread has ended; the supervisor drains and frees the ring */
};

/* One page before a ring's data. The producer's, consumer's and identity fields have cache lines of their
 * own. */
struct nb_ring {
    _Atomic uint64_t head;            /* bytes ever appended, by the producer */
    _Atomic uint64_t dropped;         /* records lost because the ring was full */
    _Atomic uint64_t in_flight;       /* 0, or 1 + slot of the call that is inside the driver */
    _Atomic uint64_t in_flight_since; /* its TSC time */
    _Atomic uint64_t ahead;           /* end of the record at head that is still counting, if above head */
    _Atomic uint64_t omitted;         /* successful calls without a record, by the user's choice */
    uint8_t pad0[64 - 48];

    _Atomic uint64_t tail; /* bytes ever consumed, by the supervisor */
    uint8_t pad1[64 - 8];

    _Atomic uint32_t state; /* enum nb_ring_state */
    uint32_t process;       /* pid in the process's own namespace */
    uint32_t thread;        /* tid likewise */
    uint32_t reserved;
    uint64_t process_started; /* /proc/self/stat field 22: detects a reused pid */
    uint64_t pid_namespace;   /* inode of /proc/self/ns/pid */
    uint64_t attached_tsc;    /* the clock pair taken when the thread attached */
    uint64_t attached_ns;     /* CLOCK_MONOTONIC */
    uint8_t pad2[64 - 48];
};

/* Numbers are append-only. */
enum nb_record_kind {
    NB_RECORD_CALL = 1,          /* uint64_t argument[count] */
    NB_RECORD_LAUNCH = 2,        /* struct nb_launch */
    NB_RECORD_IMAGE = 3,         /* struct nb_image */
    NB_RECORD_KERNEL = 4,        /* struct nb_kernel */
    NB_RECORD_PROCESS = 5,       /* struct nb_process */
    NB_RECORD_CLOCK = 6,         /* uint64_t monotonic_ns, taken at .begin */
    NB_RECORD_UNMAPPED = 7,      /* struct nb_unmapped */
    NB_RECORD_GRAPH = 8,         /* struct nb_graph */
    NB_RECORD_GRAPH_NODE = 9,    /* struct nb_graph_node */
    NB_RECORD_GRAPH_LAUNCH = 10, /* struct nb_graph_launch */
    NB_RECORD_NOTE = 11,         /* char text[count]: a message for readers of the log */
    NB_RECORD_PHASE = 12,        /* struct nb_phase_mark */
    NB_RECORD_DECISION = 13,     /* struct nb_decision */
    NB_RECORD_REPEATED = 14,     /* struct nb_repeated */
    NB_RECORD_PROBE = 15,        /* struct nb_probe (probe.h) */
    NB_RECORD_LAUNCH_TIME = 16   /* struct nb_launch_time */
};

/* The start of every record. Sizes are multiples of 8. Strings have no terminator and are padded with
 * zeros. */
struct nb_record {
    uint32_t size;  /* bytes, this header included */
    uint16_t kind;  /* enum nb_record_kind */
    uint16_t slot;  /* index of the export in surface.json's "exports" */
    uint64_t begin; /* TSC at entry */
    uint64_t end;   /* TSC at return; equals begin if no call was made */
    int32_t result; /* the driver's return code */
    uint32_t count; /* meaning by kind */
};

struct nb_process {
    struct nb_record record; /* count: bytes of text */
    uint32_t process;
    uint32_t parent;
    uint64_t first_tsc; /* clock pair before the driver was opened */
    uint64_t first_ns;
    uint64_t last_tsc; /* clock pair after it was */
    uint64_t last_ns;
    uint32_t executable_bytes;
    uint32_t driver_bytes;
    /* char executable[], then driver path[] */
};

/* Calls of a query that equal the call record before this one: same export, arguments and result. Begin is
 * that of the first of them, end that of the last. */
struct nb_repeated {
    struct nb_record record; /* count: arguments that follow */
    uint64_t repeats;        /* number of calls, at least 1 */
    /* uint64_t argument[count] */
};

/* A code image that the driver accepted. */
struct nb_image {
    struct nb_record record; /* slot: the call that loaded it */
    uint64_t image;          /* number, unique in the process, from 1 */
    uint64_t handle;         /* CUmodule or CUlibrary */
    uint64_t bytes;          /* size from the image's own headers; 0 if unknown */
    uint64_t stored_at;      /* offset in the image store */
    uint32_t format;         /* enum nb_image_format */
    uint32_t stored;         /* 1 if all bytes are in the image store, else 0 */
    uint32_t origin_bytes;   /* bytes of the path of the library whose code called */
    uint32_t note_bytes;     /* bytes of the note: why the size is unknown or the bytes are not stored */
    /* char origin[], then note[] */
};

enum nb_image_format {
    NB_IMAGE_UNKNOWN = 0,
    NB_IMAGE_PTX = 1,
    NB_IMAGE_ELF = 2, /* a cubin */
    NB_IMAGE_FATBIN = 3,
    NB_IMAGE_OFFLOAD_BUNDLE = 5,
    NB_IMAGE_COMPRESSED_BUNDLE = 6,
    NB_IMAGE_CODE_OBJECT = 7 /* AMD's, which is also an ELF file */
};

struct nb_parameter {
    uint32_t offset;
    uint32_t size;
};

/* A kernel, written before the first record that names it. */
struct nb_kernel {
    struct nb_record record; /* count: parameters in the layout */
    uint64_t kernel;         /* number, unique in the process, from 1 */
    uint64_t handle;         /* CUfunction or CUkernel */
    uint64_t image;          /* 0 if unknown */
    uint32_t registers;
    uint32_t static_shared_bytes;
    uint32_t local_bytes;
    uint32_t constant_bytes;
    uint32_t max_threads;
    uint32_t binary_version; /* 90 for sm_90; 0 if unknown */
    uint32_t layout_source;  /* enum nb_layout_source */
    uint32_t name_bytes;
    /* struct nb_parameter layout[count], then char name[] */
};

enum nb_layout_source {
    NB_LAYOUT_UNKNOWN = 0,
    NB_LAYOUT_DRIVER = 1, /* cuFuncGetParamInfo, cuKernelGetParamInfo */
    NB_LAYOUT_IMAGE = 2   /* .nv.info of a cubin, .param of PTX, the metadata of a code object */
};

/* A launch attribute as in CUlaunchAttribute: an id and 64 bytes of value. */
struct nb_attribute {
    uint32_t id;
    uint32_t reserved;
    uint8_t value[64];
};

struct nb_launch {
    struct nb_record record; /* count: launch attributes that follow */
    uint64_t kernel;         /* number of a kernel record */
    uint64_t stream;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;    /* dynamic */
    uint32_t flags;           /* enum nb_launch_flag */
    uint32_t parameter_bytes; /* size of the kernel's parameter buffer; 0 if unknown */
    uint32_t kept_bytes;      /* bytes of it that follow */
    /* struct nb_attribute attributes[count], then uint8_t parameters[kept_bytes]; with NB_LAUNCH_TIMED, the
     * last 8 bytes of the record are the launch's number */
};

enum nb_launch_flag {
    NB_LAUNCH_COOPERATIVE = 1,
    NB_LAUNCH_EXTRA = 2,    /* parameters came packed, through `extra` */
    NB_LAUNCH_CAPTURED = 4, /* stream capture took the launch: it became a graph node and did not run */
    NB_LAUNCH_ATTRIBUTES_CUT = 8,
    NB_LAUNCH_TIMED =
        16, /* the launch has a number, and its GPU time follows unless the process ends first */
    NB_LAUNCH_PRUNED = 32, /* the kernel ran that an engine wrote without probes */
    NB_LAUNCH_PROBED = 64  /* the kernel ran that an engine wrote with probes */
};

/* The driver returned an address for this name that is not one of its exports. */
struct nb_unmapped {
    struct nb_record record; /* count: bytes of name */
    uint64_t flags;
    uint32_t asked_version;
    uint32_t reserved;
    /* char name[] */
};

struct nb_graph {
    struct nb_record record; /* count: kernel nodes; the node records come first */
    uint64_t graph;          /* number, unique in the process, from 1; an update reuses it */
    uint64_t handle;         /* CUgraphExec */
    uint32_t nodes;          /* nodes of every kind, children included */
    uint32_t opaque;         /* nodes whose kernels could not be listed (conditional bodies) */
};

struct nb_graph_node {
    struct nb_record record; /* count: position among the graph's kernel nodes */
    uint64_t graph;
    uint64_t kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;
    uint32_t flags;
    uint32_t parameter_bytes;
    uint32_t kept_bytes;
    /* uint8_t parameters[kept_bytes] */
};

struct nb_graph_launch {
    struct nb_record record; /* count: 1 if the launch is timed, else 0 */
    uint64_t graph;          /* 0 if the executable graph was never listed */
    uint64_t stream;
    /* uint64_t number, if the launch is timed */
};

/* The GPU's time of a launch that has ended, between two events around it. Begin and end are the time of
 * reading the events. */
struct nb_launch_time {
    struct nb_record record; /* slot: 0; count: 1 if the device reached the launch before it was queued */
    uint64_t launch;         /* the launch's number, unique in the process, from 1 */
    uint64_t kernel;         /* number of a kernel record; 0 for a launch of a graph */
    uint64_t graph;          /* number of a graph record; 0 if the graph was never listed */
    uint64_t stream;
    uint64_t nanoseconds;
    uint32_t thread; /* tid of the thread that launched */
    uint32_t reserved;
};

/* The phases of a benchmark. A process begins in the first. */
enum nb_phase {
    NB_PHASE_BEFORE = 0,
    NB_PHASE_SETUP = 1,
    NB_PHASE_WARM_UP = 2,
    NB_PHASE_TIMING = 3,
    NB_PHASE_AFTER = 4
};

enum nb_phase_source {
    NB_PHASE_BY_PROGRAM = 0, /* neutrino_phase */
    NB_PHASE_BY_EVENTS = 1   /* a pair of timing events, if the policy asks for it */
};

/* The process entered a phase. */
struct nb_phase_mark {
    struct nb_record record; /* count: bytes of label */
    uint32_t phase;          /* enum nb_phase */
    uint32_t source;         /* enum nb_phase_source */
    uint32_t origin_bytes;   /* bytes of the path of the library whose code called */
    uint32_t reserved;
    /* char label[], then origin[] */
};

enum nb_action { NB_ACTION_ALLOW = 0, NB_ACTION_LOG = 1, NB_ACTION_DENY = 2 };

/* A rule of the policy logged or denied a call. */
struct nb_decision {
    struct nb_record record; /* slot: the call; result: the code that it returned, if denied; count: words */
    uint32_t rule;           /* position in the policy's rules */
    uint32_t action;         /* enum nb_action */
    uint32_t phase;          /* enum nb_phase */
    uint32_t origin_bytes;   /* bytes of the path of the library whose code called */
    uint32_t kernel_bytes;   /* bytes of the kernel's name, if the rule asked for it */
    uint32_t has_image;      /* 1: `image` is the SHA-256 of the image that the call loads */
    uint8_t image[32];
    /* uint64_t words[count], then char origin[], then kernel[] */
};

_Static_assert(sizeof(struct nb_session) == 144, "layout is a wire format");
_Static_assert(sizeof(struct nb_ring) == 192, "layout is a wire format");
_Static_assert(sizeof(struct nb_record) == 32, "layout is a wire format");
_Static_assert(sizeof(struct nb_repeated) == 40, "layout is a wire format");
_Static_assert(sizeof(struct nb_process) == 80, "layout is a wire format");
_Static_assert(sizeof(struct nb_image) == 80, "layout is a wire format");
_Static_assert(sizeof(struct nb_kernel) == 88, "layout is a wire format");
_Static_assert(sizeof(struct nb_attribute) == 72, "layout is a wire format");
_Static_assert(sizeof(struct nb_launch) == 88, "layout is a wire format");
_Static_assert(sizeof(struct nb_unmapped) == 48, "layout is a wire format");
_Static_assert(sizeof(struct nb_graph) == 56, "layout is a wire format");
_Static_assert(sizeof(struct nb_graph_node) == 88, "layout is a wire format");
_Static_assert(sizeof(struct nb_graph_launch) == 48, "layout is a wire format");
_Static_assert(sizeof(struct nb_launch_time) == 80, "layout is a wire format");
_Static_assert(sizeof(struct nb_phase_mark) == 48, "layout is a wire format");
_Static_assert(sizeof(struct nb_decision) == 88, "layout is a wire format");

#endif
