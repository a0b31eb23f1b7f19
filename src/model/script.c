/* SPDX-License-Identifier: Apache-2.0 */
#include "model/script.h"

#include "base/arena.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/pyjson.h"

#include <stdlib.h>
#include <string.h>

struct script_action {
	const char *text;
	struct script_action *next;
};

struct script {
	struct arena arena;
	struct script_action *first, **tail;
	const struct script_action *at; /* the next one */
	bool begun;
};

struct script *script_new(void)
{
	struct script *s = xcalloc(1, sizeof(*s));

	s->tail = &s->first;
	return s;
}

void script_free(void *script)
{
	struct script *s = script;

	if (!s)
		return;
	arena_release(&s->arena);
	free(s);
}

void script_add(struct script *s, const char *action)
{
	struct script_action *a = arena_alloc(&s->arena, sizeof(*a));

	a->text = arena_strdup(&s->arena, action);
	*s->tail = a;
	s->tail = &a->next;
}

static bool is_blank(const char *line, size_t n)
{
	return strspn(line, " \t\r\n") >= n;
}

static int read_line(struct script *s, const struct pyjson_source *line, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct pyjson *v;
	int r;

	r = pyjson_read(&arena, line, &v, err);
	if (r < 0)
		return r;
	if (v->kind != PYJSON_STRING)
		return pyjson_complain(line->name, v, err,
				"expected an action: a string in double quotes");
	if (!pyjson_string(v))
		return pyjson_complain(line->name, v, err, "an action can't hold a NUL");
	if (str_utf8_invalid(v->text, v->len) >= 0)
		return pyjson_complain(line->name, v, err, "half of a surrogate pair");
	if (v->len > FH_ACTION_BYTES_MAX)
		return pyjson_complain(line->name, v, err, "an action is longer than %d bytes",
				FH_ACTION_BYTES_MAX);
	script_add(s, v->text);
	return 0;
}

int script_read(struct script *s, const char *path, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(SCRIPT_BYTES_MAX);
	const char *at, *end;
	unsigned number = 1;
	int r;

	r = fd_read_file(path, &text, err);
	if (r < 0)
		return r;
	at = buf_str(&text);
	end = at + text.len;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct pyjson_source line = { .name = path, .data = at, .first_line = number++ };

		line.n = (size_t)((stop ? stop : end) - at);
		if (!is_blank(at, line.n)) {
			r = read_line(s, &line, err);
			if (r < 0)
				return r;
		}
		at = stop ? stop + 1 : end;
	}
	return 0;
}

int script_next(void *script, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct script *s = script;

	if (!s->begun) {
		s->begun = true;
		s->at = s->first;
	}
	*out = (struct model_turn){ .action = s->at ? s->at->text : "submit" };
	if (s->at)
		s->at = s->at->next;
	return 0;
}
