/* SPDX-License-Identifier: Apache-2.0 */
#include "env/memory_merge.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>

/*
 * Notes are lists side by side: note i has the text texts[i], the tag tags[i], and so on. All of it is an agent's
 * word; what is not so is kept as it is or not at all. It is a few lists of notes, and no more values than its bytes
 * have room for as embeddings: what one of either takes here is many times what it takes in the file.
 */
#define TEXTS "texts"
#define TAGS "tags"
#define MEMBERS_MAX 16
#define VALUES_MAX (1 << 18)

static int no_memory(struct fh_error *err)
{
	return error_say(err, ENOMEM, "there is no memory to read it with");
}

/* --- what is one ------------------------------------------------------------------------------ */

/* Each value but the first follows one of these. */
static size_t count_values(const struct buf *text)
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
	return n;
}

static int check_values(const struct buf *text, const char *what, struct fh_error *err)
{
	if (count_values(text) > VALUES_MAX)
		return error_say(err, EINVAL, "%s has more than %d values", what, VALUES_MAX);
	return 0;
}

static int check_members(const json_t *memory, const char *what, struct fh_error *err)
{
	if (json_object_size(memory) > MEMBERS_MAX)
		return error_say(err, EINVAL, "%s has more than %d members", what, MEMBERS_MAX);
	return 0;
}

/* As memory_write takes it; an empty file is one in which nothing is noted. */
static int read_memory(const struct buf *text, const char *what, json_t **out, struct fh_error *err)
{
	static const char *const lists[] = { TEXTS, TAGS };
	auto_json json_t *memory = NULL;

	if (check_values(text, what, err) < 0)
		return -EINVAL;
	if (text->len && json_parse(what, text->data, text->len, &memory, err) < 0)
		return -EINVAL;
	if (!memory)
		memory = json_object();
	if (!memory)
		return no_memory(err);
	if (!json_is_object(memory))
		return error_say(err, EINVAL, "%s is no JSON object", what);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list = json_object_get(memory, lists[i]);

		if (list && !json_is_array(list))
			return error_say(err, EINVAL, "'%s' of %s is no list", lists[i], what);
	}
	if (check_members(memory, what, err) < 0)
		return -EINVAL;
	*out = take_ptr(memory);
	return 0;
}

int memory_check(const struct buf *text, const char *what, struct fh_error *err)
{
	auto_json json_t *memory = NULL;

	return read_memory(text, what, &memory, err);
}

/* --- notes ------------------------------------------------------------------------------------ */

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

/* The numbers of `from`'s notes that `memory` does not have; -1: no memory. */
static int find_new(const json_t *memory, const json_t *from, size_t *new, size_t *out_n)
{
	auto_json json_t *there = json_object();
	size_t n = 0;

	for (size_t i = 0; i < count(memory); i++) {
		auto_free char *note = note_at(memory, i);

		if (json_object_set_new(there, note, json_true()) < 0)
			return -1;
	}
	for (size_t i = 0; i < count(from); i++) {
		auto_free char *note = note_at(from, i);

		if (!json_object_get(there, note))
			new[n++] = i;
	}
	*out_n = n;
	return 0;
}

/* A list that is shorter than there are notes before gets nulls first, so that all stay side by side. */
static int put_at(json_t *list, size_t at, json_t *value)
{
	size_t n = json_array_size(list);

	for (; n < at; n++)
		if (json_array_append_new(list, json_null()) < 0)
			return -1;
	return n == at ? json_array_append(list, value) : 0;
}

struct new_notes {
	size_t n_before;
	const size_t *numbers;
	size_t n;
};

static int add_list(
		json_t *memory, const char *key, const json_t *list, const struct new_notes *notes)
{
	size_t size = json_array_size(list); /* 0 of what is none */
	json_t *own = json_object_get(memory, key);

	if (!notes->n || notes->numbers[0] >= size || (own && !json_is_array(own)))
		return 0;
	if (!own) {
		own = json_array();
		if (json_object_set_new(memory, key, own) < 0)
			return -1;
	}
	for (size_t k = 0; k < notes->n && notes->numbers[k] < size; k++)
		if (put_at(own, notes->n_before + k, json_array_get(list, notes->numbers[k])) < 0)
			return -1;
	return 0;
}

static int add_notes(json_t *memory, json_t *from)
{
	auto_free size_t *new = xcalloc(count(from) + 1, sizeof(*new));
	struct new_notes notes = { count(memory), new, 0 };
	const char *key;
	json_t *list;

	if (find_new(memory, from, new, &notes.n) < 0)
		return -1;
	json_object_foreach(from, key, list) {
		if (add_list(memory, key, list, &notes) < 0)
			return -1;
	}
	return 0;
}

/* What is kept can be read when the next episode ends. */
static int write_memory(json_t *memory, struct buf *out, struct fh_error *err)
{
	static const char what[] = "with what was noted meanwhile it";

	if (check_members(memory, what, err) < 0)
		return -EINVAL;
	json_add(out, memory, true);
	if (out->truncated)
		return error_say(err, EFBIG, "%s is larger than %zu bytes", what, out->cap);
	return check_values(out, what, err);
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
	if (add_notes(now, ours) < 0)
		return no_memory(err);
	return write_memory(now, out, err);
}
