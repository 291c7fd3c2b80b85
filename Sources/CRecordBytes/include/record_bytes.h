#ifndef POLYSTORE_RECORD_CHECKSUM_H
#define POLYSTORE_RECORD_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of some more bytes.
///
/// `state` is the complement of the sum so far: start with 0xffffffff, and complement what the last call gives.
uint32_t polystore_crc32c(uint32_t state, const void *bytes, size_t count);

/// The CRC-32C of a key and of the first `count` bytes of a record, at least 12, without bytes 8 to 11, where the sum itself is kept.
uint32_t polystore_crc32c_head(const void *key, size_t key_count, const void *record, size_t count);

/// How many of `number` records, from the first on, have the sum of `polystore_crc32c_head` in their bytes 8 to 11. All keys have the same length, and
/// each record has at least `count` bytes.
size_t polystore_crc32c_heads(const void *const *keys, size_t key_count, const void *const *records, size_t count, size_t number);

/// Whether a record of `count` bytes, of which `head` are its head, has the sum of its head in its bytes 8 to 11, and in its last four that of the rest:
/// over bytes 8 to 11 and everything behind the head but itself. `count` is at least `head` and 4 more, `head` at least 12.
int polystore_crc32c_is_sound(const void *key, size_t key_count, const void *record, size_t count, size_t head);

/// As the first, by table look-ups, as on processors without an instruction for it.
uint32_t polystore_crc32c_portable(uint32_t state, const void *bytes, size_t count);

enum polystore_text { polystore_text_unknown, polystore_text_invalid, polystore_text_utf8, polystore_text_ascii };

/// Whether text is ASCII, other UTF-8, or neither. Unknown: there is no fast way to tell, as bytes are fewer than 19, or the processor is another.
enum polystore_text polystore_text_kind(const void *bytes, size_t count);

#endif
