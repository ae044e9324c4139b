#include "ptx/number.h"

double ptx_integer_to_odd(uint64_t size, bool negative)
{
    const unsigned extra =
        size >> 53 != 0 ? 11 : 0; /* 64-bit integers have 11 bits more than a double's 53 */
    const uint64_t lost = (UINT64_C(1) << extra) - 1;
    const uint64_t kept = (size & ~lost) | ((size & lost) != 0 ? lost + 1 : 0);
    return negative ? -(double)kept : (double)kept;
}

double ptx_round_integral(double value, enum rounding rounding)
{
    switch (rounding) {
    case ROUND_ZERO:
        return trunc(value);
    case ROUND_DOWN:
        return floor(value);
    case ROUND_UP:
        return ceil(value);
    case ROUND_AWAY:
        return round(value);
    default:
        return nearbyint(value);
    }
}

/* Rounds a double once to a format with `precision` fraction bits and smallest normal 2^least. */
static double round_to(double value, int precision, int least, enum rounding rounding)
{
    int exponent;
    if (value == 0 || !isfinite(value))
        return value;
    frexp(value, &exponent);
    const int scale = (exponent - 1 > least ? exponent - 1 : least) - precision;
    return ldexp(ptx_round_integral(ldexp(value, -scale), rounding), scale);
}

/* Whether overflow becomes infinity in this rounding mode. */
static bool overflows(double value, enum rounding rounding)
{
    return isinf(value) || rounding <= ROUND_NEAREST || rounding == (value < 0 ? ROUND_DOWN : ROUND_UP);
}

uint16_t ptx_f16_bits(double value, enum rounding rounding)
{
    if (rounding <= ROUND_NEAREST)
        return ptx_nearest_f16_bits(value);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(round_to(value, 10, -14, rounding));
    if (isnan(value))
        return 0x7fff;
    if (size > 65504)
        return (uint16_t)(sign | (overflows(value, rounding) ? 0x7c00 : 0x7bff));
    if (size < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)(size * 0x1p24));
    int exponent;
    const double fraction = frexp(size, &exponent) * 2; /* 1 <= fraction < 2 */
    return (uint16_t)(sign | (uint16_t)(exponent + 14) << 10 | (uint16_t)((fraction - 1) * 1024));
}

uint16_t ptx_bf16_bits(double value, enum rounding rounding)
{
    if (rounding <= ROUND_NEAREST)
        return ptx_nearest_bf16_bits(value);
    const double rounded = round_to(value, 7, -126, rounding);
    if (isnan(value))
        return 0x7fff;
    if (fabs(rounded) > 0x1.fep127)
        return (uint16_t)((signbit(value) ? 0x8000 : 0) | (overflows(value, rounding) ? 0x7f80 : 0x7f7f));
    const uint16_t sign = signbit(value) ? 0x8000 : 0;        /* kept when the value rounds to zero */
    return (uint16_t)(bits_f32((float)rounded) >> 16 | sign); /* exact: `rounded` fits */
}

/* Encodes an 8-bit float with `fraction` fraction bits, exponent bias `bias` and largest value `most`. */
static uint8_t tiny_bits(double value, int fraction, int bias, double most)
{
    const double size = fabs(round_to(value, fraction, 1 - bias, ROUND_NEAREST));
    const uint8_t sign = signbit(value) ? 0x80 : 0;
    int exponent;
    if (isnan(value))
        return 0x7f;
    if (size == 0)
        return sign;
    const double kept = size < most ? size : most;
    const double mantissa = 2 * frexp(kept, &exponent);
    if (exponent - 1 < 1 - bias)
        return sign | (uint8_t)ldexp(kept, fraction - (1 - bias));
    return (uint8_t)(sign | (exponent - 1 + bias) << fraction | (int)ldexp(mantissa - 1, fraction));
}

uint8_t ptx_e4m3_bits(double value)
{
    return tiny_bits(value, 3, 7, 448);
}

uint8_t ptx_e5m2_bits(double value)
{
    return tiny_bits(value, 2, 15, 57344);
}

uint32_t ptx_tf32_bits(double value, enum rounding rounding)
{
    if (isnan(value))
        return 0x7fffffff;
    const double rounded = round_to(value, 10, -126, rounding);
    const uint32_t sign = signbit(value) ? UINT32_C(1) << 31 : 0;
    return (uint32_t)bits_f32((float)rounded) | sign;
}
