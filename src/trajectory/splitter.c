/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/splitter.h"

#include <string.h>

void splitter_init(struct splitter *s, bool lines)
{
	*s = (struct splitter){ .lines = lines, .begin = lines ? 0 : -1 };
}

static void splitter_lines(
		struct splitter *s, const char *data, size_t n, splitter_take *take, void *user)
{
	const char *p = data, *end = data + n, *newline;

	while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
		int64_t at = s->at + (newline - data);

		take(user, PART_EVENT, s->begin, at);
		s->begin = at + 1;
		p = newline + 1;
	}
}

/* Gives the depth of the braces around a part of the current member, or 0 if it has no parts. */
static unsigned splitter_depth(const struct splitter *s, enum record_part *out_part)
{
	static const struct {
		const char *key;
		enum record_part part;
		unsigned depth;
	} parts[] = {
		{ "trajectory", PART_STEP, 2 },
		{ "history", PART_MESSAGE, 2 },
		{ "info", PART_INFO, 1 },
		{ "metrics", PART_INFO, 1 },
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
static const char *splitter_string(struct splitter *s, const char *p, const char *end)
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

static void splitter_open(struct splitter *s, char c, int64_t at)
{
	enum record_part part = PART_EVENT;

	if (c == '{' && s->begin < 0 && s->has_value && s->depth &&
			splitter_depth(s, &part) == s->depth) {
		s->begin = at;
		s->part = part;
		s->part_depth = s->depth;
	}
	s->depth++;
}

static void splitter_close(struct splitter *s, int64_t at, splitter_take *take, void *user)
{
	if (s->depth)
		s->depth--;
	if (s->begin < 0 || s->depth > s->part_depth)
		return;
	take(user, s->part, s->begin, at + 1);
	s->begin = -1;
}

static void splitter_object(
		struct splitter *s, const char *data, size_t n, splitter_take *take, void *user)
{
	const char *p = data, *end = data + n;

	while (p < end) {
		int64_t at = s->at + (p - data);

		if (s->in_string) {
			p = splitter_string(s, p, end);
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
			splitter_open(s, p[-1], at);
			break;
		case '}':
		case ']':
			splitter_close(s, at, take, user);
			break;
		default:
			break;
		}
	}
}

void splitter_bytes(struct splitter *s, const char *data, size_t n, splitter_take *take, void *user)
{
	if (s->lines)
		splitter_lines(s, data, n, take, user);
	else
		splitter_object(s, data, n, take, user);
	s->at += (int64_t)n;
}

bool splitter_is_whole(const struct splitter *s)
{
	return !s->depth && !s->in_string && s->at > 0;
}
