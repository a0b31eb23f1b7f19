/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/inbox.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX 64
#define INBOX_BYTES_MAX (8L << 20)

void inbox_add(struct inbox *box, const char *text, size_t n, char *call_id)
{
	struct inbox_message *m = xcalloc(1, sizeof(*m) + n + 1);

	m->n = n;
	m->call_id = call_id;
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

void inbox_message_free(struct inbox_message *m)
{
	free(m->call_id);
	free(m);
}

void inbox_drop(struct inbox *box, const char *call_id)
{
	struct inbox_message **at = &box->first, *m;

	while ((m = *at)) {
		if (!str_eq(m->call_id, call_id)) {
			box->last = m;
			at = &m->next;
			continue;
		}
		*at = m->next;
		box->n--;
		box->bytes -= m->n;
		inbox_message_free(m);
	}
}

bool inbox_is_full(const struct inbox *box)
{
	return box->n >= MESSAGES_MAX || box->bytes >= INBOX_BYTES_MAX;
}

void inbox_release(struct inbox *box)
{
	struct inbox_message *m;

	while ((m = inbox_take(box)))
		inbox_message_free(m);
}
