/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/compare.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIGITS "0123456789"
#define TEXT_BYTES_MAX (64L * 1024 * 1024)

const char *const compare_verdicts[] = { [COMPARE_EQUAL] = "equal",
	[COMPARE_NORMALISED] = "normalised",
	[COMPARE_DIFFERENT] = "different" };

#define WEEKDAY "((Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +)?"

/* Of a line, one after the other. The first group of a pattern, if it has one, stays in front. */
static struct rule {
	const char *pattern, *word;
	regex_t regex;
	bool compiled;
} rules[] = {
	{ "(^|[^0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+)?([+-][0-9]{4}|Z)?", "<date>" },
	{ "(^|[^A-Za-z])" WEEKDAY "[A-Z][a-z]{2} +[0-9]{1,2} "
	  "+([0-9]{1,2}:[0-9]{2}(:[0-9]{2}( [AP]M)?( [A-Z]{3,5})?( [0-9]{4})?)?|[0-9]{4})",
			"<date>" },
	{ "(^|[^A-Za-z0-9])" WEEKDAY "[0-9]{1,2} [A-Z][a-z]{2} [0-9]{4}"
	  "( [0-9]{2}:[0-9]{2}:[0-9]{2}( [+-][0-9]{4}| [A-Z]{3,5})?)?",
			"<date>" },
	{ "(^|[^0-9:])[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?([.,][0-9]+)?( [AP]M)?", "<time>" },
	{ "(^|[^0-9.])[0-9]+m[0-9.]+s", "<duration>" },
	{ "(^|[^0-9.A-Za-z])[0-9.]+ ?(ms|us|s|sec|secs|seconds|minutes|it/s|s/it)\\>",
			"<duration>" },
	{ "(0x)[0-9a-f]{6,16}", "<address>" },
	{ "(\\<[Pp](id|ID)s?(\\(s\\))?[ =:]+)[0-9]+(, [0-9]+)*", "<pid>" },
	{ "(^\\[[0-9]+\\] )[0-9]+$", "<pid>" },
	{ "(\\<line )[0-9]+:", "<n>:" },
	{ "(^d[-rwxsStT]{9}[.+]? +[0-9]+ [^ ]+ +[^ ]+ +)[0-9]+", "<size>" },
	{ "(^total )[0-9]+$", "<size>" },
};

static regex_t *compiled(struct rule *rule)
{
	if (!rule->compiled && regcomp(&rule->regex, rule->pattern, REG_EXTENDED) != 0)
		abort();
	rule->compiled = true;
	return &rule->regex;
}

static void apply(struct rule *rule, const char *line, struct buf *out)
{
	regmatch_t m[2];

	while (*line && regexec(compiled(rule), line, 2, m, 0) == 0 && m[0].rm_eo > 0) {
		buf_add(out, line, (size_t)m[1].rm_eo);
		buf_add_str(out, rule->word);
		line += m[0].rm_eo;
	}
	buf_add_str(out, line);
}

/* --- seconds since 1970 ---------------------------------------------------------------------------------- */

#define SECONDS_DIGITS 10 /* from 2001 to 2286 */
#define NEAR_S (7 * 24 * 3600)

/* Whether n digits are a time near that one; `before` and `after` stand beside them. */
static bool is_time(const char *digits, size_t n, char before, int64_t at_s)
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

static void add_without_times(struct buf *out, const char *line, int64_t at_s)
{
	for (char before = '\0'; *line; before = line[-1]) {
		size_t n = strspn(line, DIGITS);

		if (!n) {
			buf_add_char(out, *line++);
			continue;
		}
		if (is_time(line, n, before, at_s)) {
			buf_add_str(out, "<time>");
			if (line[n] == '.')
				n += 1 + strspn(line + n + 1, DIGITS);
		} else {
			buf_add(out, line, n);
		}
		line += n;
	}
}

int64_t compare_time(const char *text)
{
	struct tm utc = { 0 };

	return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) ? timegm(&utc) : 0;
}

/* --- texts ------------------------------------------------------------------------------------------------ */

static void normalise_line(struct buf *out, const char *line, int64_t at_s)
{
	auto_buf struct buf without = BUF_INIT(TEXT_BYTES_MAX);
	auto_free char *text = NULL;

	add_without_times(&without, line, at_s);
	text = xstrdup(buf_str(&without));

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		auto_buf struct buf next = BUF_INIT(TEXT_BYTES_MAX);

		apply(&rules[i], text, &next);
		free(text);
		text = xstrdup(buf_str(&next));
	}
	buf_add_str(out, text);
}

void compare_normalise(struct buf *out, struct compare_text t)
{
	const char *text = t.text;

	while (*text) {
		size_t n = strcspn(text, "\n");
		auto_free char *line = xasprintf("%.*s", (int)n, text);

		normalise_line(out, line, t.at_s);
		text += n;
		if (*text)
			buf_add_char(out, *text++);
	}
}

enum compare_verdict compare_texts(struct compare_text recorded, struct compare_text now)
{
	auto_buf struct buf a = BUF_INIT(TEXT_BYTES_MAX), b = BUF_INIT(TEXT_BYTES_MAX);

	if (str_eq(recorded.text, now.text))
		return COMPARE_EQUAL;
	compare_normalise(&a, recorded);
	compare_normalise(&b, now);
	return str_eq(buf_str(&a), buf_str(&b)) ? COMPARE_NORMALISED : COMPARE_DIFFERENT;
}

/* --- differences ------------------------------------------------------------------------------------- */

static size_t line_length(const char *s)
{
	size_t n = strcspn(s, "\n");

	return n + (s[n] == '\n');
}

/* From the end: how many bytes of whole lines are equal. */
static size_t common_end(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t n = 0, whole = 0;

	while (n < n_a && n < n_b && a[n_a - n - 1] == b[n_b - n - 1]) {
		n++;
		if (n == n_a || n == n_b || a[n_a - n - 1] == '\n')
			whole = n;
	}
	return whole;
}

static size_t add_lines(struct buf *out, const char *mark, const char *text, size_t n, size_t most)
{
	size_t lines = 0;

	for (const char *end = text + n; text < end && lines < most; lines++) {
		size_t length = line_length(text);

		buf_printf(out, "%s%.*s\n", mark, (int)strcspn(text, "\n"), text);
		text += length;
	}
	return lines;
}

void compare_diff(
		struct buf *out, struct compare_text recorded, struct compare_text now, size_t most)
{
	auto_buf struct buf a = BUF_INIT(TEXT_BYTES_MAX), b = BUF_INIT(TEXT_BYTES_MAX);
	const char *x, *y;
	size_t n_x, n_y, end;

	compare_normalise(&a, recorded);
	compare_normalise(&b, now);
	x = buf_str(&a);
	y = buf_str(&b);
	while (*x && line_length(x) == line_length(y) && strncmp(x, y, line_length(x)) == 0) {
		size_t n = line_length(x);

		x += n;
		y += n;
	}
	n_x = strlen(x);
	n_y = strlen(y);
	end = common_end(x, n_x, y, n_y);
	most -= add_lines(out, "- ", x, n_x - end, most / 2);
	add_lines(out, "+ ", y, n_y - end, most);
}
