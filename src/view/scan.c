/* SPDX-License-Identifier: Apache-2.0 */
#include "view/scan.h"

#include <string.h>

void scan_init(struct scan *s, bool lines)
{
	*s = (struct scan){ .lines = lines, .begin = lines ? 0 : -1 };
}

static void scan_lines(struct scan *s, const char *data, size_t n, scan_take *take, void *user)
{
	const char *p = data, *end = data + n, *newline;

	while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
		int64_t at = s->at + (newline - data);

		take(user, SCAN_EVENT, s->begin, at);
		s->begin = at + 1;
		p = newline + 1;
	}
}

/* Gives the depth of the braces around a part of the current member, or 0 if it has no parts. */
static unsigned scan_depth(const struct scan *s, enum scan_part *out_part)
{
	static const struct {
		const char *key;
		enum scan_part part;
		unsigned depth;
	} parts[] = {
		{ "trajectory", SCAN_STEP, 2 },
		{ "history", SCAN_MESSAGE, 2 },
		{ "info", SCAN_INFO, 1 },
		{ "metrics", SCAN_INFO, 1 },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(s->key, parts[i].key) == 0) {
			*out_part = parts[i].part;
			return parts[i].depth;
		}
	}
	return 0;
}

/* Skips bytes of a string. Returns the first byte that was not skipped. */
static const char *scan_string(struct scan *s, const char *p, const char *end)
{
	while (p < end && s->in_string) {
		char c = *p++;

		if (s->escaped)
			s->escaped = false;
		else if (c == '\\')
			s->escaped = true;
		else if (c == '"')
			s->in_string = false;
		else if (s->in_key && s->key_len < sizeof(s->key))
			s->key[s->key_len++] = c;
	}
	if (!s->in_string && s->in_key) {
		s->in_key = false;
		s->key[s->key_len < sizeof(s->key) ? s->key_len : 0] = '\0';
	}
	return p;
}

static void scan_open(struct scan *s, char c, int64_t at)
{
	enum scan_part part = SCAN_EVENT;

	if (c == '{' && s->begin < 0 && s->has_value && s->depth &&
			scan_depth(s, &part) == s->depth) {
		s->begin = at;
		s->part = part;
		s->part_depth = s->depth;
	}
	s->depth++;
}

static void scan_close(struct scan *s, int64_t at, scan_take *take, void *user)
{
	if (s->depth)
		s->depth--;
	if (s->begin < 0 || s->depth > s->part_depth)
		return;
	take(user, s->part, s->begin, at + 1);
	s->begin = -1;
}

static void scan_object(struct scan *s, const char *data, size_t n, scan_take *take, void *user)
{
	const char *p = data, *end = data + n;

	while (p < end) {
		int64_t at = s->at + (p - data);

		if (s->in_string) {
			p = scan_string(s, p, end);
			continue;
		}
		switch (*p++) {
		case '"':
			s->in_string = true;
			s->in_key = s->depth == 1 && !s->has_value;
			if (s->in_key)
				s->key_len = 0;
			break;
		case ':':
			s->has_value |= s->depth == 1;
			break;
		case ',':
			if (s->depth == 1)
				s->has_value = false;
			break;
		case '{':
		case '[':
			scan_open(s, p[-1], at);
			break;
		case '}':
		case ']':
			scan_close(s, at, take, user);
			break;
		default:
			break;
		}
	}
}

void scan_bytes(struct scan *s, const char *data, size_t n, scan_take *take, void *user)
{
	if (s->lines)
		scan_lines(s, data, n, take, user);
	else
		scan_object(s, data, n, take, user);
	s->at += (int64_t)n;
}

bool scan_is_whole(const struct scan *s)
{
	return !s->depth && !s->in_string && s->at > 0;
}
