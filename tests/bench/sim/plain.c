#include "bench.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void plain_integers(const struct arguments *arguments)
{
    for (uint32_t thread = 0; thread < arguments->threads; thread++) {
        uint32_t x = thread;
        for (uint32_t i = 0; i < arguments->count; i++) {
            x = x * 1664525 + 1013904223;
            x ^= x >> 7;
            x += x << 3;
            x -= x & 16777215;
            x |= i;
        }
        arguments->out[thread] = x;
    }
}

void plain_floats(const struct arguments *arguments)
{
    for (uint32_t thread = 0; thread < arguments->threads; thread++) {
        float x = (float)thread, y = x;
        for (uint32_t i = 0; i < arguments->count; i++) {
            x = fmaf(x, 0.5f, 1.0f);
            y = fmaf(y, 0.5f, x);
            x = fmaf(x, 0.5f, y);
            y = fmaf(y, 0.5f, 1.0f);
            x = fmaf(x, 0.5f, 1.0f);
            y = fmaf(y, 0.5f, x);
            x = fmaf(x, 0.5f, y);
            y = fmaf(y, 0.5f, 1.0f);
        }
        arguments->out[thread] = bits_of(x + y);
    }
}

void plain_copy(const struct arguments *arguments)
{
    const uint32_t total = arguments->threads * arguments->count;
    for (uint32_t i = 0; i < total; i++)
        arguments->out[i] = arguments->a[i];
}

void plain_matrices(const struct arguments *arguments)
{
    const uint32_t n = arguments->count;
    for (uint32_t y = 0; y < n; y++)
        for (uint32_t x = 0; x < n; x++) {
            float sum = 0;
            for (uint32_t k = 0; k < n; k++)
                sum = fmaf(value_of(arguments->a[y * n + k]), value_of(arguments->b[k * n + x]), sum);
            arguments->out[y * n + x] = bits_of(sum);
        }
}

void plain_divergent(const struct arguments *arguments)
{
    for (uint32_t thread = 0; thread < arguments->threads; thread++) {
        uint32_t x = thread * 747796405 + 1;
        for (uint32_t i = 0; i < arguments->count; i++)
            if (x & 4) {
                x = x * 9 + 7;
                x += x >> 11;
            } else {
                x = x * 5 + 3;
                x ^= x >> 9;
            }
        arguments->out[thread] = x;
    }
}

void plain_atomics(const struct arguments *arguments)
{
    for (uint32_t thread = 0; thread < arguments->threads; thread++) {
        uint32_t x = thread;
        for (uint32_t i = 0; i < arguments->count; i++) {
            x = x * 1664525 + 1013904223;
            __atomic_fetch_add(&arguments->out[x >> 26], 1, __ATOMIC_RELAXED);
        }
    }
}
