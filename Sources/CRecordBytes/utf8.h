#ifndef POLYSTORE_UTF8_H
#define POLYSTORE_UTF8_H

#include "record_bytes.h"

// Part of `record_checksum.c`: valgrind 3.19 gives up on the debug information of a second file.
//
// Whether bytes are UTF-8, sixteen at a time by shuffles, which Swift has no way to name. The tables are those of John Keiser and Daniel Lemire,
// "Validating UTF-8 in less than one instruction per byte" (2021): what is wrong with two bytes in a row has a bit in all three of the entries that their
// three upper and lower halves lead to.

#if defined(__x86_64__)
#include <tmmintrin.h>

enum {
    too_short = 1 << 0,
    too_long = 1 << 1,
    overlong_3 = 1 << 2,
    too_large = 1 << 3,
    surrogate = 1 << 4,
    overlong_2 = 1 << 5,
    overlong_4 = 1 << 6,
    too_large_1000 = 1 << 6,
    two_continuations = 1 << 7,
    carry = too_short | too_long | two_continuations,
};

static const uint8_t upper_of_first[16] = {
    too_long, too_long, too_long, too_long, too_long, too_long, too_long, too_long,
    two_continuations, two_continuations, two_continuations, two_continuations,
    too_short | overlong_2, too_short, too_short | overlong_3 | surrogate, too_short | too_large | too_large_1000 | overlong_4,
};
static const uint8_t lower_of_first[16] = {
    carry | overlong_3 | overlong_2 | overlong_4, carry | overlong_2, carry, carry, carry | too_large,
    carry | too_large | too_large_1000, carry | too_large | too_large_1000, carry | too_large | too_large_1000,
    carry | too_large | too_large_1000, carry | too_large | too_large_1000, carry | too_large | too_large_1000,
    carry | too_large | too_large_1000, carry | too_large | too_large_1000, carry | too_large | too_large_1000 | surrogate,
    carry | too_large | too_large_1000, carry | too_large | too_large_1000,
};
static const uint8_t upper_of_second[16] = {
    too_short, too_short, too_short, too_short, too_short, too_short, too_short, too_short,
    too_long | overlong_2 | two_continuations | overlong_3 | too_large_1000 | overlong_4,
    too_long | overlong_2 | two_continuations | overlong_3 | too_large,
    too_long | overlong_2 | two_continuations | surrogate | too_large, too_long | overlong_2 | two_continuations | surrogate | too_large,
    too_short, too_short, too_short, too_short,
};

__attribute__((target("ssse3")))
static inline __m128i load(const void *at) { return _mm_loadu_si128((const __m128i *)at); }

/// What is wrong with sixteen bytes, given those that come one, two and three bytes earlier; 0 for nothing.
__attribute__((target("ssse3")))
static inline __m128i wrong(__m128i bytes, __m128i before, __m128i two_before, __m128i three_before) {
    const __m128i half = _mm_set1_epi8(0x0f);
    __m128i one = _mm_shuffle_epi8(load(upper_of_first), _mm_and_si128(_mm_srli_epi16(before, 4), half));
    __m128i two = _mm_shuffle_epi8(load(lower_of_first), _mm_and_si128(before, half));
    __m128i three = _mm_shuffle_epi8(load(upper_of_second), _mm_and_si128(_mm_srli_epi16(bytes, 4), half));
    __m128i found = _mm_and_si128(_mm_and_si128(one, two), three);
    // Where two continuations in a row are right: the third byte of three, the third and fourth of four.
    __m128i third = _mm_subs_epu8(two_before, _mm_set1_epi8(0xe0 - 0x80));
    __m128i fourth = _mm_subs_epu8(three_before, _mm_set1_epi8(0xf0 - 0x80));
    __m128i expected = _mm_and_si128(_mm_or_si128(third, fourth), _mm_set1_epi8((char)0x80));
    return _mm_xor_si128(expected, found);
}

__attribute__((target("ssse3")))
static enum polystore_text kind_of_text(const uint8_t *bytes, size_t count) {
    size_t last = count - 16;
    __m128i first = load(bytes);
    __m128i all = _mm_or_si128(first, load(bytes + last));
    for (size_t at = 16; at < last; at += 16) all = _mm_or_si128(all, load(bytes + at));
    if (_mm_movemask_epi8(all) == 0) return polystore_text_ascii;
    __m128i error = wrong(first, _mm_slli_si128(first, 1), _mm_slli_si128(first, 2), _mm_slli_si128(first, 3));
    for (size_t at = 16; at < last; at += 16)
        error = _mm_or_si128(error, wrong(load(bytes + at), load(bytes + at - 1), load(bytes + at - 2), load(bytes + at - 3)));
    // Bytes that were looked at before are looked at again.
    error = _mm_or_si128(error, wrong(load(bytes + last), load(bytes + last - 1), load(bytes + last - 2), load(bytes + last - 3)));
    int is_cut_off = bytes[count - 1] >= 0xc0 || bytes[count - 2] >= 0xe0 || bytes[count - 3] >= 0xf0;
    int is_right = _mm_movemask_epi8(_mm_cmpeq_epi8(error, _mm_setzero_si128())) == 0xffff;
    return is_right && !is_cut_off ? polystore_text_utf8 : polystore_text_invalid;
}

#endif

#endif
