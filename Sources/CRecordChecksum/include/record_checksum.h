#ifndef POLYSTORE_RECORD_CHECKSUM_H
#define POLYSTORE_RECORD_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of some more bytes.
///
/// `state` is the complement of the sum so far: start with 0xffffffff, and complement what the last call gives.
uint32_t polystore_crc32c(uint32_t state, const void *bytes, size_t count);

/// The CRC-32C of a key and of a record of at least 12 bytes, bytes 8 to 11 of which, where the sum itself is kept, are left out.
uint32_t polystore_crc32c_record(const void *key, size_t key_count, const void *record, size_t count);

/// As the first, by table look-ups, as on processors without an instruction for it.
uint32_t polystore_crc32c_portable(uint32_t state, const void *bytes, size_t count);

#endif
