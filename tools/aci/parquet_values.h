/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_PARQUET_VALUES_H
#define ACI_PARQUET_VALUES_H

#include "parquet.h"
#include "runs.h"

/* Which of them is set is told by the column's type; bytes live until the next value, or as long as their page. */
struct parquet_value {
	int64_t i;
	double d;
	const unsigned char *bytes;
	size_t n;
};

/* What other pages of a chunk count the values of. */
struct parquet_dictionary {
	unsigned char *bytes; /* its own; the values point into them */
	struct parquet_value *values;
	size_t n;
};

/* The values of a page, one after another, in any of the format's encodings. */
struct parquet_values {
	const struct parquet_column *column;
	const struct parquet_dictionary *dictionary;
	bool (*next)(struct parquet_values *v, struct parquet_value *out);
	const unsigned char *at, *end;
	size_t i, n; /* of bits, or of streams */
	struct runs runs;
	struct deltas deltas, suffixes;
	struct buf text; /* the value before, which the next may begin with */
	unsigned char scratch[16];
};

/* `at` and the dictionary outlive it. False: an encoding that is not known, or does not fit the type. */
bool parquet_values_start(struct parquet_values *v, const struct parquet_column *column,
		const struct parquet_dictionary *dictionary, int encoding, const unsigned char *at,
		size_t n);
void parquet_values_release(struct parquet_values *v);

/* False when there are no more, or they are broken. */
bool parquet_values_next(struct parquet_values *v, struct parquet_value *out);

/* parquet_text.c: what a value is as the cell of a table; false for one that is no number. */
bool parquet_text(const struct parquet_column *c, const struct parquet_value *v, struct buf *out);

#endif
