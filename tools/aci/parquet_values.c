/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_values.h"

#include "base/mem.h"
#include "base/scope.h"

#include <string.h>

/* https://github.com/apache/parquet-format/blob/master/Encodings.md. The file's own byte order is ours: little. */
#define TEXT_BYTES_MAX (64 << 20)

static const size_t widths[PARQUET_TYPE_N] = {
	[PARQUET_INT32] = 4,
	[PARQUET_INT64] = 8,
	[PARQUET_INT96] = 12,
	[PARQUET_FLOAT] = 4,
	[PARQUET_DOUBLE] = 8,
};

/* 0 where it differs from value to value. */
static size_t width_of(const struct parquet_column *c)
{
	return c->type == PARQUET_FIXED ? c->width : widths[c->type];
}

static void from_bytes(
		const struct parquet_column *c, const unsigned char *at, struct parquet_value *out)
{
	int32_t i;
	float f;

	*out = (struct parquet_value){ .bytes = at, .n = width_of(c) };
	if (c->type == PARQUET_INT32) {
		memcpy(&i, at, sizeof(i));
		out->i = i;
	} else if (c->type == PARQUET_INT64) {
		memcpy(&out->i, at, sizeof(out->i));
	} else if (c->type == PARQUET_FLOAT) {
		memcpy(&f, at, sizeof(f));
		out->d = f;
	} else if (c->type == PARQUET_DOUBLE) {
		memcpy(&out->d, at, sizeof(out->d));
	}
}

static bool take(struct parquet_values *v, uint64_t n, const unsigned char **out)
{
	if (n > (uint64_t)(v->end - v->at))
		return false;
	*out = v->at;
	v->at += n;
	return true;
}

/* Four bytes that tell how many follow. */
static bool take_counted(struct parquet_values *v, const unsigned char **out, uint32_t *out_n)
{
	const unsigned char *count;

	if (!take(v, 4, &count))
		return false;
	memcpy(out_n, count, 4);
	return take(v, *out_n, out);
}

/* --- PLAIN -------------------------------------------------------------------------------------- */

static bool next_fixed(struct parquet_values *v, struct parquet_value *out)
{
	const unsigned char *at;

	if (!take(v, width_of(v->column), &at))
		return false;
	from_bytes(v->column, at, out);
	return true;
}

static bool next_bytes(struct parquet_values *v, struct parquet_value *out)
{
	uint32_t n;

	*out = (struct parquet_value){ 0 };
	if (!take_counted(v, &out->bytes, &n))
		return false;
	out->n = n;
	return true;
}

static bool next_bit(struct parquet_values *v, struct parquet_value *out)
{
	size_t byte = v->i / 8;

	if (byte >= (size_t)(v->end - v->at))
		return false;
	*out = (struct parquet_value){ .i = v->at[byte] >> v->i % 8 & 1 };
	v->i++;
	return true;
}

static bool start_plain(struct parquet_values *v)
{
	v->next = v->column->type == PARQUET_BOOLEAN       ? next_bit
			: v->column->type == PARQUET_BYTES ? next_bytes
							   : next_fixed;
	return true;
}

/* --- runs ----------------------------------------------------------------------------------------- */

static bool next_of_dictionary(struct parquet_values *v, struct parquet_value *out)
{
	uint32_t i;

	if (!runs_next(&v->runs, &i) || i >= v->dictionary->n)
		return false;
	*out = v->dictionary->values[i];
	return true;
}

/* The first byte tells of how many bits the rest is. */
static bool start_dictionary(struct parquet_values *v)
{
	const unsigned char *width;

	v->next = next_of_dictionary;
	if (v->at == v->end) /* all are missing */
		return true;
	if (!take(v, 1, &width) || *width > 32)
		return false;
	runs_start(&v->runs, v->at, (size_t)(v->end - v->at), *width);
	return true;
}

static bool next_run_bit(struct parquet_values *v, struct parquet_value *out)
{
	uint32_t bit;

	if (!runs_next(&v->runs, &bit))
		return false;
	*out = (struct parquet_value){ .i = bit };
	return true;
}

static bool start_runs(struct parquet_values *v)
{
	const unsigned char *at;
	uint32_t n;

	v->next = next_run_bit;
	if (v->column->type != PARQUET_BOOLEAN || !take_counted(v, &at, &n))
		return false;
	runs_start(&v->runs, at, n, 1);
	return true;
}

/* --- differences ---------------------------------------------------------------------------------- */

static bool next_delta(struct parquet_values *v, struct parquet_value *out)
{
	*out = (struct parquet_value){ 0 };
	if (!deltas_next(&v->deltas, &out->i))
		return false;
	if (v->column->type == PARQUET_INT32)
		out->i = (int32_t)out->i;
	return true;
}

static bool start_deltas(struct parquet_values *v)
{
	v->next = next_delta;
	return (v->column->type == PARQUET_INT32 || v->column->type == PARQUET_INT64) &&
			deltas_start(&v->deltas, v->at, (size_t)(v->end - v->at));
}

/* Numbers at v->at, which goes to what follows them. */
static bool start_lengths(struct parquet_values *v, struct deltas *out)
{
	struct deltas once;

	if (!deltas_start(out, v->at, (size_t)(v->end - v->at)))
		return false;
	once = *out;
	if (!deltas_skip(&once))
		return false;
	v->at = once.r.at;
	return true;
}

static bool next_with_length(struct parquet_values *v, struct parquet_value *out)
{
	int64_t n;

	*out = (struct parquet_value){ 0 };
	if (!deltas_next(&v->deltas, &n) || n < 0 || !take(v, (uint64_t)n, &out->bytes))
		return false;
	out->n = (size_t)n;
	return true;
}

static bool start_with_lengths(struct parquet_values *v)
{
	v->next = next_with_length;
	return v->column->type == PARQUET_BYTES && start_lengths(v, &v->deltas);
}

static bool next_with_prefix(struct parquet_values *v, struct parquet_value *out)
{
	const unsigned char *rest;
	int64_t same, n;

	if (!deltas_next(&v->deltas, &same) || !deltas_next(&v->suffixes, &n) || n < 0 ||
			same < 0 || (uint64_t)same > v->text.len || !take(v, (uint64_t)n, &rest))
		return false;
	v->text.len = (size_t)same;
	buf_add(&v->text, rest, (size_t)n);
	*out = (struct parquet_value){ .bytes = (const unsigned char *)buf_str(&v->text),
		.n = v->text.len };
	/* Of the fixed ones what a type needs must be there. */
	if (v->text.truncated || (v->column->type == PARQUET_FIXED && out->n != v->column->width))
		return false;
	return true;
}

static bool start_with_prefixes(struct parquet_values *v)
{
	v->next = next_with_prefix;
	return (v->column->type == PARQUET_BYTES || v->column->type == PARQUET_FIXED) &&
			start_lengths(v, &v->deltas) && start_lengths(v, &v->suffixes);
}

/* --- BYTE_STREAM_SPLIT: the first bytes of all, then the second ones of all ... -------------------- */

static bool next_split(struct parquet_values *v, struct parquet_value *out)
{
	size_t width = width_of(v->column);

	if (v->i == v->n)
		return false;
	for (size_t k = 0; k < width; k++)
		v->scratch[k] = v->at[k * v->n + v->i];
	v->i++;
	from_bytes(v->column, v->scratch, out);
	return true;
}

static bool start_split(struct parquet_values *v)
{
	size_t width = width_of(v->column), n = (size_t)(v->end - v->at);

	if (!width || width > sizeof(v->scratch) || n % width != 0)
		return false;
	v->next = next_split;
	v->n = n / width;
	return true;
}

/* -------------------------------------------------------------------------------------------------- */

/* By the numbers of parquet.thrift; 4 is for levels only. */
static bool (*const starts[])(struct parquet_values *v) = {
	[0] = start_plain,
	[2] = start_dictionary,
	[3] = start_runs,
	[5] = start_deltas,
	[6] = start_with_lengths,
	[7] = start_with_prefixes,
	[8] = start_dictionary,
	[9] = start_split,
};

bool parquet_values_start(struct parquet_values *v, const struct parquet_column *column,
		const struct parquet_dictionary *dictionary, int encoding, const unsigned char *at,
		size_t n)
{
	*v = (struct parquet_values){ .column = column,
		.dictionary = dictionary,
		.at = at,
		.end = at + n,
		.text = BUF_INIT(TEXT_BYTES_MAX) };
	return encoding >= 0 && (size_t)encoding < ARRAY_SIZE(starts) && starts[encoding] &&
			starts[encoding](v);
}

void parquet_values_release(struct parquet_values *v)
{
	buf_release(&v->text);
}

bool parquet_values_next(struct parquet_values *v, struct parquet_value *out)
{
	return v->next(v, out);
}
