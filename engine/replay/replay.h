/* Replays a capture: the interface between the timing loop, in C, and Python, which decides how many samples
 * to take.
 *
 * Plain C without macros in its signatures: benchguard/replay/binding.py gives the part between the two marks
 * to cffi. Functions return 0, or an enum nb_replay_status with one line in `error`, which has room for
 * NB_REPLAY_TEXT bytes. For one thread. */
#ifndef NEUTRINO_REPLAY_H
#define NEUTRINO_REPLAY_H

#include <stdint.h>

#define NB_REPLAY_EXPORT __attribute__((visibility("default")))

/* cffi: begin */
enum nb_replay_status {
    NB_REPLAY_OK = 0,
    NB_REPLAY_BAD_CAPTURE = 1, /* truncated, corrupt, hostile, or larger than the limits */
    NB_REPLAY_NO_DRIVER = 2,   /* the driver or the device of this machine does not work */
    NB_REPLAY_CANNOT = 3,      /* not on this machine: too little memory, other architecture, address taken */
    NB_REPLAY_FAILED = 4,      /* the driver refused, or a kernel faulted: the context is lost */
    NB_REPLAY_TIMEOUT = 5,     /* the device did not finish in time: the context is lost */
    NB_REPLAY_OURS = 6,        /* a fault of this program or machine; no capture causes it */
    NB_REPLAY_OTHER_READ = 7 /* the host gets other bytes from the device than when the region was recorded */
};

enum { NB_REPLAY_TEXT = 512 };

/* Limits on the size of a capture. */
struct nb_replay_limits {
    uint64_t host_bytes;   /* decoded blobs */
    uint64_t device_bytes; /* allocations together */
    uint32_t elements;     /* in all tables but NB_CAPTURE_DATA, BEFORE and AFTER */
    uint32_t decoders;     /* processes that decompress at once, each under seccomp */
};

enum nb_cold {
    NB_COLD_NONE = 0,   /* the state is restored, caches are left as they are */
    NB_COLD_FLUSH = 1,  /* scratch memory of several times the L2 cache is written, then read */
    NB_COLD_REMAP = 2,  /* other physical memory, not in the cache, is mapped behind the same addresses */
    NB_COLD_ROTATE = 3, /* copies of the state in turn, each mapped at the recorded addresses (rotation.h) */
    NB_COLD_MEMSET = 4  /* scratch memory is only written: biased, for comparison */
};

struct nb_replay_options {
    uint32_t device;         /* ordinal */
    uint32_t cold;           /* enum nb_cold */
    uint32_t cold_code;      /* 1: module copies in turn, so that the instruction cache is cold */
    uint32_t prime;          /* 1: a spinning kernel holds the stream while a sample is queued; 0: until the
                                host has read the device's time */
    uint32_t prime_limit_ms; /* a spinning kernel gives up then, and the sample is flagged */
    uint32_t timeout_ms;     /* for one sample */
    uint32_t scrub;          /* 1: shared memory is filled before each sample */
    uint32_t step; /* 1: the host waits after each operation of an untimed run, so that an error names it */
    uint64_t seed; /* for values that kernels can see */
    uint64_t key;  /* of the noise in outputs and temporaries, of which kernels can see parts */
    uint32_t
        guard; /* 1: memory that lasts from sample to sample is unmapped while the region runs (vault.h) */
    uint32_t strict; /* 1: the capture comes from an adversary. Limits of the context are at most the driver's
                        own, no lines of L2 persist, no launch keeps an access-policy window or begins before
                        the start event, both halves of the scratch memory, temporaries and every byte of an
                        output hold other noise in each sample. There is one copy of the state: not with
                        NB_COLD_REMAP or NB_COLD_ROTATE. */
    uint64_t input_bytes; /* all input sets together; more bytes are accepted, but guarding them costs more */
    uint64_t set_bytes;   /* the largest set, if the caller can give one set at a time; 0: all are held */
    uint32_t rotating_count; /* with NB_COLD_ROTATE: the state and its copies; 0: chosen by the size of the
                                cache */
    uint32_t flush_code;     /* 1: a kernel empties the instruction caches before each sample; on HIP only */
    uint32_t ignore_reads;   /* 1: copies to the host may give other bytes than recorded */
};

struct nb_replay_device {
    char name[128];
    uint32_t driver_version;
    uint32_t compute_major;
    uint32_t compute_minor;
    uint32_t multiprocessors;
    uint32_t l2_bytes;
    uint32_t clock_khz;
    uint64_t memory_bytes;
    uint64_t free_bytes;
    char pci_bus[32];  /* for NVML; empty on the CPU driver */
    uint32_t pageable; /* 1: kernels can access pageable host memory, this process's included (HMM) */
};

/* Cost of preparing, in milliseconds, and its results. */
struct nb_replay_prepared {
    double context_ms;
    double memory_ms;
    double modules_ms;
    double total_ms;
    uint64_t mapped_bytes;
    uint64_t restored_bytes; /* written before every sample */
    uint32_t copies;         /* copies of the state, for remap and rotate */
    uint32_t operations;
    uint32_t streams;
    uint32_t primed;           /* 0: there are too many operations to queue them before a sample */
    uint32_t code_copies;      /* used in turn */
    uint32_t flush_blocks;     /* launched before every sample to empty the instruction caches */
    uint32_t flushed;          /* 1: the device has the instruction that this kernel needs */
    uint32_t unlisted_globals; /* of the images, restored although the capture does not list them */
    uint32_t unknown_globals;  /* 1: an image may have globals that are not restored; a note has the reason */
    uint32_t one_set;          /* 1: there is room for one input set at a time */
};

enum nb_sample_flag {
    NB_SAMPLE_UNPRIMED = 1 /* the spinning kernel gave up, or may have, before the sample was queued */
};

struct nb_replay_sample {
    double device_us; /* between the start and the end event */
    double host_us; /* from the release of the queue, cache preparation included, to the end event seen by the
                       host */
    double restore_us;
    double clock_mhz;   /* clock of a multiprocessor during the sample; 0 if unknown */
    uint32_t input_set; /* the input set; 0xffffffff without input sets */
    uint32_t flags;     /* enum nb_sample_flag */
    double guard_us;    /* unmapping and mapping guarded memory; not part of the other times */
    double tail_us;     /* from the end event, seen by the host, to the end of all work of the context */
    double span_us;     /* by the device's clock: from before the caches are made cold, when the host had read
                           that time, to after the end event; 0 if unknown */
};

/* Memory whose content after a replay differs from the recorded one. */
struct nb_replay_difference {
    uint64_t address; /* of the allocation or global */
    uint64_t bytes;
    uint64_t differing;    /* differing bytes */
    uint64_t first_offset; /* offset of the first differing byte */
    uint32_t global;       /* index of a global; 0xffffffff for an allocation */
    uint32_t again;        /* 1: two replays also differ from each other here */
    uint8_t expected[16];  /* from first_offset on */
    uint8_t actual[16];
};

struct nb_replay_overhead {
    double tick_us;       /* resolution: the largest step that divides the times of many empty pairs */
    double empty_pair_us; /* median */
    double empty_kernel_us;
    double empty_beside_us; /* span_us - device_us of a sample of an empty kernel, before the capture's code
                               ran; median */
};

struct nb_replay;

/* Read and check a capture, without a driver. The descriptor stays the caller's. */
int nb_replay_open(int descriptor, const struct nb_replay_limits *limits, struct nb_replay **replay,
                   char *error);

/* Make the primary context of a device, and keep it until the process ends: a replay then finds it. */
int nb_replay_open_driver(const char *driver, uint32_t device, char *error);

/* Reasons why the capture cannot be replayed, by index; NULL beyond the last. */
const char *nb_replay_refusal(const struct nb_replay *replay, uint32_t index);

/* Open the driver and rebuild the recorded state at the recorded addresses. */
int nb_replay_prepare(struct nb_replay *replay, const char *driver, const struct nb_replay_options *options,
                      struct nb_replay_device *device, struct nb_replay_prepared *prepared, char *error);

/* Deviations from the recorded state, by index; NULL beyond the last. After nb_replay_prepare. */
const char *nb_replay_note(const struct nb_replay *replay, uint32_t index);

/* Input set `set` has these bytes at `address`, within one allocation or global. They replace the recorded
 * bytes in every sample on this set. Sets are numbered from 0 and may be added in any order; each set must
 * get all of its inputs. The same bytes of a set may be given again: the new content replaces the old.
 * `data` NULL: zeros, which take no memory besides. */
int nb_replay_input(struct nb_replay *replay, uint32_t set, uint64_t address, const void *data,
                    uint64_t bytes, char *error);

/* Memory that a sample only writes: filled with another pattern before each sample. Memory that is an input,
 * too, begins as the input. nb_replay_read returns its content after the sample. */
int nb_replay_output(struct nb_replay *replay, uint64_t address, uint64_t bytes, char *error);

/* Find an output that the region updates in place: bytes that the region writes depend on the output's
 * content before the region, so that a sample, which begins with a poisoned output, computes garbage.
 * `output` becomes its index in the order of nb_replay_output, or 0xffffffff. Compares the first 4 MiB of
 * each output; leaves out outputs that an input overlaps. Runs the region untimed on the recorded inputs:
 * once if every output becomes as recorded, otherwise three times and twice per other output. Finds nothing
 * with `strict`, or if the capture lacks memory from before the region. */
int nb_replay_find_in_place(struct nb_replay *replay, uint32_t *output, char *error);

/* Run the region once on restored state (input set `set`, or the recorded inputs for 0xffffffff), untimed. */
int nb_replay_once(struct nb_replay *replay, uint32_t set, char *error);

/* Read device memory after the last run. */
int nb_replay_read(struct nb_replay *replay, uint64_t address, void *data, uint64_t bytes, char *error);

/* The recorded content of memory after the region. `known` becomes 0 if the capture has none there, or lacks
 * memory from before the region, without which no run has this outcome. */
int nb_replay_recorded(struct nb_replay *replay, uint64_t address, void *data, uint64_t bytes,
                       uint32_t *known, char *error);

/* Run twice on the recorded inputs and compare with the recorded outcome. At most `room` differences are
 * written; `count` is how many there are. */
int nb_replay_verify(struct nb_replay *replay, struct nb_replay_difference *differences, uint32_t room,
                     uint32_t *count, char *error);

/* One timed sample on input set `set`, or the recorded inputs for 0xffffffff, with every step of the
 * protocol. NB_REPLAY_OTHER_READ if the sample's copies to the host have other bytes than recorded. */
int nb_replay_measure(struct nb_replay *replay, uint32_t set, struct nb_replay_sample *sample, char *error);

/* The same with an empty kernel on each stream in place of the region. */
int nb_replay_measure_empty(struct nb_replay *replay, uint32_t set, struct nb_replay_sample *sample,
                            char *error);

/* Run the region once, untimed, as nb_replay_once does. After each copy to the host wait for all streams, and
 * compare the copy's bytes with the recorded ones before anything else runs: no kernel can change them.
 * NB_REPLAY_OTHER_READ if they differ. Does nothing for a capture without such copies. */
int nb_replay_check_reads(struct nb_replay *replay, uint32_t set, char *error);

/* With `warm` 1, all captured memory is read directly before each of the following samples, after the caches
 * have been made cold; with 0 it is not. */
int nb_replay_warm(struct nb_replay *replay, uint32_t warm, char *error);

/* Take samples from now on (`follows` != 0) on the memory that the run before left, as a program's next call
 * finds it: inputs and outputs are written as before other samples, and nothing else is restored. */
int nb_replay_follow(struct nb_replay *replay, uint32_t follows, char *error);

int nb_replay_measure_overhead(struct nb_replay *replay, struct nb_replay_overhead *overhead, char *error);

void nb_replay_close(struct nb_replay *replay);
/* cffi: end */

#endif
