// Whole numbers of 8 to 128 bits, and bits.

#define THREAD const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void divide_32(const int *a, const int *b, int *out)
{
    THREAD;
    const unsigned u = a[i], v = b[i];
    out[6 * i] = a[i] / b[i];
    out[6 * i + 1] = a[i] % b[i];
    out[6 * i + 2] = u / v;
    out[6 * i + 3] = u % v;
    out[6 * i + 4] = a[i] / 7 + a[i] % 10;
    out[6 * i + 5] = u / 10 - u % 641;
}

extern "C" __global__ void divide_64(const long long *a, const long long *b, long long *out)
{
    THREAD;
    const unsigned long long u = a[i], v = b[i];
    out[6 * i] = a[i] / b[i];
    out[6 * i + 1] = a[i] % b[i];
    out[6 * i + 2] = u / v;
    out[6 * i + 3] = u % v;
    out[6 * i + 4] = a[i] / 1000003;
    out[6 * i + 5] = u % 1000000007ull;
}

extern "C" __global__ void arithmetic_64(const long long *a, const long long *b, long long *out)
{
    THREAD;
    const unsigned long long u = a[i], v = b[i];
    out[10 * i] = u * v + 3;
    out[10 * i + 1] = __mul64hi(a[i], b[i]);
    out[10 * i + 2] = __umul64hi(u, v);
    out[10 * i + 3] = a[i] >> (b[i] & 63);
    out[10 * i + 4] = u >> (b[i] & 63);
    out[10 * i + 5] = u << (b[i] & 63);
    out[10 * i + 6] = llmin(a[i], b[i]) ^ llmax(a[i], b[i]);
    out[10 * i + 7] = ullmin(u, v) - ullmax(u, v);
    out[10 * i + 8] = (a[i] < b[i]) + 2 * (u < v) + 4 * (a[i] == b[i]) + 8 * (a[i] >= 0);
    out[10 * i + 9] = llabs(a[i]) - (long long)(int)b[i] * (int)a[i];
}

// add.cc, addc, mad.hi.cc and their like.
extern "C" __global__ void arithmetic_128(const unsigned long long *a, const unsigned long long *b,
                                          unsigned long long *out)
{
    THREAD;
    const unsigned __int128 x = (unsigned __int128)a[i] << 64 | b[i],
                            y = (unsigned __int128)b[i] << 40 | a[i];
    const unsigned __int128 sum = x + y, difference = x - y, product = x * y, shifted = x >> (a[i] & 127);
    out[8 * i] = (unsigned long long)sum;
    out[8 * i + 1] = (unsigned long long)(sum >> 64);
    out[8 * i + 2] = (unsigned long long)difference;
    out[8 * i + 3] = (unsigned long long)(difference >> 64);
    out[8 * i + 4] = (unsigned long long)product;
    out[8 * i + 5] = (unsigned long long)(product >> 64);
    out[8 * i + 6] = (unsigned long long)shifted;
    out[8 * i + 7] = x < y;
}

extern "C" __global__ void carries(const unsigned *a, const unsigned *b, unsigned *out)
{
    THREAD;
    unsigned low, high, top;
    asm("add.cc.u32 %0, %3, %4;\n\taddc.cc.u32 %1, %4, %4;\n\taddc.u32 %2, 0, 0;"
        : "=&r"(low), "=&r"(high), "=r"(top)
        : "r"(a[i]), "r"(b[i]));
    out[6 * i] = low;
    out[6 * i + 1] = high;
    out[6 * i + 2] = top;
    asm("sub.cc.u32 %0, %3, %4;\n\tsubc.cc.u32 %1, %4, %3;\n\tsubc.u32 %2, 0, 0;"
        : "=&r"(low), "=&r"(high), "=r"(top)
        : "r"(a[i]), "r"(b[i]));
    out[6 * i + 3] = low;
    out[6 * i + 4] = high;
    asm("mad.lo.cc.u32 %0, %3, %4, %3;\n\tmadc.hi.cc.u32 %1, %3, %4, %4;\n\taddc.u32 %2, %3, 0;"
        : "=&r"(low), "=&r"(high), "=r"(top)
        : "r"(a[i]), "r"(b[i]));
    out[6 * i + 5] = low ^ high ^ top;
}

// An addition takes the carry of a subtraction, and the reverse, as in nvcc's remainders of 128 bits.
extern "C" __global__ void mixed_carries(const unsigned *a, const unsigned *b, unsigned *out)
{
    THREAD;
    unsigned difference, added, sum, subtracted;
    asm("sub.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %2, 0;"
        : "=&r"(difference), "=r"(added)
        : "r"(a[i]), "r"(b[i]));
    asm("add.cc.u32 %0, %2, %3;\n\tsubc.u32 %1, %2, 0;"
        : "=&r"(sum), "=r"(subtracted)
        : "r"(a[i]), "r"(b[i]));
    out[4 * i] = difference;
    out[4 * i + 1] = added;
    out[4 * i + 2] = sum;
    out[4 * i + 3] = subtracted;
}

extern "C" __global__ void remainder_128(const unsigned long long *a, const unsigned long long *b,
                                         unsigned long long *out)
{
    THREAD;
    const unsigned __int128 x = (unsigned __int128)a[i] << 64 | b[i],
                            y = (unsigned __int128)(b[i] & 0xffffff) << 64 | a[i];
    const unsigned __int128 quotient = x / y, remainder = x % y;
    out[4 * i] = (unsigned long long)quotient;
    out[4 * i + 1] = (unsigned long long)(quotient >> 64);
    out[4 * i + 2] = (unsigned long long)remainder;
    out[4 * i + 3] = (unsigned long long)(remainder >> 64);
}

extern "C" __global__ void bits_32(const unsigned *a, const unsigned *b, unsigned *out)
{
    THREAD;
    const unsigned x = a[i], y = b[i];
    out[12 * i] = __popc(x);
    out[12 * i + 1] = __clz(x);
    out[12 * i + 2] = __brev(x);
    out[12 * i + 3] = __ffs(x);
    out[12 * i + 4] = __byte_perm(x, y, y >> 7);
    out[12 * i + 5] = __funnelshift_l(x, y, x);
    out[12 * i + 6] = __funnelshift_r(x, y, x);
    out[12 * i + 7] = __funnelshift_lc(x, y, y & 63);
    out[12 * i + 8] = __funnelshift_rc(x, y, y & 63);
    out[12 * i + 9] = (x & y) | (~x & (y ^ 0xff00ff00u));
    out[12 * i + 10] = (x << (y & 31)) | (x >> (-y & 31));
    out[12 * i + 11] = __fns(x, 0, 3);
}

extern "C" __global__ void bits_64(const unsigned long long *a, unsigned long long *out)
{
    THREAD;
    const unsigned long long x = a[i];
    out[5 * i] = __popcll(x);
    out[5 * i + 1] = __clzll(x);
    out[5 * i + 2] = __brevll(x);
    out[5 * i + 3] = __ffsll(x);
    out[5 * i + 4] = x & -x;
}

extern "C" __global__ void bit_fields(const unsigned *a, const unsigned *b, int *out)
{
    THREAD;
    unsigned found;
    int extended;
    unsigned long long wide;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(found) : "r"(a[i]), "r"(b[i] & 255), "r"(b[i] >> 8 & 255));
    out[8 * i] = found;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(extended) : "r"(a[i]), "r"(b[i] & 63), "r"(b[i] >> 8 & 63));
    out[8 * i + 1] = extended;
    asm("bfi.b32 %0, %1, %2, %3, %4;"
        : "=r"(found)
        : "r"(a[i]), "r"(b[i]), "r"(b[i] & 63), "r"(b[i] >> 8 & 63));
    out[8 * i + 2] = found;
    asm("bfind.u32 %0, %1;" : "=r"(found) : "r"(a[i]));
    out[8 * i + 3] = found;
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(found) : "r"(a[i]));
    out[8 * i + 4] = found;
    asm("bfe.u64 %0, %1, %2, %3;"
        : "=l"(wide)
        : "l"((unsigned long long)a[i] << 32 | b[i]), "r"(b[i] & 63), "r"(b[i] >> 8 & 63));
    out[8 * i + 5] = (int)wide;
    out[8 * i + 6] = (int)(wide >> 32);
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(found) : "r"(b[i] & 63), "r"(b[i] >> 8 & 63));
    out[8 * i + 7] = found;
}

extern "C" __global__ void multiply_add(const int *a, const int *b, const int *c, int *out)
{
    THREAD;
    out[8 * i] = a[i] * b[i] + c[i];
    out[8 * i + 1] = __mulhi(a[i], b[i]);
    out[8 * i + 2] = __umulhi(a[i], b[i]);
    out[8 * i + 3] = __mul24(a[i], b[i]);
    out[8 * i + 4] = __umul24(a[i], b[i]);
    out[8 * i + 5] = __sad(a[i], b[i], c[i]);
    out[8 * i + 6] = __usad(a[i], b[i], c[i]);
    out[8 * i + 7] = __hadd(a[i], b[i]) ^ __rhadd(a[i], b[i]) ^ __uhadd(a[i], b[i]) ^ abs(c[i]);
}

extern "C" __global__ void dot_products(const int *a, const int *b, const int *c, int *out)
{
    THREAD;
    out[4 * i] = __dp4a(a[i], b[i], c[i]);
    out[4 * i + 1] = __dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)c[i]);
    out[4 * i + 2] = __dp2a_lo(a[i], b[i], c[i]);
    out[4 * i + 3] = __dp2a_hi((unsigned)a[i], (unsigned)b[i], (unsigned)c[i]);
}

// Four bytes or two halves of a word at once.
extern "C" __global__ void packed_bytes(const unsigned *a, const unsigned *b, unsigned *out)
{
    THREAD;
    out[10 * i] = __vadd4(a[i], b[i]);
    out[10 * i + 1] = __vsub2(a[i], b[i]);
    out[10 * i + 2] = __vaddus4(a[i], b[i]);
    out[10 * i + 3] = __vsubss2(a[i], b[i]);
    out[10 * i + 4] = __vabsdiffu4(a[i], b[i]);
    out[10 * i + 5] = __vsadu4(a[i], b[i]);
    out[10 * i + 6] = __vmaxs2(a[i], b[i]);
    out[10 * i + 7] = __vminu4(a[i], b[i]);
    out[10 * i + 8] = __vcmpgts4(a[i], b[i]);
    out[10 * i + 9] = __vavgu4(a[i], b[i]);
}

extern "C" __global__ void three_inputs(const unsigned *a, const unsigned *b, const unsigned *c,
                                        unsigned *out)
{
    THREAD;
    unsigned found;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(found) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    out[6 * i] = found;
    asm("lop3.b32 %0, %1, %2, %3, 0x1d;" : "=r"(found) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    out[6 * i + 1] = found;
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(found) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    out[6 * i + 2] = found;
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(found) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    out[6 * i + 3] = found;
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(found) : "r"(a[i]), "r"(b[i]), "r"((int)c[i]));
    out[6 * i + 4] = found;
    asm("cnot.b32 %0, %1;" : "=r"(found) : "r"(a[i] & 1));
    out[6 * i + 5] = found + min(max(a[i], b[i]), c[i]);
}
