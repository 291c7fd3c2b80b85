#ifndef POLYSTORE_CZLIB_SHIM_H
#define POLYSTORE_CZLIB_SHIM_H

#include <zlib.h>

// Macros in zlib.h, which Swift does not import. 15 is the largest window, 16 asks for the format of gzip.
static inline int polystore_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 16); }
static inline int polystore_deflate_init(z_stream *stream, int level) { return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); }

#endif
