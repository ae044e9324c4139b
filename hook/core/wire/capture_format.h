/* The elements of a raw capture (.nrec) and of a capture file (.ncap).
 *
 * docs/formats.md documents the format; this file defines it in C. The shim appends elements to a raw
 * capture, and the supervisor packs it into a capture file, where the elements of each kind form one table.
 * Readers must treat both as hostile input. Numbers are append-only: a kind or a field never changes its
 * meaning. All integers are little-endian.
 *
 *     raw capture  struct nb_raw_capture, then elements: struct nb_element, the kind's struct, its data
 *     capture      struct nb_capture, blobs, the blob table, the section table
 */
#ifndef NEUTRINO_CAPTURE_FORMAT_H
#define NEUTRINO_CAPTURE_FORMAT_H

#include <stdint.h>

#define NB_CAPTURE_VERSION     1u
#define NB_RAW_CAPTURE_VERSION 2u
#define NB_RAW_CAPTURE_MAGIC   0x44524f434552424eull /* "NBRECORD", read as a little-endian word */
#define NB_CAPTURE_MAGIC       0x455255545041434eull /* "NCAPTURE" */
#define NB_CAPTURE_PAGE        4096u                 /* alignment of memory runs */
#define NB_BLOB_MAX  (1u << 20) /* raw bytes of one blob: bounds the memory that a small file can demand */
#define NB_BLOBS_MAX (1u << 24)
#define NB_TABLE_MAX (256u << 20) /* raw bytes of one section */
#define NB_CAPTURE_ARENA 0x300000000000ull
#define NB_NOTHING       0xffffffffu /* an invalid index */
/* Limits on the copies to the host (NB_OPERATION_MEMCPY_DTOH) of a region. */
#define NB_HOST_READS_MAX      256u
#define NB_HOST_READ_BYTES_MAX (64u << 10)

/* ---- the raw capture -------------------------------------------------------------------------------------
 */

struct nb_raw_capture {
    uint64_t magic;
    uint32_t version;
    uint32_t process;
    uint32_t region; /* number in the process, from 1 */
    uint32_t reserved;
};

/* Before every element. Its payload is the struct of its kind, then the bytes that its spans and contents
 * refer to, padded with zeros to a multiple of 8. In a raw capture an offset counts from the payload's start.
 */
struct nb_element {
    uint32_t kind; /* enum nb_capture_kind */
    uint32_t reserved;
    uint64_t bytes; /* of the payload; a multiple of 8 */
};

/* ---- the capture file ---------------------------------------------------------------------------------- */

struct nb_capture {
    uint64_t magic;
    uint32_t version;
    uint32_t section_count;
    uint64_t file_bytes;
    uint64_t blob_offset; /* of struct nb_blob[blob_count], not compressed */
    uint32_t blob_count;
    uint32_t reserved;
    uint64_t section_offset; /* of struct nb_section[section_count] */
    uint8_t sha256[32];      /* of the blob table and then the section table: it names the capture */
};

enum nb_blob_compression { NB_BLOB_NONE = 0, NB_BLOB_ZSTD = 1 };

/* Up to NB_BLOB_MAX bytes, compressed with zstd (one frame, content size and checksum given) if that made
 * them fewer, else as they are. Equal blobs are stored once. */
struct nb_blob {
    uint8_t sha256[32]; /* of the raw bytes */
    uint64_t offset;
    uint32_t stored_bytes;
    uint32_t raw_bytes;
    uint32_t compression; /* enum nb_blob_compression */
    uint32_t reserved;
};

/* A table: `count` structs of `element_bytes` each, or for NB_CAPTURE_DATA bytes. Its bytes are the blobs
 * from `first_blob` on, all but the last of them NB_BLOB_MAX long. */
struct nb_section {
    uint32_t kind; /* enum nb_capture_kind; each at most once */
    uint32_t element_bytes;
    uint64_t count;
    uint32_t first_blob;
    uint32_t blob_count;
};

/* ---- elements of both files -----------------------------------------------------------------------------
 */

/* Numbers are append-only. A reader skips kinds that it does not know. */
enum nb_capture_kind {
    NB_CAPTURE_DATA = 1,        /* capture only: the bytes that spans refer to */
    NB_CAPTURE_DEVICE = 2,      /* struct nb_capture_device, exactly one */
    NB_CAPTURE_LIMIT = 3,       /* struct nb_capture_limit */
    NB_CAPTURE_IMAGE = 4,       /* struct nb_capture_image */
    NB_CAPTURE_MODULE = 5,      /* struct nb_capture_module */
    NB_CAPTURE_KERNEL = 6,      /* struct nb_capture_kernel */
    NB_CAPTURE_GLOBAL = 7,      /* struct nb_capture_global */
    NB_CAPTURE_ALLOCATION = 8,  /* struct nb_capture_allocation */
    NB_CAPTURE_BEFORE = 9,      /* struct nb_capture_run: memory at the region's start */
    NB_CAPTURE_AFTER = 10,      /* struct nb_capture_run: pages that differ at its end */
    NB_CAPTURE_STREAM = 11,     /* struct nb_capture_stream */
    NB_CAPTURE_OPERATION = 12,  /* struct nb_capture_operation */
    NB_CAPTURE_EDGE = 13,       /* struct nb_capture_edge */
    NB_CAPTURE_RELOCATION = 14, /* struct nb_capture_relocation */
    NB_CAPTURE_REFUSAL = 15,    /* struct nb_capture_refusal */
    NB_CAPTURE_RANGE = 16,      /* struct nb_capture_range */
    NB_CAPTURE_META = 17,       /* struct nb_capture_meta */
    NB_CAPTURE_END = 18         /* struct nb_capture_end, exactly one, the raw capture's last */
};

/* Small data: bytes of the section NB_CAPTURE_DATA. */
struct nb_span {
    uint64_t offset;
    uint64_t bytes;
};

/* Bulk data: `bytes` bytes, in the capture's blobs from `first` on, all but the last NB_BLOB_MAX long. In a
 * raw capture `first` is an offset in the payload. `bytes` 0: no data; the element defines its meaning. */
struct nb_content {
    uint64_t first;
    uint64_t bytes;
};

enum nb_capture_vendor { NB_CAPTURE_CUDA = 1, NB_CAPTURE_HIP = 2 };

struct nb_capture_device {
    uint32_t vendor; /* enum nb_capture_vendor: of the captured driver; a replay uses the same vendor */
    uint32_t driver_version; /* cuDriverGetVersion */
    uint32_t compute_major;
    uint32_t compute_minor;
    uint32_t multiprocessors;
    uint32_t l2_bytes;
    uint64_t memory_bytes;
    uint64_t arena; /* where device memory was served from, or 0 */
    uint64_t arena_bytes;
    uint8_t uuid[16];
    struct nb_span name;
};

/* A limit of the context, by the vendor's number (CUlimit). */
struct nb_capture_limit {
    uint32_t limit;
    uint32_t reserved;
    uint64_t value;
};

struct nb_capture_image {
    uint8_t sha256[32]; /* of the content; zeros in a raw capture */
    uint32_t format;    /* enum nb_image_format */
    uint32_t reserved;
    struct nb_span origin; /* path of the object whose code loaded it */
    struct nb_content content;
};

enum nb_capture_module_kind { NB_CAPTURE_MODULE_MODULE = 1, NB_CAPTURE_MODULE_LIBRARY = 2 };

/* One load of an image. The same image loaded twice is two modules with globals of their own. */
struct nb_capture_module {
    uint32_t image;         /* index of an image */
    uint32_t kind;          /* enum nb_capture_module_kind */
    struct nb_span options; /* struct nb_capture_option[]: those of the load that change the code */
};

struct nb_capture_option {
    uint32_t option; /* CUjit_option */
    uint32_t reserved;
    uint64_t value;
};

/* A kernel with its attributes at a launch. The same kernel with other attributes is another element. */
struct nb_capture_kernel {
    uint32_t module; /* index of a module */
    uint32_t parameter_bytes;
    uint32_t registers;
    uint32_t static_shared_bytes;
    uint32_t local_bytes;
    uint32_t max_threads;
    struct nb_span name;
    struct nb_span layout;     /* struct nb_parameter[] (record.h); none if unknown */
    struct nb_span attributes; /* struct nb_capture_setting[]: to be set before it is launched */
};

struct nb_capture_setting {
    uint32_t attribute; /* CUfunction_attribute */
    int32_t value;
};

/* A global of a module. */
struct nb_capture_global {
    uint32_t module;
    uint32_t reserved;
    uint64_t address; /* in the captured program */
    uint64_t bytes;
    struct nb_span name;
    struct nb_content before;
    struct nb_content after; /* as in AFTER runs: empty in a capture if nothing changed */
};

enum nb_capture_allocation_flag {
    NB_CAPTURE_ALLOCATED_BEFORE = 1, /* lived when the region began */
    NB_CAPTURE_ALLOCATED_AFTER = 2,  /* lives when it ends */
    /* Its content at that time is not in the capture. */
    NB_CAPTURE_ALLOCATED_BEFORE_UNKNOWN = 4,
    NB_CAPTURE_ALLOCATED_AFTER_UNKNOWN = 8
};

/* A device allocation of the program, at its address. Allocations may overlap if their lifetimes do not. */
struct nb_capture_allocation {
    uint64_t address;
    uint64_t bytes;
    uint32_t flags;      /* enum nb_capture_allocation_flag */
    uint32_t slot;       /* raw capture only */
    struct nb_span call; /* that allocated it */
};

/* Memory content. Runs of one table are sorted and disjoint, begin at multiples of NB_CAPTURE_PAGE and hold
 * at most NB_BLOB_MAX bytes. A page in no BEFORE run is zero; content of 0 bytes in an AFTER run: it became
 * zero. In a raw capture, content of NB_CAPTURE_PAGE bytes in a longer run is that of each of its pages. */
struct nb_capture_run {
    uint64_t address;
    uint64_t bytes;
    struct nb_content content;
};

enum nb_capture_stream_kind {
    NB_CAPTURE_STREAM_LEGACY = 1,     /* the legacy default stream */
    NB_CAPTURE_STREAM_PER_THREAD = 2, /* a per-thread default stream */
    NB_CAPTURE_STREAM_CREATED = 3
};

struct nb_capture_stream {
    uint64_t handle; /* distinguishes streams; has no other meaning */
    uint32_t kind;   /* enum nb_capture_stream_kind */
    uint32_t flags;  /* CUstream_flags: 1 is non-blocking */
    int32_t priority;
    uint32_t reserved;
};

enum nb_operation_kind {
    NB_OPERATION_KERNEL = 1,
    NB_OPERATION_MEMSET = 2,      /* memset */
    NB_OPERATION_MEMCPY = 3,      /* device to device */
    NB_OPERATION_MEMCPY_HTOD = 4, /* host to device, with the host's bytes */
    NB_OPERATION_EVENT_RECORD = 5,
    NB_OPERATION_EVENT_WAIT =
        6, /* waits for an event recorded in the region; waits for other events are not captured */
    NB_OPERATION_SYNCHRONIZE =
        7, /* the host waited for the stream (or NB_NOTHING: for all streams) before the next operations */
    NB_OPERATION_GRAPH_LAUNCH = 8,
    NB_OPERATION_EMPTY = 9,       /* a graph node without work */
    NB_OPERATION_MEMCPY_DTOH = 10 /* device to host, with the bytes that the host got; not in a graph */
};

enum nb_operation_flag {
    NB_OPERATION_COOPERATIVE = 1,
    NB_OPERATION_DISABLED = 2, /* a disabled graph node */
    NB_OPERATION_NODE_PRIORITIES =
        4 /* a graph launch: the graph was instantiated with its nodes' priorities */
};

/* One step of the region, in the host's order; or a node of a graph. */
struct nb_capture_operation {
    uint32_t kind;   /* enum nb_operation_kind */
    uint32_t flags;  /* enum nb_operation_flag */
    uint32_t stream; /* index of a stream; NB_NOTHING in a graph */
    uint32_t graph;  /* 0: a step of the region; else a node of that graph (numbers from 1) */
    union {
        struct {
            uint32_t kernel; /* index of a kernel */
            uint32_t grid[3];
            uint32_t block[3];
            uint32_t shared_bytes;     /* dynamic */
            struct nb_span parameters; /* the kernel's whole parameter buffer */
            struct nb_span attributes; /* struct nb_attribute[] (record.h) */
        } launch;
        struct {
            uint64_t address;
            uint64_t pitch;  /* bytes from row to row; 0 for one row */
            uint64_t width;  /* elements */
            uint64_t height; /* rows */
            uint32_t value;
            uint32_t element_bytes; /* 1, 2 or 4 */
        } set;
        struct {
            uint64_t destination, destination_pitch,
                destination_slice;                       /* bytes from row to row, slice to slice */
            uint64_t source, source_pitch, source_slice; /* 0 for an upload, whose rows are packed */
            uint64_t width;                              /* bytes of a row */
            uint64_t height;                             /* rows of a slice, at least 1 */
            uint64_t depth;                              /* slices, at least 1 */
            struct nb_content content;                   /* upload: width * height * depth bytes */
        } copy;
        struct {
            struct nb_span call; /* the driver function that copied */
            uint64_t reserved;
            uint64_t source, source_pitch, source_slice; /* these and the rest as in `copy` */
            uint64_t width, height, depth;
            struct nb_content content; /* width * height * depth bytes, rows packed */
        } read;
        struct {
            uint32_t event; /* number in the region, from 0 */
            uint32_t flags;
        } event;
        struct {
            uint32_t graph; /* graph whose nodes run, as it was at this launch */
            uint32_t reserved;
        } graph;
        uint64_t words[11];
    } as;
};

/* Node `to` of a graph runs after node `from`. Indexes of operations. */
struct nb_capture_edge {
    uint32_t from;
    uint32_t to;
    uint8_t from_port, to_port, type, reserved; /* CUgraphEdgeData */
    uint32_t padding;
};

/* The 8 bytes at `offset` of a launch's parameters are an address in a module's global. */
struct nb_capture_relocation {
    uint32_t operation;
    uint32_t offset;
    uint32_t global;
    uint32_t reserved;
    uint64_t delta; /* bytes from the global's start */
};

enum nb_refusal_flag {
    NB_REFUSAL_READ = 1, /* the host read device memory: harms only the operations that follow */
    NB_REFUSAL_ADDRESS =
        2 /* a kernel gets the address of host memory: harms only a kernel that accesses it */
};

/* A reason why a replay may differ from the captured region. */
struct nb_capture_refusal {
    uint32_t operation; /* number of operations before it */
    uint32_t flags;     /* enum nb_refusal_flag */
    struct nb_span call;
    struct nb_span reason;
};

enum nb_capture_role { NB_CAPTURE_INPUT = 1, NB_CAPTURE_OUTPUT = 2, NB_CAPTURE_STATE = 3 };

/* Memory that the program named (benchguard.region(inputs=..., outputs=...)). */
struct nb_capture_range {
    uint64_t address;
    uint64_t bytes;
    uint32_t role; /* enum nb_capture_role */
    uint32_t reserved;
    struct nb_span name;
    struct nb_span type;  /* as numpy or torch spell it: float32, bfloat16 */
    struct nb_span shape; /* uint64_t[] */
};

struct nb_capture_meta {
    struct nb_span key;   /* region, program, tool, started ... */
    struct nb_span value; /* UTF-8, for people */
};

struct nb_capture_end {
    uint32_t status; /* 0: the region ended without a device error; else the driver's error */
    uint32_t operations;
};

_Static_assert(sizeof(struct nb_raw_capture) == 24, "layout is a file format");
_Static_assert(sizeof(struct nb_element) == 16, "layout is a file format");
_Static_assert(sizeof(struct nb_capture) == 80, "layout is a file format");
_Static_assert(sizeof(struct nb_blob) == 56, "layout is a file format");
_Static_assert(sizeof(struct nb_section) == 24, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_device) == 80, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_limit) == 16, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_image) == 72, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_module) == 24, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_option) == 16, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_kernel) == 72, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_setting) == 8, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_global) == 72, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_allocation) == 40, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_run) == 32, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_stream) == 24, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_operation) == 104, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_edge) == 16, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_relocation) == 24, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_refusal) == 40, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_range) == 72, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_meta) == 32, "layout is a file format");
_Static_assert(sizeof(struct nb_capture_end) == 8, "layout is a file format");

#endif
