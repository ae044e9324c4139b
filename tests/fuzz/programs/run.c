/* Target: the engine. An accepted kernel runs for 10 ms and must access only its own memory. Memory around
 * the known ranges is poisoned, so that an access to one byte is a finding. */
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ptx/ptx.h"
#include "target.h"

enum {
    WINDOW = 4096,
    GLOBALS_MAX = 64,
    GAP = 64,
    OURS = 2 /* windows: one writable, one read-only */,
    KERNELS_MAX = 4,
    SHARED_MAX = 232448
};
#define ARENA (size_t)(16 << 20)

enum { NOT_ACCEPTED = PTX_DEADLOCK + 1, NOT_PLACED, NO_KERNEL };

const enum style target_style = STYLE_GENTLE;
const char *const target_outcomes[OUTCOMES] = {
    [PTX_OK] = "ok",
    [PTX_ILLEGAL_ADDRESS] = "illegal address",
    [PTX_MISALIGNED] = "misaligned",
    [PTX_TRAP] = "trap",
    [PTX_ASSERT] = "assertion",
    [PTX_TIMEOUT] = "timeout",
    [PTX_INVALID_PC] = "invalid pc",
    [PTX_ILLEGAL_INSTRUCTION] = "illegal instruction",
    [PTX_OUT_OF_RESOURCES] = "out of resources",
    [PTX_CANCELLED] = "cancelled",
    [PTX_DEADLOCK] = "deadlock",
    [NOT_ACCEPTED] = "not accepted",
    [NOT_PLACED] = "not placed",
    [NO_KERNEL] = "no kernel",
};

struct range {
    uint64_t begin, end; /* equal values: released */
    bool writable;
};

/* Device memory at a fixed address, so that an input behaves the same in every process. */
struct memory {
    unsigned char *next;
    struct range ranges[GLOBALS_MAX];
    size_t count;
};

static unsigned char *const arena = (unsigned char *)UINT64_C(0x200000000000);

static void make_arena(void)
{
    static bool made;
    if (made)
        return;
    if (mmap(arena, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0) != arena) {
        perror("fuzz: no memory at the address of the CPU driver's");
        exit(2);
    }
    made = true;
    ASAN_POISON_MEMORY_REGION(arena, ARENA);
}

static bool find(void *context, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable)
{
    const struct memory *known = context;
    for (size_t i = 0; i < known->count; i++)
        if (address >= known->ranges[i].begin && address < known->ranges[i].end) {
            *begin = known->ranges[i].begin;
            *end = known->ranges[i].end;
            *writable = known->ranges[i].writable;
            return true;
        }
    return false;
}

static void *allocate(size_t bytes, size_t alignment, void *context)
{
    struct memory *known = context;
    const size_t used = (size_t)(known->next - arena), coarse = alignment < 256 ? 256 : alignment;
    const size_t at = (used + GAP + coarse - 1) / coarse * coarse;
    if (known->count == GLOBALS_MAX || at > ARENA || bytes > ARENA - at)
        return NULL;
    known->next = arena + at + bytes;
    known->ranges[known->count++] =
        (struct range){(uintptr_t)arena + at, (uintptr_t)arena + at + bytes, true};
    ASAN_UNPOISON_MEMORY_REGION(arena + at, bytes);
    return arena + at;
}

/* malloc and free for kernels. */
static uint64_t allocate_inside(void *context, size_t bytes)
{
    return bytes != 0 ? (uint64_t)(uintptr_t)allocate(bytes, 16, context) : 0;
}

static void release_inside(void *context, uint64_t address)
{
    struct memory *known = context;
    for (size_t i = OURS; i < known->count; i++)
        if (known->ranges[i].begin == address) {
            ASAN_POISON_MEMORY_REGION((void *)(uintptr_t)address, known->ranges[i].end - address);
            known->ranges[i].end = address;
        }
}

/* An image in the writable window, whose format and shape depend on the handle. Only addresses of the windows
 * and small numbers are handles. */
static bool image(void *context, uint64_t handle, bool is_surface, struct ptx_image *made)
{
    const struct memory *known = context;
    const uint64_t window = known->ranges[0].begin, read_only = known->ranges[1].begin;
    if (handle > 1000 && handle - window >= WINDOW && handle - read_only >= WINDOW)
        return false;
    struct random random = {handle % WINDOW + (handle >= read_only ? WINDOW : 0)};
    *made = (struct ptx_image){.channel = (enum ptx_channel)random_below(&random, PTX_CHANNEL_SNORM16 + 1),
                               .channels = 1u << random_below(&random, 3),
                               .has_layers = random_one_in(&random, 4),
                               .is_cube = random_one_in(&random, 4),
                               .is_linear = !is_surface && random_one_in(&random, 4),
                               .has_normalized_coordinates = random_one_in(&random, 2),
                               .filters = random_one_in(&random, 2),
                               .filters_levels = random_one_in(&random, 2),
                               .is_srgb = random_one_in(&random, 8),
                               .bias = (float)random_below(&random, 4) - 2,
                               .lowest_level = (float)random_below(&random, 4) - 2,
                               .highest_level = (float)random_below(&random, 20)};
    for (unsigned i = 0; i < 3; i++)
        made->addressing[i] = (enum ptx_addressing)random_below(&random, PTX_BORDER + 1);
    const unsigned element = ptx_channel_bytes(made->channel) * made->channels;
    made->level_count = 1 + (unsigned)random_below(&random, is_surface ? 1 : 4);
    for (unsigned i = 0; i < made->level_count; i++) {
        struct ptx_level *level = &made->levels[i];
        level->width = 1 + (uint32_t)random_below(&random, 8);
        level->height = 1 + (uint32_t)random_below(&random, 4);
        level->depth = 1 + (uint32_t)random_below(&random, 7);
        level->pitch = (uint64_t)level->width * element;
        level->slice = level->pitch * level->height;
        /* Ends where the window ends: the bytes after it are poisoned. */
        level->address = window + WINDOW - level->slice * level->depth;
    }
    return true;
}

static uint64_t seed_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Fills eight bytes, usually with the address of a window, sometimes near its end or random. */
static void fill(struct random *random, const struct ptx_kernel *kernel, const struct memory *memory,
                 unsigned char *parameters)
{
    static const uint64_t numbers[] = {0, 1, 4, 31, 32, 64, 1000, INT32_MAX, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < ptx_kernel_parameter_count(kernel); i++) {
        size_t offset, bytes;
        ptx_kernel_parameter(kernel, i, &offset, &bytes);
        for (size_t at = 0; at < bytes; at += 8) {
            uint64_t value = memory->ranges[random_one_in(random, 8)].begin;
            if (random_one_in(random, 8))
                value += WINDOW - random_below(random, 64);
            if (bytes < 8 || random_one_in(random, 8))
                value = numbers[random_below(random, sizeof numbers / sizeof *numbers)];
            memcpy(parameters + offset + at, &value, bytes - at < 8 ? bytes - at : 8);
        }
    }
}

static unsigned run(const struct ptx_kernel *kernel, struct memory *memory, struct random *random)
{
    struct ptx_diagnostic diagnostic = {0};
    struct ptx_kernel_attributes attributes;
    ptx_kernel_attributes(kernel, &attributes);
    if (attributes.shared_bytes > SHARED_MAX || attributes.required[0] != 0)
        return PTX_OUT_OF_RESOURCES; /* the driver's error for this case */
    const size_t bytes = ptx_kernel_parameter_bytes(kernel);
    unsigned char *parameters = malloc(bytes != 0 ? bytes : 1);
    if (parameters == NULL)
        finding("no memory for %zu bytes of parameters", bytes);
    memset(parameters, 0, bytes);
    fill(random, kernel, memory, parameters);
    struct ptx_launch launch = {.kernel = kernel,
                                .grid = {1, 1, 1},
                                .cooperative = random_one_in(random, 8),
                                .block = {random_one_in(random, 4) ? 72 : 32, 1, 1},
                                .shared_bytes = random_one_in(random, 2) ? 256 : 0,
                                .parameters = parameters,
                                .memory = {.find = find,
                                           .allocate = allocate_inside,
                                           .release = release_inside,
                                           .image = image,
                                           .context = memory},
                                .timeout_ns = 10 * 1000 * 1000,
                                .workers = 1};
    const enum ptx_status status = ptx_run(&launch, &diagnostic);
    free(parameters);
    if (status != PTX_OK && status != PTX_OUT_OF_RESOURCES && diagnostic.text[0] == 0)
        finding("%s without a reason", target_outcomes[status]);
    return (unsigned)status;
}

static unsigned place_and_run(struct ptx_module *module, struct random *random)
{
    struct memory memory = {.next = arena};
    unsigned outcome = NO_KERNEL;
    for (size_t i = 0; i < OURS; i++)
        memset(allocate(WINDOW, 256, &memory), 0, WINDOW);
    memory.ranges[1].writable = false;
    if (ptx_module_place(module, allocate, &memory) != 0)
        outcome = NOT_PLACED;
    const size_t count = ptx_module_kernel_count(module);
    for (size_t i = 0; outcome != NOT_PLACED && i < count && i < KERNELS_MAX; i++)
        outcome = run(ptx_module_kernel(module, i), &memory, random);
    ASAN_POISON_MEMORY_REGION(arena, (size_t)(memory.next - arena));
    return outcome;
}

/* Discard the output of kernels, and allocate the stream's buffer before allocations are counted. */
__attribute__((constructor)) static void silence(void)
{
    static char buffer[BUFSIZ];
    if (getenv("FUZZ_SILENT") != NULL && freopen("/dev/null", "w", stdout) != NULL)
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    struct ptx_module *module = NULL;
    struct ptx_diagnostic diagnostic = {0};
    struct random random = {seed_of(bytes, size)};
    ptx_accept_unsupported(true); /* as the driver does */
    if (ptx_module_parse((const char *)bytes, size, &module, &diagnostic) != 0)
        return NOT_ACCEPTED;
    make_arena();
    const unsigned outcome = place_and_run(module, &random);
    ptx_module_free(module);
    return outcome;
}
