/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet_values.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Values as the cells of a table. */
#define TEXT_SHOWN_MAX 1024
#define DAY_S 86400LL
#define JULIAN_1970 2440588

static int64_t power_of_ten(int digits)
{
	int64_t v = 1;

	while (digits-- > 0)
		v *= 10;
	return v;
}

/* The Gregorian calendar, whose years begin in March here, so that a leap day is the last one (Howard Hinnant,
 * chrono-Compatible Low-Level Date Algorithms, 2013). */
static void add_date(struct buf *out, int64_t days)
{
	int64_t shifted = days + 719468;
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	int64_t day = shifted - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;

	buf_printf(out, "%04" PRId64 "-%02" PRId64 "-%02" PRId64, year + era * 400 + (month >= 10),
			month < 10 ? month + 3 : month - 9, of_year - (153 * month + 2) / 5 + 1);
}

/* Of a day; a fraction where there is one. */
static void add_clock(struct buf *out, int64_t units, int digits)
{
	int64_t each = power_of_ten(digits), seconds = units / each;

	buf_printf(out, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600, seconds / 60 % 60,
			seconds % 60);
	if (units % each == 0)
		return;
	buf_printf(out, ".%0*" PRId64, digits, units % each);
	while (out->data[out->len - 1] == '0')
		out->len--;
	out->data[out->len] = '\0';
}

static void add_timestamp(struct buf *out, int64_t units, int digits)
{
	int64_t day = DAY_S * power_of_ten(digits), rest = units % day;

	add_date(out, units / day - (rest < 0));
	buf_add_char(out, ' ');
	add_clock(out, rest < 0 ? rest + day : rest, digits);
}

/* Nanoseconds of a day, and the day. */
static void add_int96(struct buf *out, const unsigned char *at)
{
	int64_t nanoseconds;
	int32_t day;

	memcpy(&nanoseconds, at, 8);
	memcpy(&day, at + 8, 4);
	add_date(out, (int64_t)day - JULIAN_1970);
	buf_add_char(out, ' ');
	add_clock(out, nanoseconds < 0 ? 0 : nanoseconds, 9);
}

static void add_decimal(struct buf *out, __int128 v, int digits)
{
	unsigned __int128 left = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	char text[64];
	size_t at = sizeof(text);

	for (int n = 0; left || n <= digits; n++, left /= 10) {
		if (n && n == digits)
			text[--at] = '.';
		text[--at] = (char)('0' + (int)(left % 10));
	}
	if (v < 0)
		text[--at] = '-';
	buf_add(out, text + at, sizeof(text) - at);
}

static void add_hex(struct buf *out, const unsigned char *at, size_t n)
{
	for (size_t i = 0; i < n && !out->truncated; i++)
		buf_printf(out, "%02x", at[i]);
}

/* Two's complement, the highest byte first. */
static void add_long_decimal(struct buf *out, const struct parquet_value *v, int digits)
{
	unsigned __int128 whole = v->n && v->bytes[0] & 0x80 ? ~(unsigned __int128)0 : 0;

	if (v->n > sizeof(whole)) {
		add_hex(out, v->bytes, v->n);
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		whole = whole << 8 | v->bytes[i];
	add_decimal(out, (__int128)whole, digits);
}

/* A NUL would hide what follows it. */
static void add_bytes(struct buf *out, const struct parquet_value *v)
{
	buf_add(out, v->bytes, v->n < TEXT_SHOWN_MAX ? v->n : TEXT_SHOWN_MAX);
	for (size_t i = 0; i < out->len; i++)
		if (!out->data[i])
			out->data[i] = ' ';
}

/* It is only read again, so that its digits need not be the fewest; that it has a point tells that it is no
 * integer. */
static bool add_number(struct buf *out, double v)
{
	if (isnan(v))
		return false;
	buf_printf(out, "%.17g", v);
	if (!strpbrk(buf_str(out), ".en"))
		buf_add_str(out, ".0");
	return true;
}

/* IEEE 754's binary16: a sign, 5 bits of exponent, 10 of fraction. */
static double half_of(const unsigned char *at)
{
	int exponent = at[1] >> 2 & 31, fraction = (at[1] & 3) << 8 | at[0];
	double v = exponent == 31  ? (fraction ? NAN : INFINITY)
			: exponent ? ldexp(1024 + fraction, exponent - 25)
				   : ldexp(fraction, -24);

	return at[1] & 0x80 ? -v : v;
}

static void add_integer(struct buf *out, const struct parquet_column *c, int64_t v)
{
	switch (c->kind) {
	case PARQUET_DATE:
		add_date(out, v);
		break;
	case PARQUET_TIME:
		add_clock(out, v < 0 ? 0 : v, c->digits);
		break;
	case PARQUET_TIMESTAMP:
		add_timestamp(out, v, c->digits);
		break;
	case PARQUET_DECIMAL:
		add_decimal(out, v, c->digits);
		break;
	case PARQUET_UNSIGNED:
		buf_printf(out, "%" PRIu64,
				c->type == PARQUET_INT32 ? (uint64_t)(uint32_t)v : (uint64_t)v);
		break;
	case PARQUET_PLAIN:
	case PARQUET_TEXT:
	case PARQUET_HALF:
	case PARQUET_UUID:
		buf_printf(out, "%" PRId64, v);
	}
}

bool parquet_text(const struct parquet_column *c, const struct parquet_value *v, struct buf *out)
{
	buf_clear(out);
	switch ((enum parquet_type)c->type) {
	case PARQUET_BOOLEAN:
		buf_add_str(out, v->i ? "true" : "false");
		break;
	case PARQUET_INT32:
	case PARQUET_INT64:
		add_integer(out, c, v->i);
		break;
	case PARQUET_INT96:
		add_int96(out, v->bytes);
		break;
	case PARQUET_FLOAT:
	case PARQUET_DOUBLE:
		return add_number(out, v->d);
	case PARQUET_BYTES:
	case PARQUET_FIXED:
		if (c->kind == PARQUET_HALF)
			return add_number(out, half_of(v->bytes));
		if (c->kind == PARQUET_DECIMAL)
			add_long_decimal(out, v, c->digits);
		else if (c->kind == PARQUET_UUID)
			add_hex(out, v->bytes, v->n);
		else
			add_bytes(out, v);
		break;
	case PARQUET_TYPE_N:
		break;
	}
	return true;
}

/* --- columns ------------------------------------------------------------------------------------- */

bool parquet_is_text(const struct parquet_column *c)
{
	return (c->type == PARQUET_BYTES || c->type == PARQUET_FIXED) &&
			c->kind != PARQUET_DECIMAL && c->kind != PARQUET_HALF;
}

const char *parquet_type_name(const struct parquet_column *c)
{
	static const char *const types[PARQUET_TYPE_N] = {
		[PARQUET_BOOLEAN] = "boolean",
		[PARQUET_INT32] = "integer",
		[PARQUET_INT64] = "integer",
		[PARQUET_INT96] = "date",
		[PARQUET_FLOAT] = "number",
		[PARQUET_DOUBLE] = "number",
		[PARQUET_BYTES] = "text",
		[PARQUET_FIXED] = "text",
	};

	switch (c->kind) {
	case PARQUET_DATE:
	case PARQUET_TIMESTAMP:
		return "date";
	case PARQUET_DECIMAL:
	case PARQUET_HALF:
		return "number";
	case PARQUET_TIME:
		return "text";
	case PARQUET_PLAIN:
	case PARQUET_TEXT:
	case PARQUET_UNSIGNED:
	case PARQUET_UUID:
		break;
	}
	return types[c->type];
}
