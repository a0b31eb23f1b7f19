/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Both of Snappy and LZ4 are runs of bytes that follow, and of bytes that were there before. */
struct copier {
	const unsigned char *at, *end;
	unsigned char *out;
	size_t done, size;
};

static bool copy_new(struct copier *c, size_t n)
{
	if (n > (size_t)(c->end - c->at) || n > c->size - c->done)
		return false;
	memcpy(c->out + c->done, c->at, n);
	c->at += n;
	c->done += n;
	return true;
}

/* They may reach into what they make: a byte at a time. */
static bool copy_old(struct copier *c, size_t back, size_t n)
{
	if (!back || back > c->done || n > c->size - c->done)
		return false;
	for (; n; n--, c->done++)
		c->out[c->done] = c->out[c->done - back];
	return true;
}

/* n bytes as a number, the lowest first. */
static bool number(struct copier *c, unsigned n, size_t *out)
{
	if (n > (size_t)(c->end - c->at))
		return false;
	*out = 0;
	for (unsigned i = 0; i < n; i++)
		*out |= (size_t)*c->at++ << 8 * i;
	return true;
}

/* --- https://github.com/google/snappy/blob/main/format_description.txt -------------------------- */

/* The whole length, seven bits a byte. */
static bool snappy_length(struct copier *c, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 35 && c->at < c->end; shift += 7) {
		unsigned char byte = *c->at++;

		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool snappy_new(struct copier *c, unsigned tag)
{
	size_t n = tag >> 2;

	if (n >= 60 && !number(c, (unsigned)n - 59, &n))
		return false;
	return copy_new(c, n + 1);
}

static bool snappy_old(struct copier *c, unsigned tag)
{
	static const unsigned char more[] = { 0, 1, 2, 4 };
	unsigned kind = tag & 3;
	size_t back;

	if (!number(c, more[kind], &back))
		return false;
	if (kind == 1)
		return copy_old(c, back | (size_t)(tag >> 5) << 8, (tag >> 2 & 7) + 4);
	return copy_old(c, back, (tag >> 2) + 1);
}

static bool snappy(struct copier *c)
{
	uint64_t length;

	if (!snappy_length(c, &length) || length != c->size)
		return false;
	while (c->at < c->end) {
		unsigned tag = *c->at++;

		if (!(tag & 3 ? snappy_old(c, tag) : snappy_new(c, tag)))
			return false;
	}
	return c->done == c->size;
}

/* --- https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md -------------------------------- */

/* Four bits, and bytes while those before are full. */
static bool lz4_length(struct copier *c, size_t *n)
{
	size_t more = *n == 15 ? 255 : 0;

	while (more == 255) {
		if (!number(c, 1, &more))
			return false;
		*n += more;
	}
	return true;
}

static bool lz4(struct copier *c)
{
	while (c->at < c->end) {
		unsigned token = *c->at++;
		size_t fresh = token >> 4, old = token & 15, back;

		if (!lz4_length(c, &fresh) || !copy_new(c, fresh))
			return false;
		if (c->at == c->end) /* the last run has no more */
			break;
		if (!number(c, 2, &back) || !lz4_length(c, &old) || !copy_old(c, back, old + 4))
			return false;
	}
	return c->done == c->size;
}

/* -------------------------------------------------------------------------------------------- */

/* zlib's and gzip's own frames; a file may have several of them in a row. */
static bool gzip(const unsigned char *in, size_t n, unsigned char *out, size_t size)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)in,
		.avail_in = (uInt)n,
		.next_out = out,
		.avail_out = (uInt)size };
	int r;

	if (n > UINT_MAX || size > UINT_MAX || inflateInit2(&z, 15 + 32) != Z_OK)
		return false;
	while ((r = inflate(&z, Z_FINISH)) == Z_STREAM_END && z.avail_in)
		if (inflateReset(&z) != Z_OK)
			break;
	inflateEnd(&z);
	return r == Z_STREAM_END && !z.avail_out;
}

static const struct {
	const char *name;
	bool known;
} codecs[CODEC_N] = {
	[CODEC_NONE] = { "no", true },
	[CODEC_SNAPPY] = { "Snappy", true },
	[CODEC_GZIP] = { "gzip", true },
	[CODEC_LZO] = { "LZO" },
	[CODEC_BROTLI] = { "Brotli" },
	[CODEC_LZ4] = { "Hadoop's LZ4" },
	[CODEC_ZSTD] = { "Zstandard", true },
	[CODEC_LZ4_RAW] = { "LZ4", true },
};

const char *codec_name(int codec)
{
	return codec >= 0 && codec < CODEC_N ? codecs[codec].name : NULL;
}

bool codec_is_known(int codec)
{
	return codec_name(codec) && codecs[codec].known;
}

bool codec_decode(int codec, const unsigned char *in, size_t n, unsigned char *out, size_t size)
{
	struct copier c = { in, in + n, out, 0, size };

	switch (codec) {
	case CODEC_NONE:
		return n == size && copy_new(&c, n);
	case CODEC_SNAPPY:
		return snappy(&c);
	case CODEC_LZ4_RAW:
		return lz4(&c);
	case CODEC_GZIP:
		return gzip(in, n, out, size);
	case CODEC_ZSTD:
		return ZSTD_decompress(out, size, in, n) == size;
	default:
		return false;
	}
}
