/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser_text.h"

#include "agent/pytext.h"

#include <errno.h>
#include <string.h>

const char *parse_lines(struct arena *a, const char *text)
{
	char *out, *to;

	if (!strstr(text, "\r\n"))
		return text;
	to = out = arena_strdup(a, text);
	for (const char *from = text; *from; from++)
		if (from[0] != '\r' || from[1] != '\n')
			*to++ = *from;
	*to = '\0';
	return out;
}

static const char *parser_last_of(const char *text, const char *what)
{
	const char *last = NULL;

	while ((text = strstr(text, what)))
		last = text++;
	return last;
}

#define OPEN "<command>"
#define CLOSE "</command>"

bool parse_tags(struct arena *a, const char *text, struct parsed *out)
{
	const char *open = parser_last_of(text, OPEN), *close = parser_last_of(text, CLOSE);
	const char *begin = open ? open + strlen(OPEN) : NULL, *thought;

	if (!open || !close)
		return false;
	out->action = close > begin ? pytext_strip(a, begin, (size_t)(close - begin)) : "";
	thought = arena_printf(a, "%.*s%s", (int)(open - text), text, close + strlen(CLOSE));
	out->thought = pytext_strip(a, thought, strlen(thought));
	return true;
}

int parse_object(struct arena *a, const char *name, const char *text, const struct pyjson **out,
		struct fh_error *err)
{
	struct pyjson_source source = { .name = name, .data = text, .n = strlen(text) };
	int r = pyjson_read(a, &source, out, err);

	if (r < 0 || (*out)->kind == PYJSON_OBJECT)
		return r;
	return error_say(err, EINVAL, "%s: not an object", name);
}
