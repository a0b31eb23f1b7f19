/* SPDX-License-Identifier: Apache-2.0 */
#include "env/memory_merge.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>

/*
 * A memory's notes are parallel lists: note i has the text texts[i], the tag tags[i], and so on.
 * Memories are untrusted. The numbers of members and values are limited, because parsed JSON takes
 * many times the memory of its text. A memory of GUEST_MEMORY_BYTES_MAX with embeddings stays below
 * both limits.
 */

#define TEXTS "texts"
#define TAGS "tags"
#define MEMBERS_MAX 16
#define MERGE_VALUES_MAX (1 << 18)

static int merge_no_memory(struct fh_error *err)
{
	return error_say(err, ENOMEM, "out of memory while reading it");
}

/* --- checks ----------------------------------------------------------------------------------- */

/*
 * Limits the number of values in a memory's JSON. Counts them before parsing: each value but the
 * first follows a comma or an opening bracket.
 */
static int merge_check_values(const struct buf *text, const char *what, struct fh_error *err)
{
	bool in_string = false;
	size_t n = 1;

	for (size_t i = 0; i < text->len; i++) {
		char c = text->data[i];

		if (c == '"')
			in_string = !in_string;
		else if (in_string && c == '\\')
			i++;
		else if (!in_string && (c == ',' || c == '[' || c == '{'))
			n++;
	}
	if (n > MERGE_VALUES_MAX)
		return error_say(err, EINVAL, "%s has more than %d values", what, MERGE_VALUES_MAX);
	return 0;
}

static int merge_check_members(const json_t *memory, const char *what, struct fh_error *err)
{
	if (json_object_size(memory) > MEMBERS_MAX)
		return error_say(err, EINVAL, "%s has more than %d members", what, MEMBERS_MAX);
	return 0;
}

/*
 * Parses a memory. Accepts all that the tool memory_write accepts. An empty text is a memory
 * without notes.
 */
static int merge_parse(const struct buf *text, const char *what, json_t **out, struct fh_error *err)
{
	static const char *const lists[] = { TEXTS, TAGS };
	auto_json json_t *memory = NULL;
	int r = merge_check_values(text, what, err);

	if (r < 0)
		return r;
	if (text->len && json_parse(what, text->data, text->len, &memory, err) < 0)
		return -EINVAL;
	if (!memory)
		memory = json_object();
	if (!memory)
		return merge_no_memory(err);
	if (!json_is_object(memory))
		return error_say(err, EINVAL, "%s is not a JSON object", what);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list = json_object_get(memory, lists[i]);

		if (list && !json_is_array(list))
			return error_say(err, EINVAL, "'%s' of %s is not a list", lists[i], what);
	}
	r = merge_check_members(memory, what, err);
	if (r < 0)
		return r;
	*out = take_ptr(memory);
	return 0;
}

int memory_check(const struct buf *text, const char *what, struct fh_error *err)
{
	auto_json json_t *memory = NULL;

	return merge_parse(text, what, &memory, err);
}

/* --- notes ------------------------------------------------------------------------------------ */

static const char *merge_text_at(const json_t *memory, const char *key, size_t i)
{
	const char *text = json_string_value(json_array_get(json_object_get(memory, key), i));

	return text ? text : "";
}

static char *merge_note_at(const json_t *memory, size_t i)
{
	return xasprintf("%s\n%s", merge_text_at(memory, TAGS, i), merge_text_at(memory, TEXTS, i));
}

static size_t merge_count(const json_t *memory)
{
	return json_array_size(json_object_get(memory, TEXTS));
}

/* Writes the indexes of notes in `from` that `memory` lacks to `new`. -1: out of memory. */
static int merge_find_new(const json_t *memory, const json_t *from, size_t *new, size_t *out_n)
{
	auto_json json_t *there = json_object();
	size_t n = 0;

	for (size_t i = 0; i < merge_count(memory); i++) {
		auto_free char *note = merge_note_at(memory, i);

		if (json_object_set_new(there, note, json_true()) < 0)
			return -1;
	}
	for (size_t i = 0; i < merge_count(from); i++) {
		auto_free char *note = merge_note_at(from, i);

		if (!json_object_get(there, note))
			new[n++] = i;
	}
	*out_n = n;
	return 0;
}

struct new_notes {
	size_t n_before; /* number of notes in the memory before the new notes are added */
	const size_t *indexes;
	size_t n;
};

/*
 * Appends the new notes' values to a list of the memory. Adds nulls to a short list first, so that
 * a note's values have the same index in all lists.
 */
static int merge_add_list(
		json_t *memory, const char *key, const json_t *list, const struct new_notes *notes)
{
	size_t size = json_array_size(list); /* 0 if `list` is not an array */
	json_t *own = json_object_get(memory, key);

	if (!notes->n || notes->indexes[0] >= size || (own && !json_is_array(own)))
		return 0;
	if (!own) {
		own = json_array();
		if (json_object_set_new(memory, key, own) < 0)
			return -1;
	}
	for (size_t k = 0; k < notes->n && notes->indexes[k] < size; k++) {
		while (json_array_size(own) < notes->n_before + k)
			if (json_array_append_new(own, json_null()) < 0)
				return -1;
		if (json_array_size(own) == notes->n_before + k &&
				json_array_append(own, json_array_get(list, notes->indexes[k])) < 0)
			return -1;
	}
	return 0;
}

static int merge_add_notes(json_t *memory, json_t *from)
{
	auto_free size_t *new = xcalloc(merge_count(from) + 1, sizeof(*new));
	struct new_notes notes = { merge_count(memory), new, 0 };
	const char *key;
	json_t *list;

	if (merge_find_new(memory, from, new, &notes.n) < 0)
		return -1;
	json_object_foreach(from, key, list) {
		if (merge_add_list(memory, key, list, &notes) < 0)
			return -1;
	}
	return 0;
}

int memory_merge(const struct memory_change *c, struct buf *out, struct fh_error *err)
{
	static const char what[] = "the merged memory";
	auto_json json_t *ours = NULL, *now = NULL;
	int r = merge_parse(c->ours, "the agent's memory", &ours, err);

	if (r < 0)
		return r;
	if (buf_equal(c->now, c->began)) {
		buf_add(out, buf_str(c->ours), c->ours->len);
		return 0;
	}
	r = merge_parse(c->now, "the kept memory", &now, err);
	if (r < 0)
		return r;
	if (merge_add_notes(now, ours) < 0)
		return merge_no_memory(err);
	/* Check the limits: the merged memory must be readable when the next episode ends. */
	r = merge_check_members(now, what, err);
	if (r < 0)
		return r;
	json_add(out, now, true);
	if (out->truncated)
		return error_say(err, EFBIG, "%s is larger than %zu bytes", what, out->cap);
	return merge_check_values(out, what, err);
}
