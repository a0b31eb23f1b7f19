/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_PRICES_H
#define MODEL_PRICES_H

#include "base/error.h"

#include <stdint.h>

/* What models cost: a table that comes with the program (models/prices.json), and a user's over it. */
struct prices;

/* US dollars for a million tokens. */
struct price {
	double input, output;
	double cached_input; /* read from the provider's cache; negative: as input */
	double cache_write;  /* written into it; negative: as input */
	int64_t context;     /* tokens that a conversation may have; 0: not known */
};

/* `path`: a user's table; NULL: none. -EINVAL with "FILE:LINE:COLUMN: ...", or it can't be read. */
int prices_open(const char *path, struct prices **out, struct fh_error *err);
void prices_close(struct prices *p); /* NULL is fine */

/*
 * The price of a model of a vendor: by "vendor/name", by "name", by both without a date or "-latest" at
 * the end, then by what follows the last "/". NULL if it is in neither table.
 */
const struct price *prices_find(const struct prices *p, const char *vendor, const char *name);

double price_of(const struct price *price, int64_t sent, int64_t cached, int64_t stored,
		int64_t received);

#endif
