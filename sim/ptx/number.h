/* Conversion between registers and numbers. A register is 64 bits; the upper bits are zero unless a narrow
 * signed value was loaded. */
#ifndef NEUTRINO_SIM_PTX_NUMBER_H
#define NEUTRINO_SIM_PTX_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ptx/program.h"

static inline float f32_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline uint64_t bits_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* .ftz: turns a subnormal into a zero of its sign. */
static inline float flush_f32(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0.0f, value) : value;
}

/* The NaN that GPU arithmetic produces. */
static inline uint64_t arithmetic_f32(float value)
{
    return value == value ? bits_f32(value) : 0x7fffffff;
}

double ptx_round_integral(double value, enum rounding rounding);

static inline float ptx_f16_value(uint16_t bits)
{
    /* The fields at their places in an f32, whose exponent has a bias that is 112 higher. */
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = (uint32_t)(bits & 0x7fff) << 13;
    const uint32_t number = (uint32_t)bits_f32(f32_of(rest) * 0x1p112f);
    return f32_of(sign | (rest >= 31u << 23 ? rest | 0x7f800000 : number));
}

/* The bits of a power of two. */
static inline uint64_t bits_of_power(int exponent)
{
    return (uint64_t)(1023 + exponent) << 52;
}

/* The nearest f16 without a branch, so that loops of it can be vectorised. */
static inline uint16_t ptx_nearest_f16_bits(double value)
{
    const uint64_t bits = bits_f64(value), size = bits & (UINT64_MAX >> 1), sign = bits >> 48 & 0x8000;
    /* Keeps 10 of 52 fraction bits and moves the bias from 1023 to 15. A carry goes to the exponent. */
    const uint64_t rounded = (size + (UINT64_C(1) << 41) - 1 + (size >> 42 & 1)) >> 42;
    const uint64_t normal = rounded - (UINT64_C(1008) << 10);
    /* Subnormals are multiples of 2^-24: those of a double that is 2^28. */
    const uint64_t subnormal = bits_f64(f64_of(size) + 0x1p28) & 0x7ff;
    const uint64_t number = size < bits_of_power(-14) ? subnormal : normal;
    const uint64_t finite = size >= bits_of_power(16) || number > 0x7c00 ? 0x7c00 : number;
    return (uint16_t)(size > bits_of_power(1024) ? 0x7fff : sign | finite);
}

uint16_t ptx_f16_bits(double value, enum rounding rounding); /* rounds once */

static inline float bf16_value(uint16_t bits)
{
    return f32_of((uint64_t)bits << 16);
}

/* The nearest bf16; see ptx_nearest_f16_bits(). */
static inline uint16_t ptx_nearest_bf16_bits(double value)
{
    const uint64_t bits = bits_f64(value), size = bits & (UINT64_MAX >> 1), sign = bits >> 48 & 0x8000;
    const uint64_t rounded = (size + (UINT64_C(1) << 44) - 1 + (size >> 45 & 1)) >> 45;
    const uint64_t normal = rounded - (UINT64_C(896) << 7);
    const uint64_t subnormal = bits_f64(f64_of(size) + 0x1p-81) & 0xff; /* multiples of 2^-133 */
    const uint64_t number = size < bits_of_power(-126) ? subnormal : normal;
    const uint64_t finite = size >= bits_of_power(128) || number > 0x7f80 ? 0x7f80 : number;
    return (uint16_t)(size > bits_of_power(1024) ? 0x7fff : sign | finite);
}

uint16_t ptx_bf16_bits(double value, enum rounding rounding);

/* 8-bit floats (OCP 8-bit Floating Point Specification 1.0), rounded to nearest. Overflow becomes the largest
 * number: PTX has these conversions with .satfinite only. */
static inline float ptx_e4m3_value(uint8_t bits)
{
    /* The fields at their places in an f16, whose exponent has a bias that is 8 higher. */
    const uint32_t half = (uint32_t)(bits & 0x80) << 8 | (uint32_t)(bits & 0x7f) << 7;
    return (bits & 0x7f) == 0x7f ? NAN : ptx_f16_value((uint16_t)half) * 256;
}

uint8_t ptx_e4m3_bits(double value);

static inline float ptx_e5m2_value(uint8_t bits)
{
    return ptx_f16_value((uint16_t)(bits << 8)); /* the upper half of an f16 */
}

uint8_t ptx_e5m2_bits(double value);

/* f32 with 10 fraction bits; the lower bits are zero. */
uint32_t ptx_tf32_bits(double value, enum rounding rounding);

/* A sum rounded to odd: rounding it again to fewer than 52 bits gives the correctly rounded sum (Boldo and
 * Melquiond, "When double rounding is odd", 2005). */
static inline double ptx_sum_to_odd(double x, double y)
{
    const double sum = x + y, back = sum - x;
    const double error =
        (x - (sum - back)) + (y - back); /* exact (Knuth's TwoSum); NaN if the sum is infinite */
    const uint64_t bits = bits_f64(sum), step = (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
    return f64_of((error > 0 || error < 0) && (bits & 1) == 0 ? bits + step : bits);
}

/* An integer as a double, rounded to odd. */
double ptx_integer_to_odd(uint64_t size, bool negative);

#endif
