// Lanes that part and meet again.

extern "C" __global__ void nested_branches(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int x = in[i];
    int y = 0;
    if (x % 2) {
        if (x % 3 == 0)
            y = x * 5;
        else if (x % 5 == 0)
            y = x - 1000;
        else
            y = -x;
        y += 3;
    } else {
        if (x > 500)
            y = x / 3;
        y ^= 0xff;
    }
    out[i] = y;
}

// Collatz: every lane loops for its own time.
extern "C" __global__ void loops_of_different_length(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long value = in[i];
    int steps = 0;
    while (value > 1) {
        value = value % 2 ? 3 * value + 1 : value / 2;
        steps++;
    }
    out[i] = steps;
}

extern "C" __global__ void break_and_continue(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int j = 0; j < 40; j++) {
        if ((in[i] + j) % 7 == 0)
            continue;
        if (j > in[i] % 37)
            break;
        for (int k = j; k < 40; k += 5) {
            if (k * in[i] % 11 == 3)
                goto next;
            sum += k;
        }
        sum *= 3;
    next:
        sum ^= j;
    }
    out[i] = sum;
}

// Large enough to become a table of branches (brx.idx).
extern "C" __global__ void switch_table(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = in[i], y = i;
    switch (x % 16) {
    case 0:
        y += x * x;
        break;
    case 1:
        y = x / (y + 1);
        break;
    case 2:
        y = x - y; // falls through
    case 3:
        y = 7 * y + 1;
        break;
    case 4:
        y = __popc(x) + y;
        break;
    case 5:
        y = __clz(x) * y;
        break;
    case 6:
        y = x ^ y << 3;
        break;
    case 7:
        y = min(x, y) * 13;
        break;
    case 8:
        y = x % (y + 3);
        break;
    case 9:
        for (int k = 0; k < x % 9; k++)
            y = y * 5 + k;
        break;
    case 11:
        y = ~x;
        break;
    case 12:
        y = x & 0x55;
        break;
    case 13:
        out[i] = -1;
        return;
    case 14:
        y = (x >> 2) - y;
        break;
    default:
        y = 99;
        break;
    }
    out[i] = y;
}

// The address of each branch is in a table: brx.idx by hand, in the form that PTX documents.
extern "C" __global__ void indexed_branch(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int y;
    asm volatile("{\n"
                 ".reg .u32 choice;\n"
                 "rem.u32 choice, %1, 3;\n"
                 "targets: .branchtargets first, second, third;\n"
                 "brx.idx choice, targets;\n"
                 "first: mov.s32 %0, 11; bra.uni done;\n"
                 "second: add.s32 %0, %1, 22; bra.uni done;\n"
                 "third: neg.s32 %0, %1;\n"
                 "done:\n"
                 "}"
                 : "=r"(y)
                 : "r"(in[i]));
    out[i] = y;
}

// Lanes leave early; the others still meet at the warp's and the block's barrier.
extern "C" __global__ void early_exits(const int *in, int *out)
{
    __shared__ int count;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (threadIdx.x >= 96)
        return; // a whole warp
    for (int j = 0; j < in[i] % 5; j++)
        atomicAdd(&count, j);
    __syncthreads();
    out[i] = count;
}

// A lane holds a lock while its neighbours spin for it: only independent thread scheduling gets through.
extern "C" __global__ void spin_lock(int *lock, int *counter, int *order)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            const int ticket = *(volatile int *)counter;
            *(volatile int *)counter = ticket + 1;
            atomicAdd(&order[ticket % 8], 1);
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The waiting branch comes first in the program: a lane waits for a lane of its own warp to come by later.
extern "C" __global__ void wait_for_a_neighbour(volatile int *flags, int *out)
{
    if (threadIdx.x % 2 == 0) {
        while (!flags[threadIdx.x + 1])
            ;
        out[threadIdx.x] = 10 + flags[threadIdx.x + 1];
    } else {
        out[threadIdx.x] = 20;
        __threadfence();
        flags[threadIdx.x] = threadIdx.x;
    }
}
