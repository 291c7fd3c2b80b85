#include "record_bytes.h"

#include <string.h>

#include "utf8.h"

// The processor's own instruction does eight bytes at a time; Swift has no way to name it.

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2")))
static inline uint32_t with_instruction(uint32_t state, const unsigned char *at, size_t count) {
    uint64_t wide = state;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    // The rest in three steps instead of up to seven: each waits for the one before.
    if (count & 4) {
        uint32_t word;
        memcpy(&word, at, 4);
        state = _mm_crc32_u32(state, word);
        at += 4;
    }
    if (count & 2) {
        uint16_t word;
        memcpy(&word, at, 2);
        state = _mm_crc32_u16(state, word);
        at += 2;
    }
    if (count & 1) state = _mm_crc32_u8(state, *at);
    return state;
}

uint32_t polystore_crc32c(uint32_t state, const void *bytes, size_t count) {
    if (__builtin_cpu_supports("sse4.2")) return with_instruction(state, bytes, count);
    return polystore_crc32c_portable(state, bytes, count);
}

__attribute__((target("sse4.2")))
static inline uint32_t head_with_instruction(const void *key, size_t key_count, const unsigned char *record, size_t count) {
    uint32_t state = with_instruction(0xffffffff, key, key_count);
    uint64_t start;
    memcpy(&start, record, 8);
    state = (uint32_t)_mm_crc32_u64(state, start);
    return ~with_instruction(state, record + 12, count - 12);
}

__attribute__((target("sse4.2")))
static size_t heads_with_instruction(
    const void *const *keys, size_t key_count, const void *const *records, size_t count, size_t number) {
    for (size_t i = 0; i < number; i++) {
        uint32_t kept;
        memcpy(&kept, (const unsigned char *)records[i] + 8, 4);
        if (kept != head_with_instruction(keys[i], key_count, records[i], count)) return i;
    }
    return number;
}

__attribute__((target("sse4.2")))
static int is_sound_with_instruction(const void *key, size_t key_count, const unsigned char *record, size_t count, size_t head) {
    uint32_t kept, kept_of_rest;
    memcpy(&kept, record + 8, 4);
    memcpy(&kept_of_rest, record + count - 4, 4);
    // Neither sum waits for the other.
    uint32_t rest = _mm_crc32_u32(0xffffffff, kept);
    rest = ~with_instruction(rest, record + head, count - head - 4);
    return (kept == head_with_instruction(key, key_count, record, head)) & (kept_of_rest == rest);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

uint32_t polystore_crc32c(uint32_t state, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        state = __crc32cd(state, word);
    }
    for (; count > 0; at++, count--) state = __crc32cb(state, *at);
    return state;
}

#else

uint32_t polystore_crc32c(uint32_t state, const void *bytes, size_t count) {
    return polystore_crc32c_portable(state, bytes, count);
}

#endif

static uint32_t word(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t polystore_crc32c_head(const void *key, size_t key_count, const void *record, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return head_with_instruction(key, key_count, record, count);
#endif
    const unsigned char *bytes = record;
    uint32_t state = polystore_crc32c(0xffffffff, key, key_count);
    state = polystore_crc32c(state, bytes, 8);
    return ~polystore_crc32c(state, bytes + 12, count - 12);
}

size_t polystore_crc32c_heads(const void *const *keys, size_t key_count, const void *const *records, size_t count, size_t number) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return heads_with_instruction(keys, key_count, records, count, number);
#endif
    for (size_t i = 0; i < number; i++) {
        const unsigned char *bytes = records[i];
        if (word(bytes + 8) != polystore_crc32c_head(keys[i], key_count, bytes, count)) return i;
    }
    return number;
}

int polystore_crc32c_is_sound(const void *key, size_t key_count, const void *record, size_t count, size_t head) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return is_sound_with_instruction(key, key_count, record, count, head);
#endif
    const unsigned char *bytes = record;
    uint32_t rest = polystore_crc32c(0xffffffff, bytes + 8, 4);
    rest = ~polystore_crc32c(rest, bytes + head, count - head - 4);
    return word(bytes + 8) == polystore_crc32c_head(key, key_count, record, head) && word(bytes + count - 4) == rest;
}

// Four bits at a time: sixteen numbers instead of tables that would have to be made or printed.
uint32_t polystore_crc32c_portable(uint32_t state, const void *bytes, size_t count) {
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    const unsigned char *at = bytes;
    for (; count > 0; at++, count--) {
        state ^= *at;
        state = state >> 4 ^ table[state & 15];
        state = state >> 4 ^ table[state & 15];
    }
    return state;
}

enum polystore_text polystore_text_kind(const void *bytes, size_t count) {
#if defined(__x86_64__)
    if (count >= 19 && __builtin_cpu_supports("ssse3")) return kind_of_text(bytes, count);
#endif
    return polystore_text_unknown;
}
