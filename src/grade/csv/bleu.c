/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/csv/metrics.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Corpus BLEU (Papineni et al., 2002) with n-grams of 1 to 4 tokens, without smoothing. For each n,
 * matches are summed over all rows before they are divided. A candidate's n-gram counts at most as
 * often as it occurs in any one reference. Candidates that are shorter than the nearest reference
 * get a penalty.
 *
 * White space separates tokens, Unicode's too, as in Python. N-grams are sorted, not hashed: the
 * result is exact, and no text makes it slow.
 */

#define ORDER_MAX 4
#define REFERENCE_SEPARATOR "|||"

/* A word of a CSV row. A row has several texts: text 0 is the prediction to rate, and later texts
 * are its reference translations. */
struct token {
	struct csv_field word;
	uint32_t id;   /* number of the word: equal words of a row have equal ids */
	uint32_t text; /* index of the text that contains the word */
};

struct ngram {
	uint32_t ids[ORDER_MAX];
	uint32_t text;
};

struct row_tokens {
	struct token *tokens; /* words of all texts of the row, in the order of the texts */
	size_t n, room;
	uint32_t n_texts;
};

/* Sums for the BLEU score over all CSV rows that were read so far. */
struct bleu {
	uint64_t matched[ORDER_MAX], total[ORDER_MAX];
	uint64_t candidate_len, reference_len;
};

/* Returns the bytes of the white-space character at `at`, as Python's str.isspace() defines it. 0:
 * `at` points to no white space. */
static size_t bleu_space_length(const char *at, const char *end)
{
	size_t length = 1;

	if ((unsigned char)*at < 0x80)
		return str_is_space((unsigned char)*at) ? 1 : 0;
	if (!str_utf8_length(at, (size_t)(end - at)))
		return 0;
	return str_is_space(str_utf8_decode(at, &length)) ? length : 0;
}

static void bleu_add_token(struct row_tokens *t, struct csv_field word, uint32_t text)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->tokens = xrealloc(t->tokens, t->room, sizeof(*t->tokens));
	}
	t->tokens[t->n++] = (struct token){ .word = word, .text = text };
}

/* Splits a CSV field into texts and adds the words of each. The field's first text gets the number
 * `text`. Returns the number of its last text. */
static uint32_t bleu_add_tokens(
		struct row_tokens *t, const struct csv_field *field, uint32_t text, bool separated)
{
	const char *at = field->text;
	const char *end = field->text + field->len;

	for (;;) {
		struct csv_field word;
		size_t space;

		while (at < end && (space = bleu_space_length(at, end)))
			at += space;
		if (at == end)
			return text;
		word.text = at;
		while (at < end && !bleu_space_length(at, end))
			at++;
		word.len = (size_t)(at - word.text);
		if (separated && word.len == strlen(REFERENCE_SEPARATOR) &&
				memcmp(word.text, REFERENCE_SEPARATOR, word.len) == 0)
			text++;
		else
			bleu_add_token(t, word, text);
	}
}

static int bleu_compare_words(const void *a, const void *b)
{
	const struct csv_field *x = &(*(struct token *const *)a)->word;
	const struct csv_field *y = &(*(struct token *const *)b)->word;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Gives equal words of a CSV row equal ids. */
static void bleu_number_words(struct row_tokens *t)
{
	auto_free struct token **sorted = xcalloc(t->n, sizeof(struct token *));

	for (size_t i = 0; i < t->n; i++)
		sorted[i] = &t->tokens[i];
	qsort(sorted, t->n, sizeof(struct token *), bleu_compare_words);
	for (size_t i = 1; i < t->n; i++)
		sorted[i]->id = sorted[i - 1]->id +
				(bleu_compare_words(&sorted[i - 1], &sorted[i]) != 0);
}

static int ngram_compare_ids(const struct ngram *x, const struct ngram *y)
{
	for (size_t i = 0; i < ORDER_MAX; i++) {
		if (x->ids[i] != y->ids[i])
			return x->ids[i] < y->ids[i] ? -1 : 1;
	}
	return 0;
}

static int ngram_compare(const void *a, const void *b)
{
	const struct ngram *x = a;
	const struct ngram *y = b;
	int order = ngram_compare_ids(x, y);

	return order ? order : (x->text > y->text) - (x->text < y->text);
}

/* Collects the n-grams of length `order` (sequences of words), sorted. An n-gram does not cross the
 * end of a text. *out is a heap array; returns its length. */
static size_t bleu_collect_ngrams(const struct row_tokens *t, size_t order, struct ngram **out)
{
	struct ngram *ngrams = xcalloc(t->n + 1, sizeof(*ngrams));
	size_t n = 0;

	for (size_t i = 0; i + order <= t->n; i++) {
		if (t->tokens[i].text != t->tokens[i + order - 1].text)
			continue;
		for (size_t k = 0; k < order; k++)
			ngrams[n].ids[k] = t->tokens[i + k].id;
		ngrams[n++].text = t->tokens[i].text;
	}
	qsort(ngrams, n, sizeof(*ngrams), ngram_compare);
	*out = ngrams;
	return n;
}

static void bleu_count_order(struct bleu *b, const struct row_tokens *t, size_t order)
{
	auto_free struct ngram *ngrams = NULL;
	size_t n = bleu_collect_ngrams(t, order, &ngrams);

	for (size_t i = 0; i < n;) {
		const struct ngram *first = &ngrams[i];
		uint64_t candidate = 0, reference = 0;

		/* The n-grams are sorted: equal ones lie together, first by words, then by text. */
		while (i < n && ngram_compare_ids(first, &ngrams[i]) == 0) {
			uint32_t text = ngrams[i].text;
			uint64_t count = 0;

			for (; i < n && ngram_compare_ids(first, &ngrams[i]) == 0 &&
					ngrams[i].text == text;
					i++)
				count++;
			if (text == 0)
				candidate = count;
			else if (count > reference)
				reference = count;
		}
		b->total[order - 1] += candidate;
		b->matched[order - 1] += candidate < reference ? candidate : reference;
	}
}

/* Adds the candidate's length to a sum, and the length of the nearest reference to another. If two
 * references are equally near, takes the shorter. */
static void bleu_count_lengths(struct bleu *b, const struct row_tokens *t)
{
	uint64_t candidate = 0, best = 0;
	size_t i = 0;

	for (; i < t->n && t->tokens[i].text == 0; i++)
		candidate++;
	for (uint32_t text = 1; text < t->n_texts; text++) {
		uint64_t len = 0;
		uint64_t off, best_off;

		for (; i < t->n && t->tokens[i].text == text; i++)
			len++;
		off = len > candidate ? len - candidate : candidate - len;
		best_off = best > candidate ? best - candidate : candidate - best;
		if (text == 1 || off < best_off || (off == best_off && len < best))
			best = len;
	}
	b->candidate_len += candidate;
	b->reference_len += best;
}

static void bleu_add_row(struct bleu *b, const struct scored_row *row, struct row_tokens *t)
{
	t->n = 0;
	bleu_add_tokens(t, &row->prediction, 0, false);
	t->n_texts = bleu_add_tokens(t, &row->truth, 1, true) + 1;
	bleu_count_lengths(b, t);
	if (!t->n)
		return;
	bleu_number_words(t);
	for (size_t order = 1; order <= ORDER_MAX; order++)
		bleu_count_order(b, t, order);
}

static double bleu_score(const struct bleu *b)
{
	long double logs = 0, penalty = 1;

	for (size_t i = 0; i < ORDER_MAX; i++) {
		if (!b->matched[i])
			return 0;
		logs += logl((long double)b->matched[i] / b->total[i]) / ORDER_MAX;
	}
	if (b->candidate_len < b->reference_len)
		penalty = expl(1 - (long double)b->reference_len / b->candidate_len);
	return (double)(penalty * expl(logs));
}

/* Fails if a prediction is not UTF-8. Other encodings and broken characters match no reference. */
static int bleu_check(const struct scored *s, struct fh_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct csv_field *text = &s->rows[i].prediction;
		auto_buf struct buf shown = BUF_INIT(256);

		if (str_utf8_invalid(text->text, text->len) < 0)
			continue;
		csv_quote(&shown, text);
		return error_say(err, EINVAL,
				"line %zu: %s is not valid UTF-8: write the file in this encoding (column %s)",
				s->rows[i].line, buf_str(&shown), s->column);
	}
	return 0;
}

int metric_bleu(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	struct row_tokens tokens = { .tokens = NULL };
	struct bleu sums = { .candidate_len = 0 };
	int r = bleu_check(s, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++)
		bleu_add_row(&sums, &s->rows[i], &tokens);
	free(tokens.tokens);
	out->values[out->n++] = (struct metric_value){ .name = "bleu", .value = bleu_score(&sums) };
	return 0;
}
