/* SPDX-License-Identifier: Apache-2.0 */
#include "model/backend.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct model {
	const struct model_backend *backend;
	void *state;
	char *label;
};

static const struct model_backend *const model_backends[] = {
	&model_baseline,
	&model_solution,
	&model_demo,
	&model_actions,
	/* List this kind before model_replay: both are called "replay", and the first that fits is
	 * taken. */
	&model_responses,
	&model_replay,
	&model_human,
	&model_human_thought,
};

static const char *const model_kinds[] = { "baseline", "solution", "demo",
	"actions:", "replay:", "human", "human_thought", "openai:", "anthropic:", "litellm:" };

const char *model_kind(size_t i)
{
	return i < ARRAY_SIZE(model_kinds) ? model_kinds[i] : NULL;
}

static const struct model_backend *model_find(const char *spec)
{
	size_t n = strcspn(spec, ":");

	for (size_t i = 0; i < ARRAY_SIZE(model_backends); i++) {
		const struct model_backend *b = model_backends[i];

		if (strncmp(b->name, spec, n) == 0 && !b->name[n] &&
				(!b->suffix || str_ends(spec, b->suffix)))
			return b;
	}
	return NULL;
}

bool model_speaks(const char *spec)
{
	const struct model_backend *backend = model_find(spec);

	return backend && backend->speaks;
}

const char *model_path(const char *spec)
{
	const struct model_backend *backend = model_find(spec);
	const char *colon = strchr(spec, ':');

	return backend && backend->takes_argument && colon ? colon + 1 : NULL;
}

const char *model_resolve(struct arena *a, const char *spec)
{
	const char *path = spec ? model_path(spec) : NULL;
	auto_free char *real = path ? realpath(path, NULL) : NULL;

	return real ? arena_printf(a, "%.*s%s", (int)(path - spec), spec, real) : spec;
}

static int model_say_unknown(const char *spec, struct fh_error *err)
{
	size_t n = strcspn(spec, ":");
	const char *argument = spec[n] ? spec + n + 1 : "", *close;
	auto_free char *typed = xstrndup(spec, n + (spec[n] != '\0'));

	close = str_closest(typed, model_kinds, ARRAY_SIZE(model_kinds));
	if (!close)
		return error_say(err, EINVAL,
				"no model '%s'; there are: baseline, solution, demo, actions:FILE, replay:FILE.traj "
				"or FILE.jsonl, human, human_thought, and the language models openai:NAME, "
				"anthropic:NAME, litellm:NAME",
				spec);
	return error_say(err, EINVAL, "no model '%s'; did you mean '%s%s'?", spec, close,
			str_ends(close, ":") && !*argument ? "NAME" : argument);
}

int model_open(const struct model_request *request, struct model **out, struct fh_error *err)
{
	const char *spec = request->spec;
	size_t n = strcspn(spec, ":");
	const struct model_backend *backend = model_find(spec);
	const char *argument = spec[n] ? spec + n + 1 : "", *file;
	struct model *m;
	void *state;
	int r;

	if (!backend)
		return model_say_unknown(spec, err);
	if (spec[n] && !backend->takes_argument)
		return error_say(err, EINVAL, "the model '%s' takes nothing after ':'",
				backend->name);
	r = backend->open(request, argument, &state, err);
	if (r < 0)
		return r;
	m = xcalloc(1, sizeof(*m));
	m->backend = backend;
	m->state = state;
	/* Make the model's name for folders: "actions-games" from "actions:dir/games.jsonl". */
	file = path_basename(argument);
	n = strcspn(file, ".");
	m->label = *argument && n ? xasprintf("%s-%.*s", backend->name, (int)n, file)
				  : xstrdup(backend->name);
	*out = m;
	return 0;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	m->backend->close(m->state);
	free(m->label);
	free(m);
}

const char *model_label(const struct model *m)
{
	return m->label;
}

bool model_is_interactive(const struct model *m)
{
	return m->backend->interactive;
}

void model_interrupted(struct model *m)
{
	if (m->backend->interrupted)
		m->backend->interrupted(m->state);
}

void model_watch(struct model *m, const struct buf *lines)
{
	if (m->backend->watch)
		m->backend->watch(m->state, lines);
}

int model_next(struct model *m, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	return m->backend->next(m->state, step, out, err);
}
