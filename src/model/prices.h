/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_PRICES_H
#define MODEL_PRICES_H

#include "base/error.h"

#include <stdint.h>

/*
 * Prices of language models, from models/prices.json and from a user's table. If both have a model,
 * the user's price counts.
 */
struct prices;

/* Price of a model, in US dollars for a million tokens. */
struct price {
	double input, output;
	/* price of a million tokens read from the provider's cache; negative: as `input` */
	double cached_input;
	/* price of a million tokens written into the cache; negative: as `input` */
	double cache_write;
	int64_t context; /* size of the model's context in tokens; 0: unknown */
};

/* Loads the price tables. `path` is the user's table, or NULL. -EINVAL with "FILE:LINE:COLUMN:
 * ...", or an error of reading a file. */
int prices_open(const char *path, struct prices **out, struct fh_error *err);
void prices_close(struct prices *p); /* NULL is fine */

/* Finds a model's price; NULL if unknown. Tries "vendor/name", then "name", then both without a
 * date or "-latest" at the end. After that, it tries the part after the last "/" in the same
 * way. */
const struct price *prices_find(const struct prices *p, const char *vendor, const char *name);

/* Returns the cost of a reply in US dollars, from its tokens. `sent` includes the tokens read from
 * (`cached`) and written into (`stored`) the cache. */
double price_of(const struct price *price, int64_t sent, int64_t cached, int64_t stored,
		int64_t received);

#endif
