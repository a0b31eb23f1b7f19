/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_CODEC_H
#define ACI_CODEC_H

#include <stdbool.h>
#include <stddef.h>

/* How a Parquet file is compressed, by its numbers. */
enum codec {
	CODEC_NONE,
	CODEC_SNAPPY,
	CODEC_GZIP,
	CODEC_LZO,
	CODEC_BROTLI,
	CODEC_LZ4,
	CODEC_ZSTD,
	CODEC_LZ4_RAW,
	CODEC_N
};

/* NULL for one that is no number of a codec. */
const char *codec_name(int codec);
bool codec_is_known(int codec);

/* Exactly size bytes into `out`; false if it does not come to so many, or is broken. */
bool codec_decode(int codec, const unsigned char *in, size_t n, unsigned char *out, size_t size);

#endif
