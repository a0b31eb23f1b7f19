/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/normalise.h"

#include "base/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rules are small functions, not regular expressions of the C library, which read long runs of
 * digits again and again. The time must stay linear, and test_trajectory_normalise measures it:
 *
 * - A function returns the end of its match at `s`, or NULL. It does not go back, except for a
 *   choice between alternatives that differ in their first characters. It reads a run (digits,
 *   blanks) once.
 * - A rule begins only at the beginning of a word of its kind, so that no run is read twice.
 */
#define DIGITS "0123456789"
#define HEX DIGITS "abcdef"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define LETTERS UPPER LOWER
#define WORD LETTERS DIGITS "_"
#define ANY SIZE_MAX

/* --- parts ------------------------------------------------------------------------------------ */

static bool norm_is_in(char c, const char *set)
{
	return c && strchr(set, c);
}

static const char *norm_some(const char *s, const char *set, size_t least, size_t most)
{
	size_t n = 0;

	while (s && n < most && norm_is_in(s[n], set))
		n++;
	return s && n >= least ? s + n : NULL;
}

static const char *norm_other(const char *s, const char *set)
{
	size_t n = s ? strcspn(s, set) : 0;

	return n ? s + n : NULL;
}

/* Matches a shape such as "99:99", in which 9 stands for any digit. */
static const char *norm_like(const char *s, const char *shape)
{
	for (; s && *shape; s++, shape++)
		if (*shape == '9' ? !norm_is_in(*s, DIGITS) : *s != *shape)
			return NULL;
	return s;
}

/* Makes a part optional. `end` is the end of its match at s, or NULL. */
static const char *norm_maybe(const char *s, const char *end)
{
	return end ? end : s;
}

static const char *norm_either(const char *end, const char *other_end)
{
	return end ? end : other_end;
}

static const char *norm_first_of(const char *s, const char *const *words)
{
	const char *end = NULL;

	for (; s && *words && !end; words++)
		end = norm_like(s, *words);
	return end;
}

static const char *norm_line_end(const char *s)
{
	return s && !*s ? s : NULL;
}

/* --- dates and times -------------------------------------------------------------------------- */

/* Matches "+0100". */
static const char *norm_offset(const char *s)
{
	return norm_like(norm_some(s, "+-", 1, 1), "9999");
}

/* Matches " CET". */
static const char *norm_zone(const char *s)
{
	return norm_some(norm_like(s, " "), UPPER, 3, 5);
}

/* Matches " PM". */
static const char *norm_half_day(const char *s)
{
	return norm_like(norm_some(norm_like(s, " "), "AP", 1, 1), "M");
}

/* Matches "Sat, ". */
static const char *norm_weekday(const char *s)
{
	static const char *const names[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
		NULL };

	s = norm_first_of(s, names);
	return norm_some(norm_maybe(s, norm_like(s, ",")), " ", 1, ANY);
}

static const char *norm_month(const char *s)
{
	return norm_some(norm_some(s, UPPER, 1, 1), LOWER, 2, 2);
}

/* Matches "10:00". */
static const char *norm_minutes(const char *s)
{
	return norm_like(norm_some(s, DIGITS, 1, 2), ":99");
}

/* Matches "2026-11-21T10:00:01.5Z". */
static const char *norm_iso_date(const char *s)
{
	s = norm_like(s, "9999-99-99");
	s = norm_maybe(s, norm_some(norm_some(s, "T ", 1, 1), DIGITS ":.", 1, ANY));
	return norm_maybe(s, norm_either(norm_offset(s), norm_like(s, "Z")));
}

/* Matches "10:00", "10:00:01 PM CET 2026". */
static const char *norm_time_of_date(const char *s)
{
	const char *seconds;

	s = norm_minutes(s);
	seconds = norm_like(s, ":99");
	if (!seconds)
		return s;
	s = norm_maybe(seconds, norm_half_day(seconds));
	s = norm_maybe(s, norm_zone(s));
	return norm_maybe(s, norm_like(s, " 9999"));
}

/* Matches "Nov 21 10:00", "Nov 21  2025". */
static const char *norm_month_first(const char *s)
{
	s = norm_some(norm_month(s), " ", 1, ANY);
	s = norm_some(norm_some(s, DIGITS, 1, 2), " ", 1, ANY);
	return norm_either(norm_time_of_date(s), norm_like(s, "9999"));
}

static const char *norm_dated_month_first(const char *s)
{
	return norm_either(norm_month_first(norm_weekday(s)), norm_month_first(s));
}

/* Matches "21 Nov 2026 10:00:01 +0000". */
static const char *norm_day_first(const char *s)
{
	const char *time;

	s = norm_like(norm_month(norm_like(norm_some(s, DIGITS, 1, 2), " ")), " 9999");
	time = norm_like(s, " 99:99:99");
	return time ? norm_maybe(time,
				      norm_either(norm_offset(norm_like(time, " ")),
						      norm_zone(time)))
		    : s;
}

static const char *norm_dated_day_first(const char *s)
{
	return norm_either(norm_day_first(norm_weekday(s)), norm_day_first(s));
}

/* Matches "10:00:01.5 PM". */
static const char *norm_time_of_day(const char *s)
{
	s = norm_minutes(s);
	s = norm_maybe(s, norm_like(s, ":99"));
	s = norm_maybe(s, norm_some(norm_some(s, ".,", 1, 1), DIGITS, 1, ANY));
	return norm_maybe(s, norm_half_day(s));
}

/* --- durations -------------------------------------------------------------------------------- */

/* Matches "0m1.2s". */
static const char *norm_shell_time(const char *s)
{
	s = norm_like(norm_some(s, DIGITS, 1, ANY), "m");
	return norm_like(norm_some(s, DIGITS ".", 1, ANY), "s");
}

/* Matches "1.5 s". */
static const char *norm_duration(const char *s)
{
	/* A unit stands before any unit that is its prefix: "sec" before "s". */
	static const char *const units[] = { "seconds", "secs", "sec", "s/it", "s", "ms", "us",
		"minutes", "it/s" };
	const char *number = norm_some(s, DIGITS ".", 1, ANY);

	number = norm_maybe(number, norm_like(number, " "));
	for (size_t i = 0; number && i < ARRAY_SIZE(units); i++) {
		const char *end = norm_like(number, units[i]);

		if (end && !norm_is_in(*end, WORD))
			return end;
	}
	return NULL;
}

/* --- numbers of a machine --------------------------------------------------------------------- */

static const char *norm_hex_mark(const char *s)
{
	return norm_like(s, "0x");
}

static const char *norm_address(const char *s)
{
	return norm_some(s, HEX, 6, 16);
}

/* Matches "pid(s): ". */
static const char *norm_pid_word(const char *s)
{
	static const char *const words[] = { "id", "ID", NULL };

	s = norm_first_of(norm_some(s, "Pp", 1, 1), words);
	s = norm_maybe(s, norm_like(s, "s"));
	s = norm_maybe(s, norm_like(s, "(s)"));
	return norm_some(s, " =:", 1, ANY);
}

/* Matches "12, 13". */
static const char *norm_pids(const char *s)
{
	const char *end = norm_some(s, DIGITS, 1, ANY);

	while ((s = end) && (end = norm_some(norm_like(s, ", "), DIGITS, 1, ANY)))
		;
	return s;
}

/* Matches "[1] ". */
static const char *norm_job(const char *s)
{
	return norm_like(norm_some(norm_like(s, "["), DIGITS, 1, ANY), "] ");
}

static const char *norm_last_number(const char *s)
{
	return norm_line_end(norm_some(s, DIGITS, 1, ANY));
}

static const char *norm_line_word(const char *s)
{
	return norm_like(s, "line ");
}

static const char *norm_line_number(const char *s)
{
	return norm_like(norm_some(s, DIGITS, 1, ANY), ":");
}

/* Matches "drwxr-xr-x 2 a b ", the start of a folder in `ls -l`. */
static const char *norm_listed_folder(const char *s)
{
	s = norm_some(norm_like(s, "d"), "-rwxsStT", 9, 9);
	s = norm_some(norm_maybe(s, norm_some(s, ".+", 1, 1)), " ", 1, ANY);
	s = norm_some(norm_some(s, DIGITS, 1, ANY), " ", 1, ANY);
	s = norm_some(norm_other(s, " "), " ", 1, ANY);
	return norm_some(norm_other(s, " "), " ", 1, ANY);
}

static const char *norm_number(const char *s)
{
	return norm_some(s, DIGITS, 1, ANY);
}

static const char *norm_total_word(const char *s)
{
	return norm_like(s, "total ");
}

/* --- the rules -------------------------------------------------------------------------------- */

#define LINE_START NULL

/* All rules, in the order in which they are applied to a line. */
static const struct norm_rule {
	const char *firsts; /* characters with which a match may begin */
	/* characters that must not stand before a match; or LINE_START */
	const char *not_after;
	/* matches text before the replaced text, which stays; NULL: none */
	const char *(*keep)(const char *);
	const char *(*what)(const char *); /* matches the text to replace */
	const char *word;
} rules[] = {
	{ DIGITS, DIGITS, NULL, norm_iso_date, "<date>" },
	{ UPPER, LETTERS, NULL, norm_dated_month_first, "<date>" },
	{ DIGITS "MTWFS", LETTERS DIGITS, NULL, norm_dated_day_first, "<date>" },
	{ DIGITS, DIGITS ":", NULL, norm_time_of_day, "<time>" },
	{ DIGITS, DIGITS ".", NULL, norm_shell_time, "<duration>" },
	{ DIGITS ".", DIGITS "." LETTERS, NULL, norm_duration, "<duration>" },
	{ "0", "", norm_hex_mark, norm_address, "<address>" },
	{ "Pp", WORD, norm_pid_word, norm_pids, "<pid>" },
	{ "[", LINE_START, norm_job, norm_last_number, "<pid>" },
	{ "l", WORD, norm_line_word, norm_line_number, "<n>:" },
	{ "d", LINE_START, norm_listed_folder, norm_number, "<size>" },
	{ "t", LINE_START, norm_total_word, norm_last_number, "<size>" },
};

/* Applies a rule to a line, wherever a match may begin. Right after a replaced text a match may
 * always begin. */
static void norm_apply(const struct norm_rule *rule, const char *line, struct buf *out)
{
	const char *at = line, *done = line;

	while (*(at += strcspn(at, rule->firsts))) {
		bool begins = at == line ||
				(rule->not_after &&
						(at == done ||
								!norm_is_in(at[-1],
										rule->not_after)));
		const char *from = !begins ? NULL : rule->keep ? rule->keep(at) : at;
		const char *end = from ? rule->what(from) : NULL;

		if (!end) {
			at++;
			continue;
		}
		buf_add(out, done, (size_t)(from - done));
		buf_add_str(out, rule->word);
		at = done = end;
	}
	buf_add_str(out, done);
}

/* --- seconds since 1970 ----------------------------------------------------------------------- */

#define SECONDS_DIGITS 10 /* digits of a time from 2001 to 2286 */
#define NEAR_S (7 * 24 * 3600)

/* True if n digits are a time in seconds, ms, us or ns near at_s. `before` is the character before
 * the digits. */
static bool norm_is_time(const char *digits, size_t n, char before, int64_t at_s)
{
	char seconds[SECONDS_DIGITS + 1] = "";
	char after = digits[n];

	if (!at_s || n < SECONDS_DIGITS || n > SECONDS_DIGITS + 9 || (n - SECONDS_DIGITS) % 3)
		return false;
	if (before == '.' || isalnum((unsigned char)before) || isalnum((unsigned char)after))
		return false;
	memcpy(seconds, digits, SECONDS_DIGITS);
	return llabs(strtoll(seconds, NULL, 10) - at_s) <= NEAR_S;
}

static void norm_add_without_times(struct buf *out, const char *line, int64_t at_s)
{
	for (char before = '\0'; *line; before = line[-1]) {
		size_t n = strspn(line, DIGITS);

		if (!n) {
			buf_add_char(out, *line++);
			continue;
		}
		if (norm_is_time(line, n, before, at_s)) {
			buf_add_str(out, "<time>");
			if (line[n] == '.')
				n += 1 + strspn(line + n + 1, DIGITS);
		} else {
			buf_add(out, line, n);
		}
		line += n;
	}
}

/* ---------------------------------------------------------------------------------------------- */

/* Appends a normalised line. `now` and `next` are scratch buffers: the line before and after a
 * rule. */
static void norm_add_line(
		struct buf *out, const char *line, int64_t at_s, struct buf *now, struct buf *next)
{
	buf_clear(now);
	norm_add_without_times(now, line, at_s);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct buf before = *now;

		buf_clear(next);
		norm_apply(&rules[i], buf_str(now), next);
		next->truncated |= before.truncated;
		*now = *next;
		*next = before;
	}
	buf_add(out, buf_str(now), now->len);
	out->truncated |= now->truncated;
}

void normalise(struct buf *out, const char *text, int64_t at_s)
{
	auto_buf struct buf line = BUF_INIT(out->cap), now = BUF_INIT(out->cap),
			    next = BUF_INIT(out->cap);

	while (*text) {
		size_t n = strcspn(text, "\n");

		buf_clear(&line);
		buf_add(&line, text, n);
		norm_add_line(out, buf_str(&line), at_s, &now, &next);
		text += n;
		if (*text)
			buf_add_char(out, *text++);
	}
}
