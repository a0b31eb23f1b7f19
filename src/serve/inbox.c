/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/inbox.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX 64
#define INBOX_BYTES_MAX (8L << 20)

void inbox_add(struct inbox *box, const char *text, size_t n)
{
	struct inbox_message *m = xcalloc(1, sizeof(*m) + n + 1);

	m->n = n;
	memcpy(m->text, text, n);
	if (box->first)
		box->last->next = m;
	else
		box->first = m;
	box->last = m;
	box->n++;
	box->bytes += n;
}

struct inbox_message *inbox_take(struct inbox *box)
{
	struct inbox_message *m = box->first;

	if (!m)
		return NULL;
	box->first = m->next;
	box->n--;
	box->bytes -= m->n;
	return m;
}

bool inbox_is_full(const struct inbox *box)
{
	return box->n >= MESSAGES_MAX || box->bytes >= INBOX_BYTES_MAX;
}

void inbox_release(struct inbox *box)
{
	struct inbox_message *m;

	while ((m = inbox_take(box)))
		free(m);
}
