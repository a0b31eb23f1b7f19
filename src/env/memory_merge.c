/* SPDX-License-Identifier: Apache-2.0 */
#include "env/memory.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>

/*
 * Notes are lists side by side: note i has the text texts[i], the tag tags[i], and so on. All of it is an agent's
 * word; what is not so is kept as it is or not at all.
 */
#define TEXTS "texts"
#define TAGS "tags"

/* As memory_write takes it; an empty file is one in which nothing is noted. */
static int read_memory(const struct buf *text, const char *what, json_t **out, struct fh_error *err)
{
	static const char *const lists[] = { TEXTS, TAGS };
	auto_json json_t *memory = NULL;

	if (text->len && json_parse(what, text->data, text->len, &memory, err) < 0)
		return -EINVAL;
	if (!memory)
		memory = json_object();
	if (!json_is_object(memory))
		return error_say(err, EINVAL, "%s is no JSON object", what);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list = json_object_get(memory, lists[i]);

		if (list && !json_is_array(list))
			return error_say(err, EINVAL, "'%s' of %s is no list", lists[i], what);
	}
	*out = take_ptr(memory);
	return 0;
}

static const char *text_at(const json_t *memory, const char *key, size_t i)
{
	const char *text = json_string_value(json_array_get(json_object_get(memory, key), i));

	return text ? text : "";
}

static char *note_at(const json_t *memory, size_t i)
{
	return xasprintf("%s\n%s", text_at(memory, TAGS, i), text_at(memory, TEXTS, i));
}

static size_t count(const json_t *memory)
{
	return json_array_size(json_object_get(memory, TEXTS));
}

/* Lists that are shorter than there are notes get nulls first, so that all stay side by side. */
static void add_note(json_t *memory, size_t n, const json_t *from, size_t i)
{
	const char *key;
	json_t *list;

	json_object_foreach((json_t *)(uintptr_t)from, key, list) {
		json_t *own = json_object_get(memory, key);

		if (!json_is_array(list) || json_array_size(list) <= i)
			continue;
		if (!own) {
			own = json_array();
			json_object_set_new(memory, key, own);
		}
		if (!json_is_array(own) || json_array_size(own) > n)
			continue;
		while (json_array_size(own) < n)
			json_array_append_new(own, json_null());
		json_array_append(own, json_array_get(list, i));
	}
}

static void add_notes(json_t *memory, const json_t *from)
{
	auto_json json_t *there = json_object();
	size_t n = count(memory);

	for (size_t i = 0; i < n; i++) {
		auto_free char *note = note_at(memory, i);

		json_object_set_new(there, note, json_true());
	}
	for (size_t i = 0; i < count(from); i++) {
		auto_free char *note = note_at(from, i);

		if (!json_object_get(there, note))
			add_note(memory, n++, from, i);
	}
}

int memory_merge(const struct memory_change *c, struct buf *out, struct fh_error *err)
{
	auto_json json_t *ours = NULL, *now = NULL;
	int r = read_memory(c->ours, "the agent's memory", &ours, err);

	if (r < 0)
		return r;
	if (buf_equal(c->now, c->began)) {
		buf_add(out, buf_str(c->ours), c->ours->len);
		return 0;
	}
	r = read_memory(c->now, "the memory that is there", &now, err);
	if (r < 0)
		return r;
	add_notes(now, ours);
	json_add(out, now, true);
	return 0;
}
