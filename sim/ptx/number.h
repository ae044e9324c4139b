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

float ptx_f16_value(uint16_t bits);
uint16_t ptx_f16_bits(double value, enum rounding rounding); /* rounds once */

static inline float bf16_value(uint16_t bits)
{
    return f32_of((uint64_t)bits << 16);
}

uint16_t ptx_bf16_bits(double value, enum rounding rounding);

/* 8-bit floats (OCP 8-bit Floating Point Specification 1.0), rounded to nearest. Overflow becomes the largest
 * number: PTX has these conversions with .satfinite only. */
float ptx_e4m3_value(uint8_t bits);
uint8_t ptx_e4m3_bits(double value);
float ptx_e5m2_value(uint8_t bits);
uint8_t ptx_e5m2_bits(double value);

/* f32 with 10 fraction bits; the lower bits are zero. */
uint32_t ptx_tf32_bits(double value, enum rounding rounding);

/* A sum rounded to odd: rounding it again to fewer than 52 bits gives the correctly rounded sum (Boldo and
 * Melquiond, "When double rounding is odd", 2005). */
double ptx_sum_to_odd(double x, double y);

/* An integer as a double, rounded to odd. */
double ptx_integer_to_odd(uint64_t size, bool negative);

#endif
