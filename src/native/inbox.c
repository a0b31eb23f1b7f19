/* SPDX-License-Identifier: Apache-2.0 */
#include "native/inbox.h"

#include "base/mem.h"
#include "native/control.h"
#include "native/porter.h"

#include <poll.h>
#include <string.h>

/* most events of a sandbox to keep in the queue while the caller waits for an answer of its
 * porter */
#define INBOX_QUEUE_MAX 256

void inbox_next_event(struct sandbox *base, struct sandbox_event *out)
{
	struct native_sandbox *sb = native_of(base);

	if (sb->n_queue) {
		*out = sb->queue[0];
		memmove(sb->queue, sb->queue + 1, --sb->n_queue * sizeof(*sb->queue));
		return;
	}
	control_receive(sb, out);
	if (out->kind == SANDBOX_NONE && !sb->held && !porter_next_event(sb, out))
		control_set_gone(sb, out);
}

bool inbox_has_event(const struct native_sandbox *sb)
{
	return sb->n_queue > 0 || (sb->more && !sb->held);
}

void inbox_waits(const struct sandbox *base, struct waits *w)
{
	const struct native_sandbox *sb = native_view(base);

	waits_add(w, sb->control, POLLIN);
	if (!sb->porter_ended && !sb->held)
		waits_add(w, sb->porter, POLLIN);
	waits_until(w, inbox_has_event(sb) ? 0 : sb->held ? INT64_MAX : porter_hangs_at(sb));
}

static bool inbox_put_in_queue(struct native_sandbox *sb, const struct sandbox_event *event)
{
	if (sb->n_queue == INBOX_QUEUE_MAX) /* an unchanged guest does not send so many events */
		return false;
	sb->queue = xrealloc(sb->queue, sb->n_queue + 1, sizeof(*sb->queue));
	sb->queue[sb->n_queue++] = *event;
	return true;
}

bool inbox_answered(struct sandbox *base, uint32_t id)
{
	struct native_sandbox *sb = native_of(base);
	struct sandbox_event event = { .kind = SANDBOX_DONE };

	while (!sb->gone && event.kind != SANDBOX_NONE) {
		size_t n_queue = sb->n_queue;

		if (porter_has_answer(sb, id))
			return true;
		/* Hide the queued events, so that inbox_next_event() reads a new one from the
		 * sockets. */
		sb->n_queue = 0;
		inbox_next_event(base, &event);
		sb->n_queue = n_queue;
		if (event.kind != SANDBOX_NONE && event.kind != SANDBOX_DONE &&
				event.kind != SANDBOX_GONE && !inbox_put_in_queue(sb, &event))
			sb->gone = true;
	}
	return sb->gone;
}

void inbox_answer_waits(const struct sandbox *base, struct waits *w)
{
	const struct native_sandbox *sb = native_view(base);

	waits_add(w, sb->control, POLLIN);
	if (!sb->porter_ended)
		waits_add(w, sb->porter, POLLIN);
	waits_until(w, sb->more ? 0 : porter_hangs_at(sb));
}
