#include "record_checksum.h"

#include <string.h>

// The processor's own instruction does eight bytes at a time; Swift has no way to name it.

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2")))
static uint32_t with_instruction(uint32_t state, const unsigned char *at, size_t count) {
    uint64_t wide = state;
    for (; count >= 8; at += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    for (; count > 0; at++, count--) state = _mm_crc32_u8(state, *at);
    return state;
}

uint32_t polystore_crc32c(uint32_t state, const void *bytes, size_t count) {
    if (__builtin_cpu_supports("sse4.2")) return with_instruction(state, bytes, count);
    return polystore_crc32c_portable(state, bytes, count);
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
