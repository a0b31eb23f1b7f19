/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/normalise.h"

#include "base/scope.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * Patterns of our own, not regular expressions of the C library, which read long runs of digits
 * again and again. The time must stay linear, and test_trajectory_normalise measures it:
 *
 * - A pattern takes as much as it can, and never goes back. Only a choice between alternatives
 *   reads its text again: the first alternative that matches counts.
 * - A rule begins only at the beginning of a word of its kind, so that no run is read twice.
 *
 *   9           any digit
 *   [a-z_]      a character of a set; [^ ] a character that is not in the set
 *   (ab|c)      a choice
 *   ? * + {m,n} how many times the character, set or choice before it comes
 *   !           no letter, digit or underscore follows
 *   $           the line ends
 *   \           the next character stands for itself; all other characters do so anyway
 */

#define NORMALISE_DIGITS "0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LETTERS UPPER "abcdefghijklmnopqrstuvwxyz"
#define WORD LETTERS NORMALISE_DIGITS "_"

/* --- patterns --------------------------------------------------------------------------------- */

static bool normalise_is_in(char c, const char *set)
{
	return c && strchr(set, c);
}

/* Returns true if c is in a set like [a-z] of a pattern. `set` is the text after "[" and `end` the
 * "]". */
static bool normalise_is_in_set(char c, const char *set, const char *end)
{
	bool excluded = *set == '^', found = false;

	for (set += excluded; set < end; set++) {
		if (set + 2 < end && set[1] == '-') {
			found = found || (c >= set[0] && c <= set[2]);
			set += 2;
		} else {
			found = found || c == *set;
		}
	}
	return c && found != excluded;
}

/*
 * Functions that match a part of a pattern with the text at s. They return the end of the match, or
 * NULL. They move *pattern behind that part, even without a match. If s is NULL, nothing matches.
 */
static const char *normalise_choice(const char **pattern, const char *s);

/* Matches a single character, set or choice of a pattern once. */
static const char *normalise_atom(const char **pattern, const char *s)
{
	const char *p = (*pattern)++;
	bool matches = false;

	switch (*p) {
	case '(':
		return normalise_choice(pattern, s);
	case '[':
		*pattern = strchr(p, ']') + 1;
		return s && normalise_is_in_set(*s, p + 1, *pattern - 1) ? s + 1 : NULL;
	case '!':
		return s && !normalise_is_in(*s, WORD) ? s : NULL;
	case '$':
		return s && !*s ? s : NULL;
	case '9':
		matches = s && *s >= '0' && *s <= '9';
		break;
	case '\\':
		p = (*pattern)++;
		/* fall through */
	default:
		matches = s && *s == *p;
	}
	return matches ? s + 1 : NULL;
}

/* Matches a character, set or choice of a pattern as often as possible, within the limits that
 * follow it. */
static const char *normalise_repeated(const char **pattern, const char *s)
{
	const char *atom = *pattern, *next = normalise_atom(pattern, s);
	size_t least = 1, most = 1, n = 0;
	char *end;

	if (**pattern == '{') {
		least = strtoul(*pattern + 1, &end, 10);
		most = strtoul(end + 1, &end, 10);
		*pattern = end + 1;
	} else if (normalise_is_in(**pattern, "?*+")) {
		least = **pattern == '+';
		most = *(*pattern)++ == '?' ? 1 : SIZE_MAX;
	}
	while (next && n < most) {
		const char *again = atom;

		s = next;
		next = ++n < most ? normalise_atom(&again, s) : NULL;
	}
	return n < least ? NULL : s;
}

/* Matches the first alternative of a choice that fits. The choice ends with ")" or at the pattern's
 * end. */
static const char *normalise_choice(const char **pattern, const char *s)
{
	const char *found = NULL, *at = s;

	while (**pattern && **pattern != ')') {
		if (**pattern == '|') {
			(*pattern)++;
			found = found ? found : at;
			at = s;
		} else {
			at = normalise_repeated(pattern, found ? NULL : at);
		}
	}
	*pattern += **pattern == ')';
	return found ? found : at;
}

static const char *normalise_match(const char *pattern, const char *s)
{
	return normalise_choice(&pattern, s);
}

/* --- the rules -------------------------------------------------------------------------------- */

#define LINE_START NULL
#define MONTH "[A-Z][a-z][a-z]"
#define ZONE " [A-Z]{3,5}"
#define HALF_DAY "( [AP]M)?"
#define WEEKDAY "(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +"
/* Matches dates like "Nov 21 10:00:01 PM CET 2026", "Nov 21 10:00", "Nov 21  2025". */
#define MONTH_FIRST MONTH " +99? +(99?:99(:99" HALF_DAY "(" ZONE ")?( 9999)?)?|9999)"
/* Matches dates like "21 Nov 2026 10:00:01 +0000". */
#define DAY_FIRST "99? " MONTH " 9999( 99:99:99( [-+]9999|" ZONE ")?)?"

/* All rules for parts of a line that differ in every run, in the order in which they are
 * applied. */
static const struct norm_rule {
	const char *firsts; /* characters with which a match of the rule may begin */
	/*
	 * Characters that must not come just before a match. LINE_START: a match must be at the
	 * line's start.
	 */
	const char *not_after;
	const char *keep; /* pattern of text before the replaced text, which stays unchanged */
	const char *what; /* pattern of the text that is replaced */
	const char *word;
} rules[] = {
	{ NORMALISE_DIGITS, NORMALISE_DIGITS, "", "9999-99-99([T ][0-9:.]+)?([-+]9999|Z)?",
			"<date>" },
	{ UPPER, LETTERS, "", WEEKDAY MONTH_FIRST "|" MONTH_FIRST, "<date>" },
	{ NORMALISE_DIGITS "MTWFS", LETTERS NORMALISE_DIGITS, "", WEEKDAY DAY_FIRST "|" DAY_FIRST,
			"<date>" },
	{ NORMALISE_DIGITS, NORMALISE_DIGITS ":", "", "99?:99(:99)?([.,]9+)?" HALF_DAY, "<time>" },
	/* matches durations like "0m1.2s" */
	{ NORMALISE_DIGITS, NORMALISE_DIGITS ".", "", "9+m[0-9.]+s", "<duration>" },
	/* List longer units before units with which they begin: "sec" before "s". */
	{ NORMALISE_DIGITS ".", NORMALISE_DIGITS "." LETTERS, "",
			"[0-9.]+ ?(seconds|secs|sec|s/it!|s|ms|us|minutes|it/s)!", "<duration>" },
	{ "0", "", "0x", "[0-9a-f]{6,16}", "<address>" },
	{ "Pp", WORD, "[Pp](id|ID)s?(\\(s\\))?[ =:]+", "9+(, 9+)*", "<pid>" },
	{ "[", LINE_START, "\\[9+] ", "9+$", "<pid>" },
	{ "l", WORD, "line ", "9+:", "<n>:" },
	/* Matches the size of a folder in `ls -l`. The pattern of the text before it matches
	 * "drwxr-xr-x 2 a b ". */
	{ "d", LINE_START, "d[-rwxsStT]{9,9}[.+]? +9+ +[^ ]+ +[^ ]+ +", "9+", "<size>" },
	{ "t", LINE_START, "total ", "9+$", "<size>" },
};

/* Applies a rule that replaces varying parts to a line, wherever a match may begin. A match may
 * always begin right after a replaced text. */
static void normalise_apply(const struct norm_rule *rule, const char *line, struct buf *out)
{
	const char *at = line, *done = line;

	while (*(at += strcspn(at, rule->firsts))) {
		bool begins = at == line ||
				(rule->not_after &&
						(at == done ||
								!normalise_is_in(at[-1],
										rule->not_after)));
		const char *from = begins ? normalise_match(rule->keep, at) : NULL;
		const char *end = from ? normalise_match(rule->what, from) : NULL;

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

/* --- numbers that are a time in seconds since 1970 -------------------------------------------- */

#define SECONDS_DIGITS 10 /* number of digits of the seconds since 1970, from 2001 to 2286 */
#define NEAR_S (7 * 24 * 3600)

/* Returns true if n digits are a time near at_s, in seconds, ms, us or ns since 1970. `before` is
 * the character before the digits. */
static bool normalise_is_time(const char *digits, size_t n, char before, int64_t at_s)
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

static void normalise_add_without_times(struct buf *out, const char *line, int64_t at_s)
{
	for (char before = '\0'; *line; before = line[-1]) {
		size_t n = strspn(line, NORMALISE_DIGITS);

		if (!n) {
			buf_add_char(out, *line++);
			continue;
		}
		if (normalise_is_time(line, n, before, at_s)) {
			buf_add_str(out, "<time>");
			if (line[n] == '.')
				n += 1 + strspn(line + n + 1, NORMALISE_DIGITS);
		} else {
			buf_add(out, line, n);
		}
		line += n;
	}
}

/* ---------------------------------------------------------------------------------------------- */

/* Appends a line with its varying parts replaced (normalised). `now` and `next` are buffers for the
 * line before and after each rule. */
static void normalise_add_line(
		struct buf *out, const char *line, int64_t at_s, struct buf *now, struct buf *next)
{
	buf_clear(now);
	normalise_add_without_times(now, line, at_s);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct buf before = *now;

		buf_clear(next);
		normalise_apply(&rules[i], buf_str(now), next);
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
		normalise_add_line(out, buf_str(&line), at_s, &now, &next);
		text += n;
		if (*text)
			buf_add_char(out, *text++);
	}
}
