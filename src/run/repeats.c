/* SPDX-License-Identifier: Apache-2.0 */
#include "run/repeats.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct item {
	const char *text;
	size_t at;
};

static int repeats_compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

bool repeats_find(const char *const *texts, size_t n, size_t *out_at)
{
	auto_free struct item *items = xcalloc(n + 1, sizeof(*items));

	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){ texts[i], i };
	qsort(items, n, sizeof(*items), repeats_compare);
	for (size_t i = 1; i < n; i++) {
		if (!str_eq(items[i].text, items[i - 1].text))
			continue;
		*out_at = items[i].at;
		return true;
	}
	return false;
}
