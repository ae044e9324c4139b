/* Registers as numbers: bit patterns in 64 bits, upper bits zero unless a narrow signed value was loaded. */
#ifndef NEUTRINO_SIM_PTX_NUMBER_H
#define NEUTRINO_SIM_PTX_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

float f16_value(uint16_t bits);
uint16_t f16_bits(double value); /* rounded once, to nearest even, from any double */
uint16_t f16_bits_toward_zero(double value);

static inline float bf16_value(uint16_t bits)
{
    return f32_of((uint64_t)bits << 16);
}

uint16_t bf16_bits(double value);
uint16_t bf16_bits_toward_zero(double value);

#endif
