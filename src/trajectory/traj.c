/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/traj.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "trajectory/splitter.h"

#include <stdlib.h>
#include <string.h>

/* Tables of the members of each object in a .traj, in the order of the file. Reading and writing
 * use them. */

enum need { REQUIRED, OPTIONAL };

/* Types that a member of an object may have, as bits: one for each enum pyjson_kind. */
#define TRAJ_KIND(k) (1U << (k))
#define TEXT TRAJ_KIND(PYJSON_STRING)
#define NUMBER TRAJ_KIND(PYJSON_NUMBER)
#define OBJECT TRAJ_KIND(PYJSON_OBJECT)
#define ARRAY TRAJ_KIND(PYJSON_ARRAY)
#define TRAJ_NOTHING TRAJ_KIND(PYJSON_NULL)

struct traj_member {
	const char *name;
	size_t offset; /* offset in its struct of the pointer to the member's value */
	unsigned kinds;
	enum need need;
	const char *wanted;
};

#define STEP(f) offsetof(struct traj_step, f)

static const struct traj_member step_members[] = {
	{ "state", STEP(state), TEXT, REQUIRED, "a string" },
	{ "response", STEP(response), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
	{ "thought", STEP(thought), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
	{ "action", STEP(action), TEXT, REQUIRED, "a string" },
	{ "execution_time", STEP(execution_time), NUMBER, REQUIRED, "a number" },
	{ "observation", STEP(observation), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
};

static const struct traj_member old_step_members[] = {
	{ "action", STEP(action), TEXT, REQUIRED, "a string" },
	{ "observation", STEP(observation), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
	{ "response", STEP(response), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
	{ "state", STEP(state), TEXT, REQUIRED, "a string" },
	{ "thought", STEP(thought), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
	{ "execution_time", STEP(execution_time), NUMBER, REQUIRED, "a number" },
};

#define MESSAGE(f) offsetof(struct traj_message, f)

static const struct traj_member message_members[] = {
	{ "role", MESSAGE(role), TEXT, REQUIRED, "a string" },
	{ "content", MESSAGE(content), TEXT | TRAJ_NOTHING, REQUIRED, "a string" },
	{ "thought", MESSAGE(thought), TEXT | TRAJ_NOTHING, OPTIONAL, "a string" },
	{ "action", MESSAGE(action), TEXT | TRAJ_NOTHING, OPTIONAL, "a string" },
	{ "agent", MESSAGE(agent), TEXT, OPTIONAL, "a string" },
	{ "is_demo", MESSAGE(is_demo), TRAJ_KIND(PYJSON_BOOL), OPTIONAL, "true or false" },
};

#define INFO(f) offsetof(struct traj_info, f)

static const struct traj_member info_members[] = {
	{ "model_stats", INFO(model_stats), OBJECT, OPTIONAL, "an object" },
	{ "exit_status", INFO(exit_status), TEXT | TRAJ_NOTHING, OPTIONAL, "a string" },
	{ "submission", INFO(submission), TEXT | TRAJ_NOTHING, OPTIONAL, "a string or null" },
	{ "score", INFO(score), ARRAY, OPTIONAL, "an array" },
	{ "summarizer", INFO(summarizer), OBJECT, OPTIONAL, "an object" },
};

#define ROOT(f) offsetof(struct traj_root, f)

struct traj_root {
	const struct pyjson *environment, *steps, *history, *info;
};

static const struct traj_member root_members[] = {
	{ "environment", ROOT(environment), TEXT, REQUIRED, "a string" },
	{ "trajectory", ROOT(steps), ARRAY, REQUIRED, "an array" },
	{ "history", ROOT(history), ARRAY, REQUIRED, "an array" },
	{ "info", ROOT(info), OBJECT, REQUIRED, "an object" },
};

struct traj *traj_new(void)
{
	return xcalloc(1, sizeof(struct traj));
}

void traj_free(struct traj *t)
{
	if (!t)
		return;
	arena_release(&t->arena);
	free(t);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int traj_read_members(const char *name, const struct pyjson *object,
		const struct traj_member *members, size_t n, void *base, struct fh_error *err)
{
	if (object->kind != PYJSON_OBJECT)
		return pyjson_complain(name, object, err, "expected an object");
	for (size_t i = 0; i < n; i++) {
		const struct pyjson *v = pyjson_get(object, members[i].name);

		if (!v && members[i].need == REQUIRED)
			return pyjson_complain(
					name, object, err, "'%s' is missing", members[i].name);
		if (v && !(members[i].kinds & TRAJ_KIND(v->kind)))
			return pyjson_complain(name, v, err, "'%s' should be %s", members[i].name,
					members[i].wanted);
		*(const struct pyjson **)((char *)base + members[i].offset) = v;
	}
	return 0;
}

/* Reads a JSON array of objects in a .traj as an array of structs. `size` is the size of a
 * struct. */
static int traj_read_list(struct arena *a, const char *name, const struct pyjson *list,
		const struct traj_member *members, size_t n, size_t size, void **out,
		struct fh_error *err)
{
	char *items = arena_array(a, list->n, size);
	size_t i = 0;

	*out = items;
	for (const struct pyjson *v = list->first; v; v = v->next) {
		int r = traj_read_members(name, v, members, n, items + size * i++, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int traj_read_root(
		const char *name, const struct pyjson *root, struct traj *t, struct fh_error *err)
{
	struct traj_root parts = { 0 };
	const struct pyjson *first;
	void *items = NULL;
	int r = traj_read_members(name, root, root_members, ARRAY_SIZE(root_members), &parts, err);

	/* A missing member makes r negative, because steps, history and info are REQUIRED. */
	if (r < 0 || !parts.steps || !parts.history || !parts.info)
		return r;
	t->environment = parts.environment;
	r = traj_read_list(&t->arena, name, parts.steps, step_members, ARRAY_SIZE(step_members),
			sizeof(*t->steps), &items, err);
	if (r < 0)
		return r;
	t->steps = items;
	t->n_steps = parts.steps->n;
	first = parts.steps->first;
	t->old_order = first && strcmp(first->first->key, "action") == 0;
	r = traj_read_list(&t->arena, name, parts.history, message_members,
			ARRAY_SIZE(message_members), sizeof(*t->history), &items, err);
	if (r < 0)
		return r;
	t->history = items;
	t->n_history = parts.history->n;
	return traj_read_members(
			name, parts.info, info_members, ARRAY_SIZE(info_members), &t->info, err);
}

int traj_parse(const char *name, const char *data, size_t n, struct traj **out,
		struct fh_error *err)
{
	auto_traj struct traj *t = traj_new();
	struct pyjson_source source = { .name = name, .data = data, .n = n };
	const struct pyjson *root;
	int r;

	r = pyjson_read(&t->arena, &source, &root, err);
	if (r < 0)
		return r;
	r = traj_read_root(name, root, t, err);
	if (r < 0)
		return r;
	*out = take_ptr(t);
	return 0;
}

int traj_read(const char *path, struct traj **out, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(TRAJ_BYTES_MAX);
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	return traj_parse(path, buf_str(&text), text.len, out, err);
}

/* --- reading a damaged file ------------------------------------------------------------------- */

struct traj_salvaging {
	struct traj *traj;
	const char *data;
};

/* Takes a step or the info, and leaves it empty if it can't be read. */
static void traj_salvage_part(void *user, enum record_part part, int64_t begin, int64_t end)
{
	struct traj_salvaging *q = user;
	struct traj *t = q->traj;
	struct pyjson_source source = {
		.name = "", .data = q->data + begin, .n = (size_t)(end - begin)
	};
	const struct pyjson *v;
	struct traj_step step = { 0 };
	struct traj_info info = { 0 };
	bool broken;

	if (part != PART_STEP && part != PART_INFO)
		return;
	broken = pyjson_read(&t->arena, &source, &v, NULL) < 0;
	if (part == PART_INFO) {
		if (!broken &&
				traj_read_members("", v, info_members, ARRAY_SIZE(info_members),
						&info, NULL) == 0)
			t->info = info;
		return;
	}
	if (!broken &&
			traj_read_members("", v, step_members, ARRAY_SIZE(step_members), &step,
					NULL) < 0)
		step = (struct traj_step){ 0 };
	t->steps = arena_grow(&t->arena, t->steps, t->n_steps, sizeof(*t->steps));
	t->steps[t->n_steps++] = step;
}

void traj_salvage(const char *data, size_t n, struct traj **out)
{
	struct traj_salvaging q = { .traj = traj_new(), .data = data };
	struct splitter splitter;

	splitter_init(&splitter, false);
	splitter_bytes(&splitter, data, n, traj_salvage_part, &q);
	*out = q.traj;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void traj_write_members(struct pyjson_writer *w, const char *key,
		const struct traj_member *members, size_t n, const void *base)
{
	pyjson_put_object(w, key);
	for (size_t i = 0; i < n; i++) {
		const struct pyjson *const *v = (const struct pyjson *const *)((const char *)base +
				members[i].offset);

		if (*v)
			pyjson_put_value(w, members[i].name, *v);
	}
	pyjson_end_object(w);
}

void traj_write(struct buf *out, const struct traj *t)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_INDENTED);
	const struct traj_member *members = t->old_order ? old_step_members : step_members;

	pyjson_put_object(&w, NULL);
	pyjson_put_value(&w, "environment", t->environment);
	pyjson_put_array(&w, "trajectory");
	for (size_t i = 0; i < t->n_steps; i++)
		traj_write_members(&w, NULL, members, ARRAY_SIZE(step_members), &t->steps[i]);
	pyjson_end_array(&w);
	pyjson_put_array(&w, "history");
	for (size_t i = 0; i < t->n_history; i++)
		traj_write_members(&w, NULL, message_members, ARRAY_SIZE(message_members),
				&t->history[i]);
	pyjson_end_array(&w);
	traj_write_members(&w, "info", info_members, ARRAY_SIZE(info_members), &t->info);
	pyjson_end_object(&w);
}

void traj_write_results(struct buf *out, const struct traj *t, const struct traj_results *results)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_INDENTED);

	pyjson_put_object(&w, NULL);
	pyjson_put_value(&w, "agent", t->info.score);
	pyjson_put_value(&w, "baseline", results->baseline);
	if (results->final)
		pyjson_put_value(&w, "final", results->final);
	if (results->policy_step)
		pyjson_put_value(&w, "policy_step", results->policy_step);
	if (results->numbers)
		pyjson_put_value(&w, "numbers", results->numbers);
	pyjson_end_object(&w);
}
