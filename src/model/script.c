/* SPDX-License-Identifier: Apache-2.0 */
#include "model/script.h"

#include "base/arena.h"
#include "base/mem.h"
#include "model/json_lines.h"

#include <stdlib.h>

struct script_action {
	const char *text;
	struct script_action *next;
};

struct script {
	struct arena arena;
	struct script_action *first, **tail;
	struct script_action **at; /* the link to the next action */
};

struct script *script_new(void)
{
	struct script *s = xcalloc(1, sizeof(*s));

	s->tail = s->at = &s->first;
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

static int script_take_line(
		void *data, const char *path, const struct pyjson *v, struct fh_error *err)
{
	const char *text;
	int r = json_lines_text(path, v, "an action", FH_ACTION_BYTES_MAX, &text, err);

	if (r < 0)
		return r;
	script_add(data, text);
	return 0;
}

int script_read(struct script *s, const char *path, struct fh_error *err)
{
	return json_lines_read(path, script_take_line, s, err);
}

int script_next(void *script, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct script *s = script;
	struct script_action *a = *s->at;

	*out = (struct model_turn){ .action = a ? a->text : "submit" };
	if (a)
		s->at = &a->next;
	return 0;
}
