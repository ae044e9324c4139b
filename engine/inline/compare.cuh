/* Whether an element is right: judge/compare.py's rules, which say why. */
#ifndef NEUTRINO_INLINE_COMPARE_CUH
#define NEUTRINO_INLINE_COMPARE_CUH

#include <math_constants.h>

#include "inline/kernels.h"

struct form {
    int digits, lowest; /* of the significand; the smallest normal number is 2 to the power of that */
    double largest;
    bool infinities;
};

static __device__ form form_of(uint32_t dtype)
{
    switch (dtype) {
    case NB_FLOAT32:
        return {24, -126, 3.4028234663852886e38, true};
    case NB_FLOAT16:
        return {11, -14, 65504.0, true};
    case NB_BFLOAT16:
        return {8, -126, 3.3895313892515355e38, true};
    case NB_FLOAT8_E4M3:
        return {4, -6, 448.0, false};
    case NB_FLOAT8_E5M2:
        return {3, -14, 57344.0, true};
    default:
        return {53, -1022, 1.7976931348623157e308, true};
    }
}

static __device__ __forceinline__ double power_of_two(int exponent)
{
    return __longlong_as_double((long long)(exponent + 1023) << 52);
}

/* To nearest, ties to even, without an upper end. */
static __device__ double rounded(double value, const form &form)
{
    const int biased = (int)((unsigned long long)__double_as_longlong(value) >> 52) & 0x7ff;
    if (form.digits >= 53 || biased == 0x7ff)
        return value;
    const int least = form.lowest - (form.digits - 1), own = biased - 1022 - form.digits;
    const int places = own > least ? own : least;
    return rint(value * power_of_two(-places)) * power_of_two(places);
}

static __device__ double half_of(uint16_t bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

static __device__ double e4m3_of(uint8_t bits)
{
    const int exponent = (bits >> 3) & 15, fraction = bits & 7;
    double size = exponent == 0 ? fraction * 0x1p-9 : (8 + fraction) * power_of_two(exponent - 10);
    if ((bits & 0x7f) == 0x7f)
        size = __longlong_as_double(0x7ff8000000000000ll);
    return (bits & 0x80) != 0 ? -size : size;
}

/* An element of a float dtype. `place` is its address. */
static __device__ double number_at(uint32_t dtype, const void *place)
{
    switch (dtype) {
    case NB_FLOAT64:
        return *(const double *)place;
    case NB_FLOAT32:
        return *(const float *)place;
    case NB_FLOAT16:
        return half_of(*(const uint16_t *)place);
    case NB_BFLOAT16:
        return __uint_as_float((uint32_t)*(const uint16_t *)place << 16);
    case NB_FLOAT8_E4M3:
        return e4m3_of(*(const uint8_t *)place);
    default:
        return half_of((uint16_t)(*(const uint8_t *)place << 8));
    }
}

static __device__ bool is_right_number(double actual, double expected, const form &form, double absolute,
                                       double relative)
{
    const double largest = 1.7976931348623157e308;
    const double bound = absolute + relative * fabs(expected);
    if (fabs(actual - expected) <= (bound < largest ? bound : largest))
        return true;
    if (isnan(expected))
        return isnan(actual);
    const double nearest = rounded(expected, form);
    if (actual == nearest)
        return true;
    if (fabs(nearest) <= form.largest)
        return false;
    if (isfinite(expected) && actual == copysign(CUDART_INF, expected))
        return true;
    if ((isfinite(expected) || !form.infinities) && actual == copysign(form.largest, expected))
        return true;
    return !form.infinities && isnan(actual);
}

static __device__ __forceinline__ bool is_signed(uint32_t dtype)
{
    return dtype >= NB_INT64 && dtype <= NB_INT8;
}

static __device__ __forceinline__ unsigned bytes_of(uint32_t dtype)
{
    switch (dtype) {
    case NB_FLOAT64:
    case NB_INT64:
    case NB_UINT64:
        return 8;
    case NB_FLOAT32:
    case NB_INT32:
    case NB_UINT32:
        return 4;
    case NB_FLOAT16:
    case NB_BFLOAT16:
    case NB_INT16:
    case NB_UINT16:
        return 2;
    default:
        return 1;
    }
}

/* Sign-extended where the dtype has a sign. */
static __device__ uint64_t whole_at(uint32_t dtype, const void *place)
{
    switch (dtype) {
    case NB_INT64:
    case NB_UINT64:
        return *(const uint64_t *)place;
    case NB_INT32:
        return (uint64_t)(int64_t)*(const int32_t *)place;
    case NB_UINT32:
        return *(const uint32_t *)place;
    case NB_INT16:
        return (uint64_t)(int64_t)*(const int16_t *)place;
    case NB_UINT16:
        return *(const uint16_t *)place;
    case NB_INT8:
        return (uint64_t)(int64_t)*(const int8_t *)place;
    default:
        return *(const uint8_t *)place;
    }
}

static __device__ bool is_right_whole(uint64_t actual, uint64_t expected, uint32_t dtype, double absolute,
                                      double relative)
{
    if (actual == expected)
        return true;
    if (dtype == NB_BOOL || (absolute == 0 && relative == 0))
        return false;
    const bool less = is_signed(dtype) ? (int64_t)actual < (int64_t)expected : actual < expected;
    const double apart = (double)(less ? expected - actual : actual - expected);
    const double size = is_signed(dtype) ? fabs((double)(int64_t)expected) : (double)expected;
    return apart <= absolute + relative * size;
}

/* Whether it is an element, or between two of them. */
static __device__ bool is_element(const nb_check &check, uint64_t slot)
{
    for (uint32_t i = 0; i < check.dimensions; i++) {
        if (slot / check.strides[i] >= check.shape[i])
            return false;
        slot %= check.strides[i];
    }
    return slot == 0 || check.dimensions == 0;
}

/* Read once, and not from L1, for another stream may be writing there. */
static __device__ bool is_right(const nb_check &check, const form &form, uint64_t slot, const void *wanted)
{
    const unsigned size = bytes_of(check.dtype);
    const uint64_t address = check.actual + slot * size;
    uint64_t stored;
    if (!is_element(check, slot))
        return true;
    switch (size) {
    case 8:
        stored = *(const volatile uint64_t *)address;
        break;
    case 4:
        stored = *(const volatile uint32_t *)address;
        break;
    case 2:
        stored = *(const volatile uint16_t *)address;
        break;
    default:
        stored = *(const volatile uint8_t *)address;
        break;
    }
    if (check.dtype <= NB_FLOAT8_E5M2)
        return is_right_number(number_at(check.dtype, &stored), number_at(check.expected_dtype, wanted), form,
                               check.absolute, check.relative);
    return is_right_whole(whole_at(check.dtype, &stored), whole_at(check.dtype, wanted), check.dtype,
                          check.absolute, check.relative);
}

#endif
