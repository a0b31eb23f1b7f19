/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * memory_write, memory_read: notes of an agent, in a file with MLGym's keys. The keys are texts,
 * tags, and embeddings, which stay empty. Words are compared in lower case. BM25 finds the notes
 * nearest to a query (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
 */

#define MEMORY_FILE GUEST_HOME "/" GUEST_MEMORY
#define MEMORY_TEXT_BYTES_MAX 65536
#define SHOWN 2
#define K1 1.2
#define B 0.75

/* --- the file --------------------------------------------------------------------------------- */

static json_t *memory_member(json_t *memory, const char *key)
{
	json_t *list = json_object_get(memory, key);

	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(memory, key, list);
	}
	return list;
}

/* Puts a value at index `at` of a list. Pads or cuts the list first: other programs may have
 * changed the file. */
static void memory_append(json_t *memory, const char *key, json_t *value, size_t at)
{
	json_t *list = memory_member(memory, key);

	while (json_array_size(list) > at)
		json_array_remove(list, at);
	while (json_array_size(list) < at)
		json_array_append_new(list, str_eq(key, "tags") ? json_text("") : json_array());
	json_array_append_new(list, value);
}

/*
 * Reads the file of the agent's notes. Returns an empty object if there is no file. Returns NULL
 * if the file can't be used, and prints a sentence.
 */
static json_t *memory_load(void)
{
	auto_buf struct buf text = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	struct fh_error err;
	json_t *memory = NULL;
	int r = fd_read_file(MEMORY_FILE, &text, &err);

	if (r == -ENOENT)
		return json_object();
	if (r < 0) {
		puts(err.message);
		return NULL;
	}
	if (!text.len)
		return json_object();
	if (json_parse(MEMORY_FILE, buf_str(&text), text.len, &memory, &err) < 0) {
		puts(err.message);
		return NULL;
	}
	if (json_is_object(memory))
		return memory;
	json_decref(memory);
	printf("%s holds no JSON object.\n", MEMORY_FILE);
	return NULL;
}

static const char *memory_text(json_t *list, size_t i)
{
	const char *text = json_string_value(json_array_get(list, i));

	return text ? text : "";
}

static int memory_run_write(int argc, char **argv)
{
	auto_json json_t *memory = NULL;
	auto_buf struct buf out = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	struct fh_error err;
	size_t at;

	if (argc < 2 || argc > 3 || !*argv[1])
		return aci_usage(&aci_memory_write, NULL);
	if (strlen(argv[1]) > MEMORY_TEXT_BYTES_MAX ||
			(argc > 2 && strlen(argv[2]) > MEMORY_TEXT_BYTES_MAX)) {
		printf("A note, and its tag, have at most %d bytes.\n", MEMORY_TEXT_BYTES_MAX);
		return 1;
	}
	memory = memory_load();
	if (!memory)
		return 1;
	at = json_array_size(memory_member(memory, "texts"));
	memory_append(memory, "texts", json_text(argv[1]), at);
	memory_append(memory, "embeddings", json_array(), at);
	memory_append(memory, "tags", json_text(argc > 2 ? argv[2] : ""), at);
	json_add(&out, memory, true);
	if (out.truncated) {
		puts("The memory is full.");
		return 1;
	}
	if (fd_write_file(MEMORY_FILE, buf_str(&out), out.len, 0644, &err) < 0) {
		puts(err.message);
		return 1;
	}
	at = json_array_size(memory_member(memory, "texts"));
	printf(at == 1 ? "Noted; there is 1 note.\n" : "Noted; there are %zu notes.\n", at);
	return 0;
}

/* --- search ----------------------------------------------------------------------------------- */

/* True for characters of words: letters, digits and all bytes outside of ASCII. */
static bool memory_is_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static size_t memory_next_word(const char **at, const char **out)
{
	const char *s = *at;
	size_t n = 0;

	while (*s && !memory_is_word(*s))
		s++;
	while (s[n] && memory_is_word(s[n]))
		n++;
	*out = s;
	*at = s + n;
	return n;
}

/* Counts how often a word occurs in a text. If `word` is NULL, counts all words. */
static size_t memory_count(const char *text, const char *word, size_t length)
{
	const char *at = text, *w;
	size_t n, found = 0;

	while ((n = memory_next_word(&at, &w)))
		found += !word || (n == length && strncasecmp(w, word, n) == 0);
	return found;
}

struct note {
	char *text; /* the note's text and its tag */
	size_t index, words;
	double score;
};

static void memory_score_word(
		struct note *notes, size_t n, const char *word, size_t length, double mean)
{
	size_t with = 0;
	double idf;

	for (size_t i = 0; i < n; i++)
		with += memory_count(notes[i].text, word, length) > 0;
	idf = log(1 + ((double)n - (double)with + 0.5) / ((double)with + 0.5));
	for (size_t i = 0; i < n; i++) {
		double f = (double)memory_count(notes[i].text, word, length);
		double norm = K1 * (1 - B + B * (double)notes[i].words / mean);

		notes[i].score += idf * f * (K1 + 1) / (f + norm);
	}
}

/* Order of notes: by score, the best first, then by time, the latest first. */
static int memory_by_score(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->index < y->index ? 1 : -1;
}

/* Makes a heap array of all notes, the best first. */
static struct note *memory_make_notes(json_t *memory, size_t n, const char *query)
{
	struct note *notes = xcalloc(n, sizeof(*notes));
	const char *at = query, *word;
	double sum = 0;
	size_t length;

	for (size_t i = 0; i < n; i++) {
		notes[i].text = xasprintf("%s %s", memory_text(memory_member(memory, "texts"), i),
				memory_text(memory_member(memory, "tags"), i));
		notes[i].words = memory_count(notes[i].text, NULL, 0);
		notes[i].index = i;
		sum += (double)notes[i].words;
	}
	while ((length = memory_next_word(&at, &word)))
		memory_score_word(notes, n, word, length, sum > 0 ? sum / (double)n : 1);
	qsort(notes, n, sizeof(*notes), memory_by_score);
	return notes;
}

/* Prints the best notes. If a note contains a word of the query, notes without any are left out. */
static void memory_show(json_t *memory, const struct note *notes, size_t n)
{
	bool found = notes[0].score > 0;

	if (!found)
		puts("No note has a word of that. The latest:");
	for (size_t i = 0; i < n && i < SHOWN && (notes[i].score > 0 || !found); i++) {
		const char *tag = memory_text(memory_member(memory, "tags"), notes[i].index);

		printf("%zu. %s%s%s%s (score %.2f)\n", i + 1,
				memory_text(memory_member(memory, "texts"), notes[i].index),
				*tag ? " [" : "", tag, *tag ? "]" : "", notes[i].score);
	}
}

static int memory_run_read(int argc, char **argv)
{
	auto_json json_t *memory = NULL;
	struct note *notes;
	size_t n;

	if (argc != 2 || !*argv[1])
		return aci_usage(&aci_memory_read, NULL);
	memory = memory_load();
	if (!memory)
		return 1;
	n = json_array_size(memory_member(memory, "texts"));
	if (!n) {
		puts("Nothing is noted yet: memory_write does it.");
		return 1;
	}
	notes = memory_make_notes(memory, n, argv[1]);
	memory_show(memory, notes, n);
	for (size_t i = 0; i < n; i++)
		free(notes[i].text);
	free(notes);
	return 0;
}

const struct aci_command aci_memory_write = { "memory_write", "memory_write <content_str> [<tag>]",
	memory_run_write };
const struct aci_command aci_memory_read = { "memory_read", "memory_read <query_str>",
	memory_run_read };
