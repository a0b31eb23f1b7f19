/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_RUNS_H
#define ACI_RUNS_H

#include "thrift.h"

/*
 * How Parquet packs small integers (https://github.com/apache/parquet-format/blob/master/Encodings.md): runs of equal
 * ones mixed with groups of a fixed number of bits, and differences in blocks.
 */

/* RLE/bit-packing hybrid. There is always one more, until the bytes are used up. */
struct runs {
	struct thrift r;
	unsigned width;              /* bits of each, 32 at most */
	uint64_t left;               /* of this run */
	const unsigned char *packed; /* NULL: a run of `value` */
	size_t bit;
	uint32_t value;
};

void runs_start(struct runs *runs, const unsigned char *at, size_t n, unsigned width);
bool runs_next(struct runs *runs, uint32_t *out);

/* DELTA_BINARY_PACKED. */
struct deltas {
	struct thrift r; /* r.at is where they end, once all were read or passed over */
	uint64_t left;   /* of all */
	uint64_t last, step;
	size_t of_mini, n_minis, mini, mini_left, bit;
	unsigned width;
	const unsigned char *widths, *packed;
	bool begun;
};

bool deltas_start(struct deltas *d, const unsigned char *at, size_t n);
bool deltas_next(struct deltas *d, int64_t *out);

/* Passes over all of them, from the beginning. */
bool deltas_skip(struct deltas *d);

#endif
