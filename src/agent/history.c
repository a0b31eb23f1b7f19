/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/history.h"

#include "agent/pytext.h"
#include "base/buf.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/* --- the conversation ------------------------------------------------------------------------- */

static const char *history_copy(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

struct chat_use *history_copy_uses(struct arena *a, const struct chat_use *uses, size_t n)
{
	struct chat_use *own = arena_array(a, n + 1, sizeof(*own));

	for (size_t i = 0; i < n; i++)
		own[i] = (struct chat_use){ .id = history_copy(a, uses[i].id),
			.name = history_copy(a, uses[i].name),
			.arguments = history_copy(a, uses[i].arguments) };
	return own;
}

void history_add(struct history *h, const struct history_item *item)
{
	const struct chat_message *m = &item->message;
	struct arena *a = h->arena;

	h->items = arena_grow(a, h->items, h->n, sizeof(*h->items));
	h->items[h->n++] = (struct history_item){
		.message = { .role = m->role,
				.content = arena_strdup(a, m->content),
				.uses = m->n_uses ? history_copy_uses(a, m->uses, m->n_uses) : NULL,
				.n_uses = m->n_uses,
				.use_id = history_copy(a, m->use_id) },
		.thought = history_copy(a, item->thought),
		.action = history_copy(a, item->action),
		.is_demo = item->is_demo,
		.is_hint = item->is_hint,
	};
}

static const char *const history_roles[] = { [CHAT_SYSTEM] = "system",
	[CHAT_USER] = "user",
	[CHAT_ASSISTANT] = "assistant",
	[CHAT_TOOL] = "tool" };

const char *history_role_name(enum chat_role role)
{
	return history_roles[role];
}

enum chat_role history_role(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(history_roles); i++)
		if (str_eq(history_roles[i], name))
			return (enum chat_role)i;
	return CHAT_USER;
}

/* --- processors ------------------------------------------------------------------------------- */

/* True for an observation: a message of the user, or the result of a tool call. */
static bool history_is_observation(const struct history_item *item)
{
	return (item->message.role == CHAT_USER || item->message.role == CHAT_TOOL) &&
			!item->is_demo && !item->is_hint;
}

static void history_keep_all(const struct history *h, const struct history_args *args,
		struct arena *a, struct chat_message *out)
{
	for (size_t i = 0; i < h->n; i++)
		out[i] = h->items[i].message;
}

static void history_keep_last(const struct history *h, const struct history_args *args,
		struct arena *a, struct chat_message *out)
{
	size_t all = 0, seen = 0;

	history_keep_all(h, args, a, out);
	for (size_t i = 0; i < h->n; i++)
		all += history_is_observation(&h->items[i]);
	for (size_t i = 0; i < h->n; i++) {
		if (!history_is_observation(&h->items[i]))
			continue;
		seen++;
		if (seen > 1 && seen + (size_t)args->n <= all)
			out[i].content = arena_printf(a,
					"(%zu lines of earlier output are left out)",
					pytext_count_lines(out[i].content));
	}
}

/* PATH of the first line of a file window, "[File: PATH (N lines total)]". NULL if there is
 * none. */
static const char *history_window_path(struct arena *a, const char *text)
{
	static const char begin[] = "[File: ";
	const char *at = strstr(text, begin), *end;

	if (!at)
		return NULL;
	at += strlen(begin);
	end = strstr(at, " lines total)]");
	while (end && end > at && *end != '(')
		end--;
	return end && end > at ? pytext_strip(a, at, (size_t)(end - at)) : NULL;
}

/* The numbered lines of a file window, "12:text". */
struct history_numbered {
	const char *begin, *end;
	size_t n;
};

static struct history_numbered history_find_numbered(const char *text)
{
	struct history_numbered found = { 0 };

	for (const char *line = text; *line;) {
		const char *next = strchr(line, '\n');
		size_t digits = strspn(line, "0123456789");

		next = next ? next + 1 : line + strlen(line);
		if (digits && line[digits] == ':') {
			found.begin = found.n++ ? found.begin : line;
			found.end = next;
		}
		line = next;
	}
	return found;
}

/* Keeps the latest window of each file, and shortens earlier ones to one line. */
static void history_close_windows(const struct history *h, const struct history_args *args,
		struct arena *a, struct chat_message *out)
{
	const char **seen = arena_array(a, h->n + 1, sizeof(*seen));
	size_t n_seen = 0;

	history_keep_all(h, args, a, out);
	for (size_t i = h->n; i-- > 0;) {
		struct history_numbered lines;
		const char *path;
		size_t at = 0;

		if (!history_is_observation(&h->items[i]))
			continue;
		path = history_window_path(a, out[i].content);
		lines = history_find_numbered(out[i].content);
		if (!path || !lines.n)
			continue;
		while (at < n_seen && !str_eq(seen[at], path))
			at++;
		if (at == n_seen)
			seen[n_seen++] = path;
		else
			out[i].content = arena_printf(a,
					"%.*s(%zu lines of an older view are left out)\n%s",
					(int)(lines.begin - out[i].content), out[i].content,
					lines.n, lines.end);
	}
}

static const struct history_processor history_processors[] = {
	{ "DefaultHistoryProcessor", .process = history_keep_all },
	{ "LastNObservations", .takes_n = true, .process = history_keep_last },
	{ "Last2Observations", .process = history_keep_last, .n = 2 },
	{ "Last5Observations", .process = history_keep_last, .n = 5 },
	{ "Last100Observations", .process = history_keep_last, .n = 100 },
	{ "ClosedWindowHistoryProcessor", .process = history_close_windows },
};

const struct history_processor *history_processor_find(const char *name, struct fh_error *err)
{
	auto_buf struct buf list = BUF_INIT(1024);
	const char *names[ARRAY_SIZE(history_processors)];
	const char *closest;

	for (size_t i = 0; i < ARRAY_SIZE(history_processors); i++) {
		if (str_eq(history_processors[i].name, name))
			return &history_processors[i];
		names[i] = history_processors[i].name;
		buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	closest = str_closest(name, names, ARRAY_SIZE(names));
	if (closest)
		error_say(err, EINVAL, "no history processor '%s'; did you mean '%s'?", name,
				closest);
	else
		error_say(err, EINVAL, "no history processor '%s'; there are: %s", name,
				buf_str(&list));
	return NULL;
}

struct chat_message *history_shown(const struct history *h, const struct history_processor *p,
		const struct history_args *args, struct arena *a)
{
	struct chat_message *out = arena_array(a, h->n ? h->n : 1, sizeof(*out));
	struct history_args own = *args;

	if (!p->takes_n)
		own.n = p->n;
	p->process(h, &own, a, out);
	return out;
}
