/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/csv/score.h"

#include "base/json_text.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Hash table with open addressing, from a row's id to its answer. Only ids of the trusted answers
 * are inserted. A submission's ids are only looked up, so no choice of ids can make lookups slow.
 */
struct matching {
	const struct csv *answers;
	uint32_t *slots; /* index of an answer plus 1; 0: an empty slot */
	size_t mask;
	/* index of the answer after the one found last. It is looked at first, because most
	 * submissions have the ids in the order of the answers. */
	size_t next;
	/* for each answer, the line of the submission with its prediction; 0: none found yet */
	size_t *taken;
};

static uint64_t matching_hash(const struct csv_field *field)
{
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < field->len; i++)
		hash = (hash ^ (unsigned char)field->text[i]) * 1099511628211U;
	return hash ^ hash >> 32;
}

static bool matching_equal(const struct csv_field *a, const struct csv_field *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* Returns the hash table's slot of a row id, or the empty slot where it would be inserted. */
static size_t matching_find_slot(const struct matching *m, const struct csv_field *id)
{
	size_t slot = matching_hash(id) & m->mask;

	while (m->slots[slot] && !matching_equal(&m->answers->rows[m->slots[slot] - 1].id, id))
		slot = (slot + 1) & m->mask;
	return slot;
}

static int matching_init(struct matching *m, const struct csv *answers, struct fh_error *err)
{
	size_t size = 16;

	while (size < 2 * answers->n)
		size *= 2;
	*m = (struct matching){
		.answers = answers,
		.mask = size - 1,
		.slots = xcalloc(size, sizeof(*m->slots)),
		.taken = xcalloc(answers->n, sizeof(*m->taken)),
	};
	for (size_t i = 0; i < answers->n; i++) {
		size_t slot = matching_find_slot(m, &answers->rows[i].id);

		if (m->slots[slot])
			return error_say(err, EBADMSG, "line %zu: an earlier line has the same id",
					answers->rows[i].line);
		m->slots[slot] = (uint32_t)i + 1;
	}
	return 0;
}

static void matching_release(struct matching *m)
{
	free(m->slots);
	free(m->taken);
}

/* Returns the index of the answer with an id plus 1; 0: there is none. */
static uint32_t matching_find(struct matching *m, const struct csv_field *id)
{
	uint32_t found = (uint32_t)m->next + 1;

	if (m->next == m->answers->n || !matching_equal(&m->answers->rows[m->next].id, id))
		found = m->slots[matching_find_slot(m, id)];
	m->next = found;
	return found;
}

static int matching_add_row(struct matching *m, const struct csv_row *row,
		const struct csv_columns *columns, struct scored_row *out, struct fh_error *err)
{
	uint32_t found = matching_find(m, &row->id);
	auto_buf struct buf id = BUF_INIT(256);

	if (found && !m->taken[found - 1] && row->target.len) {
		m->taken[found - 1] = row->line;
		*out = (struct scored_row){ .truth = m->answers->rows[found - 1].target,
			.prediction = row->target,
			.line = row->line,
			.answer = found - 1 };
		return 0;
	}
	csv_quote(&id, &row->id);
	if (!found)
		return error_say(err, EINVAL, "line %zu: %s %s is none of the ids to predict",
				row->line, columns->id, buf_str(&id));
	if (m->taken[found - 1])
		return error_say(err, EINVAL, "line %zu: %s %s is in line %zu too", row->line,
				columns->id, buf_str(&id), m->taken[found - 1]);
	return error_say(err, EINVAL, "line %zu: column %s is empty", row->line, columns->target);
}

/* Matches each prediction with the answer of the same id. `rows` needs room for as many rows as
 * there are answers: more predictions can't match. */
static int matching_rows(const struct csv *submission, const struct csv *answers,
		const struct csv_columns *columns, struct scored_row *rows, struct fh_error *err)
{
	__attribute__((cleanup(matching_release))) struct matching m;
	auto_buf struct buf id = BUF_INIT(256);
	size_t missing = 0;
	int r = matching_init(&m, answers, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < submission->n; i++) {
		r = matching_add_row(&m, &submission->rows[i], columns, &rows[i], err);
		if (r < 0)
			return r;
	}
	if (submission->n == answers->n)
		return 0;
	while (m.taken[missing])
		missing++;
	csv_quote(&id, &answers->rows[missing].id);
	return error_say(err, EINVAL, "%zu of %zu ids are missing, the first is %s %s",
			answers->n - submission->n, answers->n, columns->id, buf_str(&id));
}

/* Matches the first prediction with the first answer, and so on. `rows` needs room for as many rows
 * as there are answers. */
static int score_pair_rows(const struct csv *submission, const struct csv *answers,
		const struct csv_columns *columns, struct scored_row *rows, struct fh_error *err)
{
	for (size_t i = 0; i < submission->n; i++) {
		const struct csv_row *row = &submission->rows[i];

		if (i == answers->n)
			return error_say(err, EINVAL, "line %zu: more than the %zu rows to predict",
					row->line, answers->n);
		if (!row->target.len)
			return error_say(err, EINVAL, "line %zu: column %s is empty", row->line,
					columns->target);
		rows[i] = (struct scored_row){ .truth = answers->rows[i].target,
			.prediction = row->target,
			.line = row->line,
			.answer = i };
	}
	if (submission->n == answers->n)
		return 0;
	if (submission->blank)
		return error_say(err, EINVAL, "%zu of %zu rows are missing: line %zu is blank",
				answers->n - submission->n, answers->n, submission->blank);
	return error_say(err, EINVAL, "%zu of %zu rows are missing", answers->n - submission->n,
			answers->n);
}

/* Hash of the file of answers. Compute it before csv_read() changes their text. */
static uint64_t score_seed(const struct score_request *request)
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 hash;
	uint64_t seed;

	sha256_init(&hash);
	sha256_add(&hash, request->answers, request->answers_bytes);
	sha256_end(&hash, digest);
	memcpy(&seed, digest, sizeof(seed));
	return seed;
}

/*
 * Keeps only the rows of the half to score, in their order. Returns their number. Half of the n
 * answers are drawn at random. Predictions for them are scored at a `validate`, the others at the
 * end of the episode. The seed is a hash of the answers, so all machines draw the same halves.
 * Knowing the halves reveals no answer, so a cryptographic generator is not needed.
 */
static size_t score_keep_part(
		struct scored_row *rows, size_t n, enum score_part part, uint64_t seed)
{
	auto_free bool *drawn = xcalloc(n, sizeof(*drawn));
	size_t wanted = n / 2, kept = 0;

	for (size_t i = 0; i < n; i++) {
		drawn[i] = random_splitmix(&seed) % (n - i) < wanted;
		wanted -= drawn[i];
	}
	for (size_t i = 0; i < n; i++)
		if (drawn[rows[i].answer] == (part == PART_VALIDATE))
			rows[kept++] = rows[i];
	return kept;
}

/* Scores all rows to find bad predictions, then again only the rows that count. So a `validate`
 * reports bad predictions in all rows. */
static int score_rows(const struct score_request *request, struct scored_row *rows, size_t n,
		uint64_t seed, struct metric_values *out, struct fh_error *err)
{
	struct scored scored = { .rows = rows, .n = n, .column = request->columns.target };
	struct metric_values values = { .n = 0 };
	int r = metric_check_range(request->metric, &scored, &request->range, err);

	if (r < 0)
		return r;
	r = request->metric->score(&scored, &values, err);
	if (r < 0)
		return r;
	if (request->part == PART_ALL) {
		*out = values;
		return 0;
	}
	if (n < 2)
		return error_say(err, EBADMSG,
				"a single row can't be split into a part to validate and a final part");
	scored.n = score_keep_part(rows, n, request->part, seed);
	return request->metric->score(&scored, out, err);
}

int score_csv(const struct score_request *request, struct metric_values *out, struct fh_error *err)
{
	const struct csv_columns *columns = &request->columns;
	uint64_t seed = request->part == PART_ALL ? 0 : score_seed(request);
	__attribute__((cleanup(csv_release))) struct csv answers = { 0 }, submission = { 0 };
	auto_free struct scored_row *rows = NULL;
	int r = csv_read(request->answers, request->answers_bytes, columns, CSV_ROWS_MAX, &answers,
			err);

	if (r < 0) {
		if (err)
			err->code = -EBADMSG;
		return -EBADMSG;
	}
	if (!answers.n)
		return error_say(err, EBADMSG, "no row");
	/* Read one more row of the submission than there are answers: enough to report a
	 * superfluous row. */
	r = csv_read(request->submission, request->submission_bytes, columns, answers.n + 1,
			&submission, err);
	if (r < 0)
		return r;
	rows = xcalloc(answers.n, sizeof(*rows));
	r = columns->id ? matching_rows(&submission, &answers, columns, rows, err)
			: score_pair_rows(&submission, &answers, columns, rows, err);
	if (r < 0)
		return r;
	return score_rows(request, rows, answers.n, seed, out, err);
}

void score_print_values(struct buf *out, const struct metric_values *values)
{
	for (size_t i = 0; i < values->n; i++) {
		buf_printf(out, "%s\"%s\": ", i ? ", " : "{", values->values[i].name);
		str_add_double(out, values->values[i].value);
	}
	buf_add_str(out, "}\n");
}

void score_print_error(struct buf *out, const char *name, const struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(4 * FH_ERROR_MESSAGE_MAX);

	buf_printf(&text, "%s%s%s", name, str_starts(err->message, "line ") ? " " : ": ",
			err->message);
	buf_add_str(out, "{\"error\": ");
	json_text_add(out, buf_str(&text), text.len, JSON_TEXT_BYTES);
	buf_add_str(out, "}\n");
}
