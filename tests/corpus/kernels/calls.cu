// Functions that stay functions: recursion, indirect calls, virtual methods, structures passed and returned.

static __device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fibonacci(in[i] % 12);
}

static __device__ __noinline__ bool is_odd(unsigned n);
static __device__ __noinline__ bool is_even(unsigned n)
{
    return n == 0 || is_odd(n - 1);
}
static __device__ __noinline__ bool is_odd(unsigned n)
{
    return n != 0 && is_even(n - 1);
}

extern "C" __global__ void mutual_recursion(int *out)
{
    out[threadIdx.x] = is_even(threadIdx.x) ? 2 : 1;
}

// Its frame holds an array, so that every level has local memory of its own.
static __device__ __noinline__ int permutations(int *items, int n, int depth)
{
    if (depth == n)
        return items[0] < items[n - 1];
    int copy[5], found = 0;
    for (int i = 0; i < n; i++)
        copy[i] = items[i];
    for (int i = depth; i < n; i++) {
        const int kept = copy[depth];
        copy[depth] = copy[i];
        copy[i] = kept;
        found += permutations(copy, n, depth + 1);
    }
    return found;
}

extern "C" __global__ void frames(int *out)
{
    int items[5];
    for (int i = 0; i < 5; i++)
        items[i] = (i * (threadIdx.x + 2)) % 5;
    out[threadIdx.x] = permutations(items, 2 + threadIdx.x % 4, 0);
}

static __device__ __noinline__ int add(int a, int b)
{
    return a + b;
}
static __device__ __noinline__ int subtract(int a, int b)
{
    return a - b;
}
static __device__ __noinline__ int multiply(int a, int b)
{
    return a * b;
}
static __device__ __noinline__ int greater(int a, int b)
{
    return a > b ? a : b;
}

typedef int (*Operation)(int, int);
__device__ Operation operations[4] = {add, subtract, multiply, greater};

// Every lane may call another function.
extern "C" __global__ void function_pointers(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = operations[in[i] & 3](in[i], i) + operations[(in[i] >> 2) & 3](i, 5);
}

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const
    {
        return 4;
    }
};

struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s)
    {
    }
    __device__ __noinline__ int area() const override
    {
        return side * side;
    }
};

struct Triangle : Shape {
    int base, height;
    __device__ Triangle(int b, int h) : base(b), height(h)
    {
    }
    __device__ __noinline__ int area() const override
    {
        return base * height / 2;
    }
    __device__ __noinline__ int corners() const override
    {
        return 3;
    }
};

static __device__ __noinline__ int describe(const Shape *shape)
{
    return 10 * shape->area() + shape->corners();
}

extern "C" __global__ void virtual_methods(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Square square(in[i]);
    const Triangle triangle(in[i], i);
    const Shape *shape = in[i] % 2 ? (const Shape *)&square : (const Shape *)&triangle;
    out[i] = describe(shape);
}

struct Pair {
    double value;
    short tag;
    char bytes[5];
};

static __device__ __noinline__ Pair combine(Pair a, const Pair *b, char shift)
{
    a.value = a.value * 2 + b->value;
    a.tag = (short)(a.tag - b->tag);
    for (int i = 0; i < 5; i++)
        a.bytes[i] = (char)(a.bytes[i] + b->bytes[4 - i] + shift);
    return a;
}

extern "C" __global__ void structures(const double *in, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair a = {in[i], (short)i, {1, 2, 3, 4, 5}}, b = {0.5, (short)-i, {5, 6, 7, 8, (char)i}};
    const Pair c = combine(a, &b, -1), d = combine(c, &a, 3);
    out[3 * i] = d.value;
    out[3 * i + 1] = d.tag;
    out[3 * i + 2] = d.bytes[0] + 100 * d.bytes[4];
}

// A function that shuffles, called by a part of the warp.
static __device__ __noinline__ int rotate(unsigned mask, int value)
{
    return __shfl_sync(mask, value, (threadIdx.x + 4) % 16);
}

extern "C" __global__ void collective_in_a_function(const int *in, int *out)
{
    int value = in[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        value = rotate(0xffffu, value);
    out[threadIdx.x] = value;
}

// More calls deep than a fixed table would hold.
static __device__ __noinline__ long long depth(int n)
{
    return n == 0 ? 0 : depth(n - 1) + n;
}

extern "C" __global__ void deep_recursion(long long *out)
{
    out[threadIdx.x] = depth(20 + threadIdx.x);
}
