#include "number.h"

float f16_value(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31)
        return f32_of(sign | 0x7f800000 | fraction << 13);
    if (exponent != 0)
        return f32_of(sign | (exponent + 112) << 23 | fraction << 13);
    const float value = (float)fraction * 0x1p-24f;
    return sign != 0 ? -value : value;
}

/* A binary format of `precision` bits of fraction whose smallest normal is 2^least, from a double, in one
 * rounding. */
static double round_to(double value, int precision, int least, bool toward_zero)
{
    int exponent;
    if (value == 0 || !isfinite(value))
        return value;
    frexp(value, &exponent);
    const int scale = (exponent - 1 > least ? exponent - 1 : least) - precision;
    const double scaled = ldexp(value, -scale);
    return ldexp(toward_zero ? trunc(scaled) : nearbyint(scaled), scale);
}

static uint16_t f16_pack(double rounded, double original, bool toward_zero)
{
    const uint16_t sign = signbit(original) ? 0x8000 : 0;
    const double size = fabs(rounded);
    if (isnan(original))
        return 0x7fff;
    if (size > 65504)
        return (uint16_t)(sign | (toward_zero && isfinite(original) ? 0x7bff : 0x7c00));
    if (size < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)(size * 0x1p24));
    int exponent;
    const double fraction = frexp(size, &exponent) * 2; /* 1 <= fraction < 2 */
    return (uint16_t)(sign | (uint16_t)(exponent + 14) << 10 | (uint16_t)((fraction - 1) * 1024));
}

uint16_t f16_bits(double value)
{
    return f16_pack(round_to(value, 10, -14, false), value, false);
}

uint16_t f16_bits_toward_zero(double value)
{
    return f16_pack(round_to(value, 10, -14, true), value, true);
}

static uint16_t bf16_pack(double rounded, double original, bool toward_zero)
{
    if (isnan(original))
        return 0x7fff;
    if (fabs(rounded) > 0x1.fep127)
        return (uint16_t)((signbit(original) ? 0x8000 : 0) |
                          (toward_zero && isfinite(original) ? 0x7f7f : 0x7f80));
    return (uint16_t)(bits_f32((float)rounded) >> 16); /* exact: rounded already */
}

uint16_t bf16_bits(double value)
{
    return bf16_pack(round_to(value, 7, -126, false), value, false);
}

uint16_t bf16_bits_toward_zero(double value)
{
    return bf16_pack(round_to(value, 7, -126, true), value, true);
}
