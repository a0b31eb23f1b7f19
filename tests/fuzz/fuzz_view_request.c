/* SPDX-License-Identifier: Apache-2.0 */
#include "base/http_phrase.h"
#include "view/admit.h"
#include "view/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the reader of the viewer's requests. The first byte says whether orders are taken, and the
 * rest is a head. The token is "token".
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void check_query(const char *query)
{
	const struct page_request q = { .query = query };
	const struct page page = { .request = &q };
	char value[PAGE_VALUE_BYTES];
	const char *text = page_argument(&page, "text=", value);
	int64_t number = -1;

	check(!text || (*query && strlen(text) < PAGE_VALUE_BYTES));
	check(!page_number(&page, "step=", &number) || number >= 0);
}

static void check_head(char *head, size_t n, bool takes_orders)
{
	const struct guard guard = { .token = "token" };
	struct admitted a = admit(head, n, &guard, takes_orders);

	check((a.status == 200) == (a.path != NULL) && !str_eq(http_phrase(a.status), "Unknown"));
	if (!a.path) {
		check(*admit_reason(a.status));
		return;
	}
	check(a.is_order ? takes_orders && a.n_body && a.n_body <= ADMIT_BODY_BYTES_MAX
			 : !a.n_body);
	check(a.path > head && a.path + strlen(a.path) < head + n);
	check(!*a.query || (a.query > a.path && a.query + strlen(a.query) < head + n));
	check_query(a.query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *head, *end;

	if (n < 2 || n > ADMIT_HEAD_BYTES_MAX)
		return 0;
	/* The reader gets a NUL behind the bytes, as a buffer has. */
	head = calloc(1, n);
	memcpy(head, data + 1, n - 1);
	end = memmem(head, n - 1, "\r\n\r\n", 4);
	if (end)
		check_head(head, (size_t)(end + 4 - head), *data & 1);
	else
		check(admit_partial(head, n - 1) >= 0);
	free(head);
	return 0;
}
