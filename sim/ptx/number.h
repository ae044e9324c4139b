/* Registers as numbers: bit patterns in 64 bits, upper bits zero unless a narrow signed value was loaded. */
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

/* .ftz: a subnormal is a zero of its sign. */
static inline float flush_f32(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0.0f, value) : value;
}

/* The one NaN that the hardware makes. */
static inline uint64_t arithmetic_f32(float value)
{
    return value == value ? bits_f32(value) : 0x7fffffff;
}

double round_integral(double value, enum rounding rounding);

float f16_value(uint16_t bits);
uint16_t f16_bits(double value, enum rounding rounding); /* rounded once, from any double */

static inline float bf16_value(uint16_t bits)
{
    return f32_of((uint64_t)bits << 16);
}

uint16_t bf16_bits(double value, enum rounding rounding);

/* The formats of eight bits (OCP 8-bit Floating Point Specification 1.0). A number too large becomes the
 * largest (PTX knows them with .satfinite only); rounded to nearest. */
float e4m3_value(uint8_t bits);
uint8_t e4m3_bits(double value);
float e5m2_value(uint8_t bits);
uint8_t e5m2_bits(double value);

/* f32 with ten bits of fraction; the others are zeros. */
uint32_t tf32_bits(double value, enum rounding rounding);

/* A sum whose last bit says that it is not exact (rounded to odd): rounding it again, to fewer than 52 bits,
 * gives what rounding the exact sum would (Boldo and Melquiond, "When double rounding is odd", 2005). */
double sum_to_odd(double x, double y);

/* An integer as a double, in the same way. */
double integer_to_odd(uint64_t size, bool negative);

#endif
