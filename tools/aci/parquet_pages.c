/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"
#include "parquet_values.h"
#include "thrift.h"

#include "base/mem.h"
#include "base/scope.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pages of a chunk: a dictionary perhaps, then data, each behind a header that tells how long it is. */
#define HEADER_BYTES_USUAL 4096
#define HEADER_BYTES_MAX (1 << 20)
#define PAGE_BYTES_MAX (256L << 20)
#define TEXT_BYTES_MAX 4096
#define DICTIONARY_MAX (1 << 22)

enum { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };
enum { LEVELS_RLE = 3 };

struct header {
	int type;
	size_t bytes; /* of itself */
	int64_t packed, unpacked;
	int64_t n; /* values */
	int64_t encoding, levels_encoding;
	int64_t definitions,
			repetitions; /* bytes of the second version's levels, which are not compressed */
	bool compressed;
};

struct page {
	unsigned char *bytes;
	size_t n;
};

struct reading {
	const struct parquet *p;
	const struct parquet_column *column;
	const struct parquet_chunk *chunk;
	parquet_visit *visit;
	void *user;
	struct parquet_dictionary dictionary;
	struct buf text;
	int64_t values; /* of this chunk so far */
	bool enough;    /* said the visitor */
};

static const char broken[] = "it is broken";

/* --- headers -------------------------------------------------------------------------------------- */

/* DataPageHeader: 1 num_values, 2 encoding, 3 definition_level_encoding; DictionaryPageHeader has the first two.
 * DataPageHeaderV2: 1 num_values, 4 encoding, 5 and 6 the bytes of levels, 7 is_compressed. */
static void read_kind(struct thrift *r, struct header *h, bool second)
{
	int64_t *const fields[2][7] = {
		{ NULL, &h->n, &h->encoding, &h->levels_encoding },
		{ NULL, &h->n, NULL, NULL, &h->encoding, &h->definitions, &h->repetitions },
	};
	int id = 0, type;

	while ((type = thrift_field(r, &id)) != THRIFT_STOP) {
		if (id >= 0 && id < 7 && fields[second][id] && type == THRIFT_I32)
			*fields[second][id] = thrift_zigzag(r);
		else if (second && id == 7 && type == THRIFT_FALSE)
			h->compressed = false;
		else
			thrift_skip(r, type);
	}
}

/* PageHeader: 1 type, 2 uncompressed_page_size, 3 compressed_page_size, 5 data, 7 dictionary, 8 data of the second
 * version. */
static bool parse_header(const unsigned char *at, size_t n, struct header *h)
{
	struct thrift r = { at, at + n, false };
	int id = 0, type;

	*h = (struct header){ .type = -1, .levels_encoding = LEVELS_RLE, .compressed = true };
	while ((type = thrift_field(&r, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_I32)
			h->type = (int)thrift_zigzag(&r);
		else if (id == 2 && type == THRIFT_I32)
			h->unpacked = thrift_zigzag(&r);
		else if (id == 3 && type == THRIFT_I32)
			h->packed = thrift_zigzag(&r);
		else if ((id == 5 || id == 7 || id == 8) && type == THRIFT_STRUCT)
			read_kind(&r, h, id == 8);
		else
			thrift_skip(&r, type);
	}
	h->bytes = (size_t)(r.at - at);
	return !r.broken && h->packed >= 0 && h->packed <= PAGE_BYTES_MAX && h->unpacked >= 0 &&
			h->unpacked <= PAGE_BYTES_MAX && h->n >= 0;
}

/* Most are short; one with long statistics is read again. */
static bool read_header(const struct parquet *p, int64_t at, struct header *h)
{
	auto_free unsigned char *bytes = NULL;

	for (size_t most = HEADER_BYTES_USUAL; most <= HEADER_BYTES_MAX; most *= 16) {
		ssize_t n;

		bytes = xrealloc(bytes, most, 1);
		n = pread(p->fd, bytes, most, at);
		if (n <= 0)
			return false;
		if (parse_header(bytes, (size_t)n, h))
			return true;
	}
	return false;
}

/* --- what a page holds ---------------------------------------------------------------------------- */

/* The first `plain` bytes are as they are, the rest is compressed. */
static bool read_page(const struct reading *r, int64_t at, const struct header *h, size_t plain,
		struct page *out)
{
	auto_free unsigned char *packed = NULL;
	auto_free unsigned char *unpacked = NULL;
	size_t n = (size_t)h->packed, size = (size_t)h->unpacked;
	int codec = h->compressed ? r->chunk->codec : CODEC_NONE;

	if (plain > n || plain > size)
		return false;
	packed = malloc(n + 1);
	unpacked = malloc(size + 1);
	if (!packed || !unpacked || pread(r->p->fd, packed, n, at) != (ssize_t)n)
		return false;
	memcpy(unpacked, packed, plain);
	/* A page of nothing but missing values may hold nothing to unpack. */
	if (size > plain &&
			!codec_decode(codec, packed + plain, n - plain, unpacked + plain,
					size - plain))
		return false;
	*out = (struct page){ .bytes = take_ptr(unpacked), .n = size };
	return true;
}

static void forget_dictionary(struct parquet_dictionary *d)
{
	free(d->bytes);
	free(d->values);
	*d = (struct parquet_dictionary){ 0 };
}

static bool read_dictionary(struct reading *r, const struct header *h, struct page *page)
{
	struct parquet_dictionary *d = &r->dictionary;
	struct parquet_values values;
	bool ok;

	forget_dictionary(d);
	d->bytes = page->bytes;
	page->bytes = NULL;
	if (h->n > DICTIONARY_MAX || (uint64_t)h->n > page->n) /* each takes a byte at least */
		return false;
	d->values = xcalloc((size_t)h->n + 1, sizeof(*d->values));
	ok = parquet_values_start(&values, r->column, d, 0, d->bytes, page->n);
	while (ok && d->n < (size_t)h->n) {
		ok = parquet_values_next(&values, &d->values[d->n]);
		d->n += ok;
	}
	parquet_values_release(&values);
	return ok;
}

/* Levels that tell which cells are there; all are where nothing can be missing. */
static bool start_levels(const struct reading *r, const struct header *h, const struct page *page,
		struct runs *out, size_t *out_end)
{
	size_t at = h->type == PAGE_DATA_V2 ? (size_t)h->repetitions : 0;
	uint32_t n = (uint32_t)h->definitions;

	*out_end = at + n;
	if (!r->column->levels)
		return true;
	if (h->type == PAGE_DATA) {
		if (h->levels_encoding != LEVELS_RLE || page->n < 4)
			return false;
		memcpy(&n, page->bytes, 4);
		at = 4;
		*out_end = at + n;
	}
	if (n > page->n - at)
		return false;
	runs_start(out, page->bytes + at, n, 32 - (unsigned)__builtin_clz(r->column->levels));
	return true;
}

static const char *tell_cells(struct reading *r, const struct header *h, struct runs *levels,
		struct parquet_values *values)
{
	for (int64_t i = 0; i < h->n && !r->enough; i++) {
		struct parquet_value value;
		const char *cell = NULL;
		uint32_t level = 0;

		if (r->column->levels && !runs_next(levels, &level))
			return broken;
		if (level == r->column->levels) {
			if (!parquet_values_next(values, &value))
				return broken;
			if (parquet_text(r->column, &value, &r->text))
				cell = buf_str(&r->text);
		}
		r->enough = !r->visit(r->user, cell);
	}
	return NULL;
}

static const char *read_data(struct reading *r, const struct header *h, const struct page *page)
{
	struct parquet_values values;
	struct runs levels;
	const char *why;
	size_t at;

	if (!start_levels(r, h, page, &levels, &at) || at > page->n)
		return broken;
	if (parquet_values_start(&values, r->column, &r->dictionary, (int)h->encoding,
			    page->bytes + at, page->n - at))
		why = tell_cells(r, h, &levels, &values);
	else
		why = "its encoding is not known here, or it is broken";
	parquet_values_release(&values);
	r->values += h->n;
	return why;
}

/* --- chunks --------------------------------------------------------------------------------------- */

static bool second_version_fits(const struct header *h)
{
	return h->definitions >= 0 && h->repetitions >= 0 &&
			h->definitions + h->repetitions <= h->unpacked;
}

static const char *read_one(struct reading *r, int64_t at, const struct header *h)
{
	bool second = h->type == PAGE_DATA_V2;
	struct page page = { 0 };
	const char *why = NULL;

	if (h->type != PAGE_DATA && h->type != PAGE_DICTIONARY && !second)
		return NULL; /* an index, or what is yet to be invented */
	if (second && !second_version_fits(h))
		return broken;
	if (!read_page(r, at, h, second ? (size_t)(h->definitions + h->repetitions) : 0, &page))
		return broken;
	if (h->type != PAGE_DICTIONARY)
		why = read_data(r, h, &page);
	else if (!read_dictionary(r, h, &page))
		why = broken;
	free(page.bytes);
	return why;
}

static const char *read_chunk(struct reading *r)
{
	const struct parquet_chunk *c = r->chunk;
	int64_t at = c->at, end;
	const char *why = NULL;

	if (!codec_is_known(c->codec))
		return codec_name(c->codec) ? "its compression is not known here" : broken;
	if (c->at < 4 || c->bytes < 0 || __builtin_add_overflow(c->at, c->bytes, &end) ||
			end > r->p->bytes)
		return broken;
	while (!why && !r->enough && r->values < c->values) {
		struct header h;

		if (at >= end || !read_header(r->p, at, &h) ||
				(int64_t)h.bytes + h.packed > end - at)
			return broken;
		why = read_one(r, at + (int64_t)h.bytes, &h);
		at += (int64_t)h.bytes + h.packed;
	}
	return why;
}

const char *parquet_read_column(
		const struct parquet *p, size_t column, parquet_visit *visit, void *user)
{
	struct reading r = { .p = p,
		.column = &p->columns[column],
		.visit = visit,
		.user = user,
		.text = BUF_INIT(TEXT_BYTES_MAX) };
	const char *why = NULL;

	if (p->encrypted)
		return "it is encrypted";
	if (r.column->repeated)
		return "it is a list";
	for (size_t group = 0; group < p->n_groups && !why && !r.enough; group++) {
		r.chunk = &p->chunks[group * p->n + column];
		r.values = 0;
		why = read_chunk(&r);
		forget_dictionary(&r.dictionary);
	}
	buf_release(&r.text);
	return why;
}
