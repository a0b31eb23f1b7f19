/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

#define BLOCK_MAX (1 << 20)
#define MINIS_MAX 1024

/* The lowest bits first. Whoever calls knows that they are there. */
static uint64_t read_bits(const unsigned char *at, size_t bit, unsigned width)
{
	uint64_t v = 0;

	for (unsigned got = 0; got < width;) {
		unsigned from = (unsigned)((bit + got) % 8), take = 8 - from;

		if (take > width - got)
			take = width - got;
		v |= (uint64_t)(at[(bit + got) / 8] >> from & ((1U << take) - 1)) << got;
		got += take;
	}
	return v;
}

/* n bytes that are there, or NULL. */
static const unsigned char *take(struct thrift *r, uint64_t n)
{
	const unsigned char *at = r->at;

	if (r->broken || n > (uint64_t)(r->end - r->at)) {
		r->broken = true;
		return NULL;
	}
	r->at += n;
	return at;
}

void runs_start(struct runs *runs, const unsigned char *at, size_t n, unsigned width)
{
	*runs = (struct runs){ .r = { at, at + n, false }, .width = width };
}

static bool next_run(struct runs *runs)
{
	uint64_t head = thrift_varint(&runs->r);
	const unsigned char *at;

	if (head >> 1 > UINT32_MAX) /* nothing has so many */
		return false;
	runs->packed = NULL;
	if (head & 1) {
		runs->left = (head >> 1) * 8;
		runs->bit = 0;
		runs->packed = take(&runs->r, (head >> 1) * runs->width);
		return runs->packed != NULL;
	}
	runs->left = head >> 1;
	at = take(&runs->r, (runs->width + 7) / 8);
	if (at)
		runs->value = (uint32_t)read_bits(at, 0, runs->width);
	return at != NULL;
}

bool runs_next(struct runs *runs, uint32_t *out)
{
	while (!runs->left)
		if (!next_run(runs))
			return false;
	runs->left--;
	*out = runs->value;
	if (!runs->packed)
		return true;
	*out = (uint32_t)read_bits(runs->packed, runs->bit, runs->width);
	runs->bit += runs->width;
	return true;
}

bool deltas_start(struct deltas *d, const unsigned char *at, size_t n)
{
	uint64_t block;

	*d = (struct deltas){ .r = { at, at + n, false } };
	block = thrift_varint(&d->r);
	d->n_minis = thrift_varint(&d->r);
	d->left = thrift_varint(&d->r);
	d->last = (uint64_t)thrift_zigzag(&d->r);
	d->mini = d->n_minis;
	if (d->r.broken || !d->n_minis || d->n_minis > MINIS_MAX || block > BLOCK_MAX)
		return false;
	d->of_mini = block / d->n_minis;
	return d->of_mini && d->of_mini % 8 == 0 && d->of_mini * d->n_minis == block;
}

static bool next_mini(struct deltas *d)
{
	if (d->mini == d->n_minis) {
		d->step = (uint64_t)thrift_zigzag(&d->r);
		d->widths = take(&d->r, d->n_minis);
		d->mini = 0;
	}
	if (d->r.broken || d->widths[d->mini] > 64)
		return false;
	d->width = d->widths[d->mini++];
	d->packed = take(&d->r, d->of_mini / 8 * d->width);
	d->mini_left = d->of_mini;
	d->bit = 0;
	return d->packed != NULL;
}

bool deltas_next(struct deltas *d, int64_t *out)
{
	if (!d->left)
		return false;
	if (d->begun) {
		if (!d->mini_left && !next_mini(d))
			return false;
		d->mini_left--;
		d->last += d->step + read_bits(d->packed, d->bit, d->width);
		d->bit += d->width;
	}
	d->begun = true;
	d->left--;
	*out = (int64_t)d->last;
	return true;
}

bool deltas_skip(struct deltas *d)
{
	d->left -= d->left && !d->begun;
	for (d->begun = true; d->left; d->left -= d->mini_left < d->left ? d->mini_left : d->left)
		if (!next_mini(d))
			return false;
	return true;
}
