// kernels.ptx for AMD's devices, which have no code that all of them take: hiprtc compiles this text for the one that
// is there (hook/hip/driver/compile.c). kernels_hip.S embeds it; utility.h says when each runs, kernels.ptx what each does.
//
// The CPU driver's hiprtc compiles it as CUDA: what AMD's compiler alone knows is under __AMDGCN__.

typedef unsigned int nb_u32;
typedef unsigned long long nb_u64;

#if defined(__AMDGCN__)

#ifndef NB_WALL_CLOCK_KHZ
#error "say how fast the wall clock is: -DNB_WALL_CLOCK_KHZ=100000"
#endif

// Ticks of a clock of one constant rate, 100 MHz on all that is known; multiplied before divided they would overflow
// after two days.
static __device__ nb_u64 nb_nanoseconds()
{
    const nb_u64 ticks = (nb_u64)wall_clock64();
    return ticks / NB_WALL_CLOCK_KHZ * 1000000 + ticks % NB_WALL_CLOCK_KHZ * 1000000 / NB_WALL_CLOCK_KHZ;
}

// RDNA 3 counts cycles in 20 bits, which may have wrapped any number of times between two stamps: then 0, not known.
static __device__ nb_u64 nb_cycles()
{
    const nb_u64 cycles = (nb_u64)clock64();
    return cycles >> 20 == 0 ? 0 : cycles;
}

static __device__ nb_u32 nb_multiprocessor()
{
    return __smid();
}

#else

static __device__ nb_u64 nb_nanoseconds()
{
    nb_u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

static __device__ nb_u64 nb_cycles()
{
    return (nb_u64)clock64();
}

static __device__ nb_u32 nb_multiprocessor()
{
    nb_u32 number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

#endif

extern "C" __global__ void nb_hold(volatile nb_u32 *release, volatile nb_u32 *gave_up, volatile nb_u64 *began,
                                   nb_u64 limit)
{
    const nb_u64 end = nb_nanoseconds() + limit;
    for (nb_u32 found = *release; found < 2; found = *release) {
        const nb_u64 now = nb_nanoseconds();
        if (found == 1 && began != 0) {
            *began = now;
            began = 0;
        }
        if (now >= end) {
            *gave_up = 1;
            return;
        }
    }
}

extern "C" __global__ void nb_time(volatile nb_u64 *to)
{
    *to = nb_nanoseconds();
}

extern "C" __global__ void nb_read(const uint4 *from, nb_u64 count, nb_u32 *sink)
{
    const nb_u64 step = (nb_u64)gridDim.x * blockDim.x;
    nb_u32 sum = 0;
    for (nb_u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 unit = from[i];
        sum += unit.x ^ unit.y ^ unit.z ^ unit.w;
    }
    if (sum == 0x9e3779b9)
        *sink = sum;
}

extern __shared__ nb_u32 nb_shared[];

extern "C" __global__ void nb_fill_shared(const uint4 *from, nb_u32 bytes)
{
    volatile nb_u32 *shared = nb_shared;
    for (nb_u32 i = threadIdx.x; i < bytes / 16; i += blockDim.x) {
        const uint4 unit = from[(i + blockIdx.x * 997) % (bytes / 16)];
        shared[4 * i] = unit.x;
        shared[4 * i + 1] = unit.y;
        shared[4 * i + 2] = unit.z;
        shared[4 * i + 3] = unit.w;
    }
}

// One store for both: two blocks that a device gives one number must not make a stamp of two.
extern "C" __global__ void nb_stamp(ulonglong2 *stamps, nb_u32 count)
{
    const nb_u32 number = nb_multiprocessor();
    if (number < count)
        stamps[number] = make_ulonglong2(nb_nanoseconds(), nb_cycles());
}

extern "C" __global__ void nb_touch(const char *from, nb_u64 pages, nb_u64 step)
{
    for (nb_u64 i = threadIdx.x; i < pages; i += blockDim.x)
        (void)*(const volatile nb_u32 *)(from + i * step);
}

// Philox4x32-10, as in kernels.ptx.
extern "C" __global__ void nb_noise(nb_u32 *to, nb_u64 count, nb_u64 key, nb_u32 seed)
{
    const nb_u64 step = (nb_u64)gridDim.x * blockDim.x * 4;
    for (nb_u64 i = ((nb_u64)blockIdx.x * blockDim.x + threadIdx.x) * 4; i < count; i += step) {
        const nb_u64 at = (nb_u64)(to + i);
        nb_u32 words[4] = {(nb_u32)at, (nb_u32)(at >> 32), seed, 0};
        nb_u32 first = (nb_u32)key, second = (nb_u32)(key >> 32);
        for (int round = 0; round < 10; round++) {
            const nb_u64 one = (nb_u64)words[0] * 0xd2511f53, two = (nb_u64)words[2] * 0xcd9e8d57;
            words[0] = (nb_u32)(two >> 32) ^ words[1] ^ first;
            words[1] = (nb_u32)two;
            words[2] = (nb_u32)(one >> 32) ^ words[3] ^ second;
            words[3] = (nb_u32)one;
            first += 0x9e3779b9;
            second += 0xbb67ae85;
        }
        for (int j = 0; j < 4 && i + j < count; j++)
            to[i + j] = words[j] | 1;
    }
}

extern "C" __global__ void nb_empty()
{
}

#if defined(__AMDGCN__)

// Composable Kernel's flush_icache: a compute unit's instruction cache is emptied by whichever block it gets. That goes on
// while the next instructions run, so 16 that do nothing follow.
extern "C" __global__ void nb_flush_icache()
{
    asm volatile("s_icache_inv \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t"
                 "s_nop 0 \n\t" ::
                     :);
}

#endif
